"""The prior price by brute force over days: slow, and written from the text of the rule instead of our own code."""

import itertools
from dataclasses import dataclass

MISSING, CLOSED = None, "closed"
Day = int | str | None


@dataclass(frozen=True)
class Verdict:
    """What the rule says; days count from the first of the series."""

    began: int | None
    prior: int | None
    at_most: int | None
    reason: str | None


def judge(days: list[Day], window: int, *, progressive: bool, cap: int | None, first_offered: int | None) -> Verdict:
    """Judge the last day of a series of one state a day: a price, CLOSED, or MISSING."""
    today = len(days) - 1
    if days[today] is MISSING:
        return Verdict(None, None, None, "missing_days")
    if days[today] == CLOSED:
        return Verdict(None, None, None, "no_reduction")
    falls = _falls(days)
    if not falls:
        return Verdict(None, None, None, "no_reduction")
    began, first = falls[0], falls[-1]
    gap = False
    if progressive and (cap is None or began - first <= cap):
        gap = MISSING in days[first:began]
        began = first
    reason, start = _start(days, began, window, first_offered)
    prices = [one for one in days[start:began] if isinstance(one, int)]
    lowest = min(prices, default=None)
    if reason is None and gap:
        reason = "missing_days"
    if reason is not None:
        return Verdict(began, None, lowest, reason)
    assert lowest is not None and isinstance(days[today], int)
    return Verdict(began, lowest, None, None if days[today] < lowest else "not_below_prior_price")


def _falls(days: list[Day]) -> list[int]:
    """Return the days of the steps down after which no rise came, the newest first."""
    offered = [day for day, state in enumerate(days) if isinstance(state, int)]
    changes = [(days[b] - days[a], b) for a, b in itertools.pairwise(offered) if days[a] != days[b]]  # type: ignore[operator]
    rises = [day for change, day in changes if change > 0]
    return [day for change, day in reversed(changes) if change < 0 and day > max(rises, default=-1)]


def _start(days: list[Day], began: int, window: int, first_offered: int | None) -> tuple[str | None, int]:
    """Return the first day of the window, and why it is not known completely."""
    known_from = next((day for day, state in enumerate(days) if state is not MISSING), began)
    for start in range(began - 1, -1, -1):
        if sum(state != CLOSED for state in days[start:began]) == window and start >= known_from:
            return ("missing_days" if MISSING in days[start:began] else None), start
    if first_offered is not None:
        return ("missing_days" if MISSING in days[first_offered:began] else None), first_offered
    return "fewer_than_30_days", known_from
