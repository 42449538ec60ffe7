"""A claimed job, and its fields in spans and log lines, so that a request's trace continues in the workers."""

from dataclasses import dataclass

from shared.telemetry.spans import Attributes
from shared.telemetry.trace_context import step_from


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A claimed row of `jobs`. Only writes that carry its `attempt` still count."""

    id: str
    kind: str
    parameters: dict[str, object]
    data_version: int
    attempt: int
    format: str
    organization: str | None = None
    traceparent: str | None = None


def span_attributes(job: ClaimedJob, state: str | None) -> Attributes:
    """Return the attributes of a job's span: its ids, its attempt, and the state it reached."""
    return {
        "messaging.system": "postgresql",
        "itemindex.job": job.id,
        "itemindex.kind": job.kind,
        "itemindex.attempt": job.attempt,
        "itemindex.organization": job.organization,
        "itemindex.state": state or "lost",
    }


def trace_fields(traceparent: str | None) -> dict[str, str]:
    """Return the field of a log line about a job that has a trace."""
    return {"trace_id": step_from(traceparent).trace_id} if traceparent else {}
