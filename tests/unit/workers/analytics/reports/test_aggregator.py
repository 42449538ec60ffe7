"""Figures of groups: segments, periods, and months that are condensed together."""

import random
import statistics
from collections import Counter, defaultdict
from datetime import date
from typing import NamedTuple

import numpy as np
import pytest
from numpy.random import default_rng

from workers.analytics.reports import price_tables
from workers.analytics.reports.aggregator import Collector, GroupedSeries, Key, Rollup
from workers.analytics.reports.periods import Range, day_of, number
from workers.analytics.rollups import arrays
from workers.analytics.rollups.codec import pack
from workers.analytics.rollups.item_prices import ItemPrices
from workers.events.index_moves import jevons

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
        collector.add_entries("HKD", month, day, (channel,), price, price, listed, channel, item, ITEMS)
        collector.end_month()
    return collector.segments()


@pytest.fixture(params=[0, 8], ids=["by sorting", "by a table"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add figures up by sorting the rows, or by a table."""
    monkeypatch.setattr(arrays, "_CELLS_A_ROW", request.param)


@pytest.mark.usefixtures("either_way")
def test_groups_of_entries_are_those_of_plain_python() -> None:
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
        of_channel = [column[found.channels.segment == segment].tolist() for column in found.channels[1:]]
        assert of_channel == [[key.first_group], [len(own)]]
        cuts = [1 - one.price / one.list_price for one in own if one.list_price > one.price]
        row = found.discounts.rows(np.array([segment]))[0]
        assert row["list_price_n"] == sum(one.list_price > 0 for one in own)
        assert (row["discount_mean"], row["discount_median"]) == (
            round(statistics.fmean(cuts), 6),
            round(statistics.median(cuts), 6),
        )


@pytest.mark.usefixtures("either_way")
def test_days_before_1970_are_first_and_last_days_too() -> None:
    collector = Collector(Range(date(1968, 12, 1), date(1968, 12, 31), "month"))
    day, one, nothing = np.array([3, 9], "u4"), np.ones(2, "u4"), np.zeros(2, "u4")
    collector.add_entries("HKD", date(1968, 12, 1), day, (), one, one, nothing, one, one, 1)
    collector.end_month()
    found = collector.segments()
    assert [day_of(days[0]) for days in (found.first_day, found.last_day)] == [date(1968, 12, 3), date(1968, 12, 9)]


@pytest.mark.parametrize("since", [-400, -200, 0])
def test_periods_before_1970_have_one_price_an_item_too(since: int) -> None:
    draw = default_rng(1)
    period, item, price = draw.integers(0, 365, 300), draw.integers(1, 200_000, 300), draw.integers(1, 1_000, 300)
    item[::2] = 7
    of_pairs: dict[tuple[int, int], list[int]] = defaultdict(list)
    for one in zip(period.tolist(), item.tolist(), price.tolist(), strict=True):
        of_pairs[one[:2]].append(one[2])
    ones = np.ones(300, "i8")
    found = price_tables._by_period(period + since, item, ones, price, ones, sales=False)
    cells = [
        ((day - since, one), price)
        for day, prices in found
        for one, price in zip(prices.item.tolist(), prices.price.tolist(), strict=True)
    ]
    assert len(cells) == len(of_pairs)
    assert dict(cells) == pytest.approx({pair: statistics.geometric_mean(of_pairs[pair]) for pair in of_pairs})


def test_items_whose_ids_differ_in_their_first_bits_alone_are_two() -> None:
    ids = np.array([5, 5 + (1 << 62), 5 + (1 << 43)])
    channel, price, units = np.array([1, 1, 2]), np.array([100.0, 300.0, 200.0]), np.zeros(3, "i8")
    before, now = ItemPrices(ids, channel, price, units), ItemPrices(ids, channel, price * [1, 2, 4], units)
    table = price_tables.table_of([(0, before), (31, now)])
    assert table.item is not None
    assert table.item.tolist() == sorted(ids.tolist())
    assert table.panel.prices.tolist() == [[100.0, 200.0, 300.0], [100.0, 800.0, 600.0]]
    assert jevons(before, now) == pytest.approx(2.0)


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
