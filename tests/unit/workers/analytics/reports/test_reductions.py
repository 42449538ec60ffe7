"""The report of announced reductions judges each by a bounded part of its series, and can be stopped in between."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from random import Random

import numpy as np
import pytest

from shared.prior_price import WINDOW_DAYS, Moment, Options, Reference, reference
from tests.support.reports import quiet
from tests.unit.shared.prior_price.offers import FIRST
from workers.analytics.reports import reductions
from workers.analytics.reports.daily_listings import DailyListings
from workers.analytics.reports.periods import Range, number
from workers.analytics.reports.reductions import VERDICTS, verdict


def offered(*observed: tuple[date, int, int]) -> DailyListings:
    """Make the series of one item in one channel: days, prices and list prices."""
    day, price, list_price = np.array([(number(day), price, listed) for day, price, listed in observed], "i8").T
    once = np.ones(len(day), "i8")
    none = np.zeros(len(day), "i8")
    return DailyListings(("HKD",), none, once, once, day, price, list_price, none, none)


def drawn(random: Random) -> list[tuple[date, int, int]]:
    """Draw days with gaps, prices that stay for weeks, and list prices that sometimes are missing."""
    observed, price, gap, change = [], 1_000, random.choice((0, 0, 0.02)), random.choice((0.02, 0.03, 0.1))
    for day in range(120):
        price = random.choice((700, 800, 900, 1_000)) if random.random() < change else price
        listed = random.choice((1_000, 1_000, 1_200)) if price < 1_000 and random.random() < 0.98 else 0
        if random.random() >= gap:
            observed.append((FIRST + timedelta(days=day), price, listed))
    return observed


def test_a_reduction_deserves_the_verdict_that_its_whole_series_gives() -> None:
    random, counts = Random(3), Counter[str]()
    for _ in range(300):
        observed = drawn(random)
        moments = [
            Moment(day, price=Decimal(price), list_price=Decimal(listed) if listed else None)
            for day, price, listed in observed
        ]
        announced = [row for row, moment in enumerate(moments) if moment.announced]
        began = [
            row
            for row in announced
            if not row or not moments[row - 1].announced or observed[row][1] < observed[row - 1][1]
        ]
        for options in (Options(), Options(progressive=False), Options(True), Options(True, 20)):
            expected = [
                verdict(reference(moments[: row + 1], options=options), Decimal(observed[row][2])) for row in began
            ]
            found = reductions._announced(offered(*observed), Range(FIRST, date(2026, 12, 31), None), options, quiet)
            assert [one.verdict for one in found] == expected
            counts.update(expected)
    assert min(counts[name] for name in VERDICTS) > 30


def test_a_long_series_is_judged_piece_by_piece_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    days = [FIRST + timedelta(days=day) for day in range(1_095)]
    prices = offered(*((day, 900 + 100 * (place % 2), 1_200) for place, day in enumerate(days)))
    judged: list[int] = []

    def noted(moments: Sequence[Moment], *, options: Options) -> Reference:
        judged.append(len(moments))
        return reference(moments, options=options)

    def stop(stage: str, done: int, total: int | None) -> None:
        if done == 500:
            raise InterruptedError

    monkeypatch.setattr(reductions, "reference", noted)
    with pytest.raises(InterruptedError):
        list(reductions._announced(prices, Range(days[0], days[-1], None), Options(), stop))
    assert len(judged) == 500 and max(judged) == WINDOW_DAYS + 2
