"""Days and moments as people write them: `29 Nov 2026`. Pure."""

import re
from datetime import UTC, date, datetime

from shared.calendar_periods import MONTH_NAMES

_MONTHS = tuple(name[:3] for name in MONTH_NAMES)
_DAY = re.compile(r"(?<![0-9-])([0-9]{4}-[0-9]{2}-[0-9]{2})(?: to ([0-9]{4}-[0-9]{2}-[0-9]{2}))?(?![0-9-])", re.ASCII)
_MONTH = re.compile(r"(?<![0-9-])([0-9]{4})-(0[1-9]|1[0-2])(?![0-9-])", re.ASCII)


def day_text(day: date | str) -> str:
    """Return a day: `29 Nov 2026`. Text that is no day of ISO 8601 stays as it is."""
    known = iso_day(day)
    return f"{known.day} {_MONTHS[known.month - 1]} {known.year}" if known else str(day)


def range_text(first: date | str, last: date | str) -> str:
    """Return a range of days, without repeating a month or year that both ends have: `15 to 24 Jul 2026`."""
    begins, ends = iso_day(first), iso_day(last)
    if begins is None or ends is None or begins == ends:
        return day_text(first) if first == last else f"{day_text(first)} to {day_text(last)}"
    if (begins.year, begins.month) == (ends.year, ends.month):
        return f"{begins.day} to {day_text(ends)}"
    if begins.year == ends.year:
        return f"{begins.day} {_MONTHS[begins.month - 1]} to {day_text(ends)}"
    return f"{day_text(begins)} to {day_text(ends)}"


def moment_text(moment: datetime | str, *, seconds: bool = False) -> str:
    """Return a moment in UTC, which a script shows in the reader's own zone: `29 Nov 2026, 13:05 UTC`."""
    known = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    known = known.astimezone(UTC) if known.tzinfo else known
    return (
        f"{day_text(known.date())}, {known:%H:%M:%S} UTC" if seconds else f"{day_text(known.date())}, {known:%H:%M} UTC"
    )


def with_days(text: str, mark: str = "{}") -> str:
    """Return a text with its days and months of ISO 8601 as people write them; `mark` is put around each day."""

    def days(match: re.Match[str]) -> str:
        first, last = match[1], match[2] or match[1]
        return mark.format(range_text(first, last)) if iso_day(first) and iso_day(last) else match[0]

    return _MONTH.sub(lambda match: f"{_MONTHS[int(match[2]) - 1]} {match[1]}", _DAY.sub(days, text))


def iso_day(day: date | str) -> date | None:
    """Return a day, also one written as ISO 8601 has it; None for any other text."""
    if isinstance(day, date):
        return day
    try:
        return date.fromisoformat(day)
    except ValueError:
        return None
