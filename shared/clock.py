"""The one owner of wall-clock time in Python. Tests replace it; nothing else calls datetime.now()."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta

Clock = Callable[[], datetime]
Rfc3339 = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""A moment as answers write it."""


def utc_now() -> datetime:
    """Return the present moment, in UTC."""
    return datetime.now(UTC)


def rfc3339(moment: datetime) -> Rfc3339:
    """Write a moment as RFC 3339 in UTC with milliseconds and `Z`, as every `ts` of the contract."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
