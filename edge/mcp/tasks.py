"""Jobs as tasks of the MCP extension `io.modelcontextprotocol/tasks`: a report that takes longer is one. Pure."""

from collections.abc import Mapping
from typing import Any

POLL_MS = 2_000
# An expired job has ended: its result is an error that says so.
_STATUS = {
    "queued": "working",
    "running": "working",
    "succeeded": "completed",
    "failed": "completed",
    "expired": "completed",
    "cancelled": "cancelled",
}


def task_of(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job's document as a task. It stays as long as the job, so `ttlMs` names no end."""
    changed = job["finished_at"] or job["started_at"] or job["created_at"]
    progress = job["progress"]
    return {
        "taskId": job["id"],
        "status": _STATUS[job["state"]],
        "statusMessage": f"{progress['stage']}, {progress['fraction']:.0%}",
        "createdAt": job["created_at"],
        "lastUpdatedAt": changed,
        "ttlMs": None,
        "pollIntervalMs": POLL_MS,
    }
