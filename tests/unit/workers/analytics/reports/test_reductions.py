"""The report of announced reductions judges all at once as `reference` judges each by its whole series."""

from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from random import Random

import numpy as np

from shared.prior_price import Moment, Options, Reason, Reference, reference
from tests.unit.shared.prior_price.offers import FIRST
from workers.analytics.reports import reductions
from workers.analytics.reports.daily_listings import DailyListings
from workers.analytics.reports.periods import Range, number
from workers.analytics.reports.reductions import VERDICTS

Observed = list[tuple[date, int, int]]


def offered(several: list[Observed]) -> DailyListings:
    """Make a series of each item in one channel: days, prices and list prices."""
    rows = [(item, number(day), *prices) for item, one in enumerate(several) for day, *prices in one]
    item, day, price, list_price = np.array(rows, "i8").T
    once, none = np.ones(len(day), "i8"), np.zeros(len(day), "i8")
    return DailyListings(("HKD",), none, item, once, day, price, list_price, none, none)


def drawn(random: Random) -> Observed:
    """Draw days with gaps, prices that stay for weeks, and list prices that sometimes are missing."""
    observed, price, gap, change = [], 1_000, random.choice((0, 0, 0.02)), random.choice((0.02, 0.03, 0.1))
    for day in range(120):
        price = random.choice((700, 800, 900, 1_000)) if random.random() < change else price
        listed = random.choice((1_000, 1_000, 1_200)) if price < 1_000 and random.random() < 0.98 else 0
        if random.random() >= gap:
            observed.append((FIRST + timedelta(days=day), price, listed))
    return observed


def verdict(prior: Reference, list_price: Decimal) -> str:
    """Return which of VERDICTS a reduction from a list price deserves."""
    if prior.applicable and prior.prior_price is not None:
        return "holding" if list_price <= prior.prior_price else "overstated"
    return "not_below" if prior.reason == Reason.NOT_BELOW else "undecided"


def expected_of(observed: Observed, options: Options) -> list[str]:
    """Return the verdicts of one series, each reduction judged by all that was observed before it."""
    moments = [
        Moment(day, price=Decimal(price), list_price=Decimal(listed) if listed else None)
        for day, price, listed in observed
    ]
    began = [
        row
        for row, moment in enumerate(moments)
        if moment.announced and (not row or not moments[row - 1].announced or observed[row][1] < observed[row - 1][1])
    ]
    return [verdict(reference(moments[: row + 1], options=options), Decimal(observed[row][2])) for row in began]


def test_a_reduction_deserves_the_verdict_that_its_whole_series_gives() -> None:
    random, counts = Random(3), Counter[str]()
    several = [drawn(random) for _ in range(300)]
    for options in (Options(), Options(progressive=False), Options(True), Options(True, 20)):
        expected = [name for observed in several for name in expected_of(observed, options)]
        found = reductions._judge(offered(several), Range(FIRST, date(2026, 12, 31), None), options)
        assert [VERDICTS[one] for one in found.verdict.tolist()] == expected
        counts.update(expected)
    assert min(counts[name] for name in VERDICTS) > 30
