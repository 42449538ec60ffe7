"""`python -m tests.perf.prior_price_twin`: of 1,000,000 random series, those that a brute-force twin judges differently."""

import random
import sys
from datetime import date, timedelta
from decimal import Decimal

from shared.prior_price import Moment, Options, Status, reference
from tests.support.prior_price_twin import CLOSED, MISSING, Day, Verdict, judge

FIRST = date(2026, 1, 1)


def disagreements(count: int, seed: int) -> list[tuple[list[Day], Options, Verdict, Verdict]]:
    """Return the series, of `count` random ones, with our verdict and the twin's where they differ."""
    source, found = random.Random(seed), []
    for _ in range(count):
        days, options = _series(source), _options(source)
        if options.new_arrivals:
            options = Options(
                options.progressive, options.progressive_days, True, _first_known(days), options.window_days
            )
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
    cap = source.choice((None, None, 2, 5))
    return Options(source.random() < 0.5, cap, source.random() < 0.3, None, source.choice((1, 2, 3, 5, 8)))


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
