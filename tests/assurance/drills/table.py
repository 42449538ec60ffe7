"""The table of the guide, as a run of the drill of outages has seen it. Pure."""

from collections.abc import Iterator

from tests.assurance.drills.probes import Seen

BEGIN, END = "<!-- outages -->\n", "<!-- /outages -->\n"
_HEAD = ("What fails", "What callers saw", "Slowest", "Jobs", "Free plan", "Anonymous", "Plan of 25 a day")
_REMARKS = ("jobs", "quota", "anonymous quota", "quota of a small plan")
_AS_EVER = "what they always see"


def markdown(found: list[Seen], seconds: float, day: str) -> str:
    """Return the table of a run: a row for each fault, what was answered otherwise than usual, and what was kept.

    `day` names the run, so that a reader knows how old the table is.
    """
    lines = [
        f"Seen on {day} by `python -m tests.assurance.drills outages --seconds {seconds:g} --markdown`, which writes this table.",
        "",
        _row(_HEAD),
        _row(("---",) * len(_HEAD)),
        *(_row(_cells(fault, [seen for seen in found if seen.fault == fault])) for fault in _faults(found)),
    ]
    return "\n".join(lines) + "\n"


def unusual(seen: Seen) -> str | None:
    """Return a caller and all statuses it saw, where one of them is not its usual one; a status 0 is no answer."""
    if set(seen.statuses) <= seen.usual:
        return None
    statuses = "/".join(str(status or "no answer") for status in sorted(seen.statuses))
    return f"{seen.call} {statuses}" + ("" if seen.kept else " (BROKEN)")


def _faults(found: list[Seen]) -> Iterator[str]:
    return iter(dict.fromkeys(seen.fault for seen in found))


def _cells(fault: str, seen: list[Seen]) -> tuple[str, ...]:
    by_call = {one.call: one for one in seen}
    others = [text for text in map(unusual, seen) if text is not None]
    slowest = max(one.slowest_seconds for one in seen)
    remarks = (by_call[name].remark + ("" if by_call[name].kept else " (BROKEN)") for name in _REMARKS)
    return (fault[0].upper() + fault[1:], "; ".join(others) or _AS_EVER, f"{slowest:.1f} s", *remarks)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
