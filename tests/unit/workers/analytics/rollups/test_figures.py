"""Finished figures of groups are those of plain Python, and come back from their bytes as they were."""

import random
import statistics
from collections import Counter, defaultdict

import numpy as np
import pytest

from workers.analytics.rollups import group_figures
from workers.analytics.rollups.arrays import Array
from workers.analytics.rollups.group_figures import each_packed, of_entries, pack_figures, unpack_figures


def _entries(n: int, highest: int = 500) -> tuple[Array, ...]:
    """Make entries in the order of their items: group, item, day, channel, price, list price."""
    chance = random.Random(n)
    rows = sorted(
        (
            chance.randrange(n // 3),
            chance.randint(1, 31),
            chance.choice((0, 3, 7, 900)),
            chance.randint(1, 4),
            chance.randint(1, highest),
            chance.choice((0, 0, 120, 400)),
        )
        for _ in range(n)
    )
    item, day, group, channel, price, list_price = (np.array(column, "i8") for column in zip(*rows, strict=True))
    return group, item, day, channel, price, list_price


def test_they_are_those_of_plain_python() -> None:
    entries = _entries(400)
    groups: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for group, *others in zip(*(column.tolist() for column in entries), strict=True):
        groups[group].append(tuple(others))
    [packed] = pack_figures([of_entries(*entries)])
    found = unpack_figures(packed)
    assert found.group.tolist() == sorted(groups)
    for place, group in enumerate(found.group.tolist()):
        items, days, channels, prices, listed = zip(*groups[group], strict=True)
        assert found.items[place] == len(set(items))
        assert (found.first_day[place], found.last_day[place]) == (min(days), max(days))
        assert (found.spread.n[place], found.spread.least[place], found.spread.most[place]) == (
            len(prices),
            min(prices),
            max(prices),
        )
        assert found.spread.hundredths[place, 2] == 100 * statistics.median(prices)
        assert (found.spread.total[place], found.spread.squares[place]) == (sum(prices), sum(p * p for p in prices))
        mine = found.place == place
        assert dict(zip(found.channel[mine].tolist(), found.n[mine].tolist(), strict=True)) == Counter(channels)
        cuts = [1 - price / full for price, full in zip(prices, listed, strict=True) if full > price]
        assert found.discounts.rows(np.array([place]))[0] == {
            "list_price_n": np.count_nonzero(listed),
            "promotion_share": round(len(cuts) / np.count_nonzero(listed), 6),
            "discount_mean": round(statistics.fmean(cuts), 6),
            "discount_median": round(statistics.median(cuts), 6),
        }


def test_groups_without_list_prices_have_no_discount() -> None:
    *others, list_price = _entries(60)
    [packed] = pack_figures([of_entries(*others, list_price * 0)])
    row = unpack_figures(packed).discounts.rows(np.array([0]))[0]
    assert row == {"list_price_n": 0, "promotion_share": None, "discount_mean": None, "discount_median": None}


def test_small_rollups_those_of_many_groups_and_sums_beyond_63_bits_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_figures, "ENTRIES_MIN", 60)
    monkeypatch.setattr(group_figures, "ENTRIES_A_GROUP_MIN", 15)
    few, enough, huge = _entries(59), _entries(60), _entries(60, highest=2**33)
    crowded = (np.arange(60) % 5, *enough[1:])
    for entries, kept in ((few, False), (enough, True), (huge, False), (crowded, False)):
        group, item, day, channel, price, list_price = entries
        bounds = np.array([0, len(group)])
        [packed] = each_packed(group, (item, day, channel, price, list_price), bounds)
        assert (packed is not None) is kept
