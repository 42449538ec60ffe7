"""How the sync tier goes on with a request's trace: what its lines carry, and the spans of its jobs."""

from functools import lru_cache
from typing import Any

from shared.config import Settings
from shared.telemetry.log import Log
from shared.telemetry.spans import Attributes, Spans
from shared.telemetry.trace_context import step_from


@lru_cache(maxsize=1)
def spans_of(settings: Settings) -> Spans:
    """Return the spans of this process."""
    return Spans(settings, "worker")


@lru_cache(maxsize=1)
def log_of(settings: Settings) -> Log:
    """Return the log of this worker process; LOG_LEVEL decides which lines it writes."""
    return Log("worker", level=settings.log_level)


def attributes(job: dict[str, Any], state: str | None) -> Attributes:
    """Return what a job's span tells: which job, whose, which attempt, and how it ended."""
    return {
        "messaging.system": "postgresql",
        "itemindex.job": job["id"],
        "itemindex.kind": job["kind"],
        "itemindex.attempt": job["attempt"],
        "itemindex.organization": job["organization"],
        "itemindex.state": state or "lost",
    }


def traced(traceparent: str | None) -> dict[str, str]:
    """Return the field of a log line about a job that has a trace."""
    return {"trace_id": step_from(traceparent).trace_id} if traceparent else {}
