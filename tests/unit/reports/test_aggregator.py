"""Segments of many observations: the same figures as plain Python's, whichever way numpy takes to them."""

import random
import statistics
from collections import Counter, defaultdict
from datetime import date
from typing import NamedTuple

import numpy as np
import pytest

from workers.analytics.reports.aggregator import Collector, GroupedSeries, Key, Rollup
from workers.analytics.reports.periods import Range, number
from workers.analytics.rollups import figures as columns
from workers.analytics.rollups.codec import pack

MONTHS = (date(2026, 1, 1), date(2026, 2, 1), date(2026, 3, 1))
RANGE = Range(MONTHS[0], date(2026, 3, 31), "month")
ITEMS = 40


class _Seen(NamedTuple):
    month: date
    day: int
    channel: int
    item: int
    price: int
    list_price: int


def _observations(n: int) -> list[_Seen]:
    chance = random.Random(n)
    return [
        _Seen(
            chance.choice(MONTHS),
            chance.randint(1, 28),
            chance.randint(1, 4),
            chance.randrange(ITEMS),
            chance.choice([90, 100, 110, 250, 99_999]),
            chance.choice([0, 0, 100, 120, 300]),
        )
        for _ in range(n)
    ]


def _by_entries(seen: list[_Seen]) -> GroupedSeries:
    """Collect single observations, by channel."""
    collector = Collector(RANGE)
    for month in MONTHS:
        own = sorted((one for one in seen if one.month == month), key=lambda one: one.item)
        day, channel, item, price, listed = (
            np.array([getattr(one, name) for one in own], "u4")
            for name in ("day", "channel", "item", "price", "list_price")
        )
        collector.add_entries("HKD", month, day, (channel, np.empty(0, "i8")), price, listed, channel, item, ITEMS)
        collector.end_month()
    return collector.segments()


@pytest.mark.parametrize("bins", [0, 1 << 20], ids=["by sorting", "by marking"])
def test_groups_of_entries_are_those_of_plain_python(monkeypatch: pytest.MonkeyPatch, bins: int) -> None:
    monkeypatch.setattr(columns, "_BINS_MAX", bins)
    seen = _observations(2_000)
    groups: dict[Key, list[_Seen]] = defaultdict(list)
    for one in seen:
        groups[Key("HKD", number(one.month), one.channel, 0)].append(one)
    found = _by_entries(seen)
    assert sorted(found.keys) == sorted(groups)
    for segment, key in enumerate(found.keys):
        own, place = groups[key], found.spread.segment.tolist().index(segment)
        prices = sorted(one.price for one in own)
        assert (found.spread.n[place], found.spread.total[place]) == (len(own), sum(prices))
        assert found.spread.hundredths[place, 2] == 100 * statistics.median(prices)
        assert found.items[segment] == len({one.item for one in own})
        assert found.first_day[segment] == key.period - 1 + min(one.day for one in own)
        assert found.last_day[segment] == key.period - 1 + max(one.day for one in own)
        assert found.channels.each(len(found.keys))[segment] == {key.first_group: len(own)}
        cuts = [1 - one.price / one.list_price for one in own if one.list_price > one.price]
        row = found.discounts.rows(np.array([segment]))[0]
        assert row["list_price_n"] == sum(one.list_price > 0 for one in own)
        assert (row["discount_mean"], row["discount_median"]) == (
            round(statistics.fmean(cuts), 6),
            round(statistics.median(cuts), 6),
        )


@pytest.mark.parametrize("brands", [1, 2], ids=["a rollup a month", "two to be merged"])
def test_months_of_rollups_condensed_together_are_those_condensed_one_by_one(brands: int) -> None:
    seen = _observations(600)

    def collected(*, together: bool) -> GroupedSeries:
        collector, rollups = Collector(RANGE), list[Rollup]()
        for month in MONTHS:
            for brand in range(brands):
                own = [one for one in seen if one.month == month and one.item % brands == brand]
                prices, channels = Counter(one.price for one in own), Counter(one.channel for one in own)
                listed = Counter((one.price, one.list_price) for one in own if one.list_price)
                rollups.append(
                    Rollup(
                        Key("HKD", number(month), 0, 0),
                        len({one.item for one in own}),
                        pack(np.array([sum(one.day == day for one in own) for day in range(1, 32)])),
                        pack(np.array(sorted(channels)), np.array([channels[one] for one in sorted(channels)])),
                        pack(np.array(sorted(prices)), np.array([prices[one] for one in sorted(prices)])),
                        pack(*np.array(sorted(listed)).T, np.array([listed[one] for one in sorted(listed)])),
                    )
                )
            if not together:
                collector.add_rollups(rollups)
                rollups = []
        collector.add_rollups(rollups)
        return collector.segments()

    one_by_one, together = collected(together=False), collected(together=True)
    for name in GroupedSeries._fields:
        np.testing.assert_equal(getattr(together, name), getattr(one_by_one, name), err_msg=name)
    assert together.items.tolist() == [len({one.item for one in seen if one.month == month}) for month in MONTHS]
