"""The prior price by brute force over days: slow, and written from the text of the rule instead of our own code.

`python -m tests.support.prior_price_twin` prints those of 1,000,000 random series that it judges differently.
"""

import itertools
import random
import sys
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

from shared.prior_price import Moment, Options, Status, reference

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
        return Verdict(None, None, None, _why_none(days, window, first_offered))
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


def _why_none(days: list[Day], window: int, first_offered: int | None) -> str:
    """Return whether days without a gap show that the price did not fall: a whole window of them, or those of a rise."""
    today = len(days) - 1
    for start in range(today, -1, -1):
        since = days[start:today]
        whole = sum(isinstance(state, int) for state in since) == window or start == first_offered
        risen = isinstance(days[start], int) and days[start] != days[today]
        if MISSING not in since and (whole or risen):
            return "no_reduction"
    known_from = next(day for day, state in enumerate(days) if state is not MISSING)
    return "missing_days" if MISSING in days[known_from:today] else "fewer_than_30_days"


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


FIRST = date(2026, 1, 1)


def disagreements(count: int, seed: int) -> list[tuple[list[Day], Options, Verdict, Verdict]]:
    """Return the series, of `count` random ones, with our verdict and the twin's where they differ."""
    source, found = random.Random(seed), []
    for _ in range(count):
        days, options = _series(source), _options(source)
        if options.new_arrivals:
            options = replace(options, first_offered=_first_known(days))
        ours = _ours(days, options)
        twin = judge(
            days,
            options.window_days,
            progressive=bool(options.progressive),
            cap=options.progressive_days,
            first_offered=(options.first_offered - FIRST).days if options.first_offered else None,
        )
        if ours != twin:
            found.append((days, options, ours, twin))
    return found


def _series(source: random.Random) -> list[Day]:
    """Make a short series of runs: mostly prices, sometimes closed or missing days."""
    days: list[Day] = []
    for _ in range(source.randint(1, 7)):
        state = source.choice((MISSING, CLOSED, 1, 2, 3, 4, 5, 6, 7, 8))
        days.extend([state] * source.choice((1, 1, 2, 3, 6)))
    return days


def _options(source: random.Random) -> Options:
    progressive = source.random() < 0.5
    cap = source.choice((None, None, 2, 5)) if progressive else None
    return Options(progressive, cap, source.random() < 0.3, None, source.choice((1, 2, 3, 5, 8)))


def _first_known(days: list[Day]) -> date | None:
    known = [place for place, state in enumerate(days) if state is not MISSING]
    return FIRST + timedelta(days=known[0]) if known else None


def _ours(days: list[Day], options: Options) -> Verdict:
    moments = []
    for place, state in enumerate(days):
        day = FIRST + timedelta(days=place)
        if isinstance(state, int):
            moments.append(Moment(day, price=Decimal(state)))
        elif state == CLOSED:
            moments.append(Moment(day, status=Status.NOT_OFFERED))
    found = reference(moments, FIRST + timedelta(days=len(days) - 1), options)
    prior, most = (None if one is None else int(one) for one in (found.prior_price, found.at_most))
    began = (found.reduction_began_on - FIRST).days if found.reduction_began_on else None
    return Verdict(began, prior, most, found.reason.value if found.reason else None)


if __name__ == "__main__":
    sys.exit("\n".join(map(repr, disagreements(1_000_000, 1)[:5])) or None)
