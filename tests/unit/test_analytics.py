"""Figures of groups: segments, periods, statistics, outliers, and what watches read of them."""

import math
import random
import statistics
from collections import Counter, defaultdict
from datetime import date, timedelta
from decimal import Context, Decimal
from pathlib import Path
from random import Random
from typing import NamedTuple

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.random import default_rng

from deploy.ctl.calc import csv_file
from deploy.ctl.main import cli
from shared.analytics.footprint import CODES
from shared.analytics.outliers import CAUSES, PER_US_DOLLAR
from shared.errors import InvalidFile
from workers.analytics.reports import price_change
from workers.analytics.reports.aggregator import (
    ByChannel,
    Collector,
    GroupedSeries,
    Key,
    Range,
    Rollup,
    day_of,
    last_day_of,
    number,
)
from workers.analytics.reports.result import rounded, shares
from workers.analytics.reports.sustainability_rollup import (
    OWN,
    Amounts,
    Bounds,
    Footprints,
    bounds_of_sums,
    totals_of_sums,
)
from workers.analytics.reports.sustainability_rollup import each_contributor as contributors
from workers.analytics.rollups import codec
from workers.analytics.rollups import figures as group_figures
from workers.analytics.rollups.aggregates import Items
from workers.analytics.rollups.codec import (
    Array,
    Entries,
    Stratum,
    numbered,
    order_by,
    order_of,
    pack,
    sums_by,
)
from workers.analytics.rollups.figures import (
    each_packed,
    of_entries,
    pack_figures,
    spread,
    unpack_figures,
)
from workers.analytics.rollups.outliers import COLUMNS, OPTIONAL, PACKS, Prices, find, prices_of
from workers.analytics.rollups.rows import written
from workers.events.watches import LAYOUT, NEVER, Watched, WatchedMonths

# Segments of many observations: the same figures as plain Python's, whichever way numpy takes to them.


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
        collector.add_entries("HKD", month, day, (channel,), price, listed, channel, item, ITEMS)
        collector.end_month()
    return collector.segments()


@pytest.fixture(params=[0, 8], ids=["by sorting", "by a table"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add figures up by sorting the rows, or by a table."""
    monkeypatch.setattr(codec, "_CELLS_A_ROW", request.param)


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
    collector.add_entries("HKD", date(1968, 12, 1), day, (), one, nothing, one, one, 1)
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
    found = price_change._by_period(period + since, item, ones, price, ones, sales=False)
    assert [(day - since, one) for day, prices in found for one in prices.item.tolist()] == sorted(of_pairs)
    each = [one for _, prices in found for one in prices.price.tolist()]
    assert each == pytest.approx([statistics.geometric_mean(of_pairs[pair]) for pair in sorted(of_pairs)])


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


# Intervals of a rollup's sums against Monte Carlo, drawn item by item; and who contributes.


DRAWS = 200_000

COMMON = np.array([0.5, 0.2])


def footprints(means: list[float], sigmas: list[float], factors: list[int]) -> Footprints:
    """Make footprints whose first indicator has the given distributions, and all others nothing."""
    items, width = len(means), len(CODES)
    table = np.full((items + 1, width), np.nan)
    sigma, number = np.zeros((items + 1, width)), np.full((items + 1, width), OWN)
    table[:items, 0], sigma[:items, 0], number[:items, 0] = means, sigmas, factors
    return Footprints(np.arange(items), table, np.ones(items + 1), sigma, number, COMMON, {})


def bounds(amounts: Amounts, found: Footprints, segments: int) -> Bounds:
    """Return the bounds of the first indicator's sums."""
    return bounds_of_sums(amounts, found, 0, totals_of_sums(amounts, found, 0, segments))


def simulated(found: Footprints, amounts: Amounts, segment: int) -> list[float]:
    """Return the quantiles of a segment's sum: every item drawn by itself, every factor's error once."""
    rng = default_rng(7)
    errors = np.exp(COMMON[:, None] * rng.standard_normal((len(COMMON), DRAWS)) - COMMON[:, None] ** 2 / 2)
    total = np.zeros(DRAWS)
    for place, units in zip(amounts.position[amounts.segment == segment], amounts.units, strict=False):
        mean, sigma = found.figures[place, 0], found.sigmas[place, 0]
        if math.isnan(mean):
            continue
        drawn = mean * np.exp(sigma * rng.standard_normal(DRAWS) - sigma**2 / 2)
        factor = int(found.factors[place, 0])
        total += units * drawn * (1.0 if factor == OWN else errors[factor])
    return [float(one) for one in np.quantile(total, [0.025, 0.5, 0.975])]


def test_sums_of_own_and_borrowed_figures_agree_with_monte_carlo() -> None:
    rng = default_rng(3)
    n = 90
    factors = [OWN] * 30 + [0] * 30 + [1] * 30
    found = footprints(rng.lognormal(0, 1, n).tolist(), rng.uniform(0.05, 0.6, n).tolist(), factors)
    order = np.concatenate([np.arange(n), np.arange(0, n, 9)])
    amounts = Amounts(np.array([0] * n + [1] * 10), order, order, np.ones(n + 10))
    result = bounds(amounts, found, 3)
    for segment in (0, 1):
        stated = [column[segment] for column in result]
        assert stated == pytest.approx(simulated(found, amounts, segment), rel=0.015)
    assert [column[2] for column in result] == [None, None, None]


def test_units_of_one_item_do_not_average_its_error_out() -> None:
    found = footprints([2.0], [0.4], [OWN])
    one = bounds(Amounts(np.array([0]), np.array([0]), np.array([0]), np.array([1.0])), found, 1)
    many = bounds(Amounts(np.array([0]), np.array([0]), np.array([0]), np.array([500.0])), found, 1)
    assert [column[0] for column in many] == pytest.approx([500 * (column[0] or 0) for column in one], rel=1e-8)


def test_the_largest_contributors_are_named_with_their_shares_and_ties_by_id() -> None:
    found = footprints([1.0, 5.0, 2.0, 2.0, float("nan")], [0.1] * 5, [OWN] * 5)
    places = np.arange(5)
    amounts = Amounts(np.zeros(5, int), np.array([14, 13, 12, 11, 10]), places, np.array([1.0, 1.0, 1.0, 1.0, 9.0]))
    listed = [(one.indicator, one.item, one.share) for one in contributors(amounts, found)]
    assert listed == [("co2e_kg", 13, 0.5), ("co2e_kg", 11, 0.2), ("co2e_kg", 12, 0.2)]


# Days into periods, against another engine's calendar.


FIRST, DAYS = date(1968, 11, 20), 3000

GRANULARITIES = ("day", "week", "month", "quarter", "year")


def test_each_day_is_in_the_period_that_duckdb_says() -> None:
    for granularity in GRANULARITIES:
        days = [FIRST + timedelta(days=n) for n in range(DAYS)]
        found = Range(FIRST, days[-1], granularity).periods_of(np.array([number(day) for day in days]))
        judged = duckdb.execute(
            f"SELECT date_trunc('{granularity}', ?::DATE + n::INTEGER)::DATE FROM range(?) r(n) ORDER BY n",
            [FIRST, DAYS],
        ).fetchall()
        assert [day_of(one) for one in found] == [row[0] for row in judged], granularity


def test_the_last_day_of_a_period_is_the_one_before_the_next() -> None:
    for granularity in GRANULARITIES:
        judged = duckdb.execute(
            f"SELECT DISTINCT p::DATE, (p + INTERVAL 1 {granularity} - INTERVAL 1 DAY)::DATE "
            f"FROM (SELECT date_trunc('{granularity}', ?::DATE + n::INTEGER) AS p FROM range(?) r(n))",
            [FIRST, DAYS],
        ).fetchall()
        assert [last_day_of(first, granularity, date.max) for first, _ in judged] == [last for _, last in judged], (
            granularity
        )


def test_the_last_period_ends_with_the_range() -> None:
    assert last_day_of(date(2026, 7, 1), "quarter", date(2026, 8, 9)) == date(2026, 8, 9)
    assert last_day_of(date(2026, 7, 1), None, date(2026, 8, 9)) == date(2026, 8, 9)


# Mean and deviation are what decimal arithmetic with 60 digits rounds half-even to six decimals.


EMPTY = np.empty(0, "i8")

EXACT = Context(prec=60)

DIGITS = {"JPY": 0, "HKD": 2, "KWD": 3, "CLF": 4}

_COUNTS = st.dictionaries(st.integers(0, 10**15), st.integers(1, 10**6), min_size=1, max_size=8)


def _rounded(minor: Decimal, currency: str) -> Decimal:
    return minor.scaleb(-DIGITS[currency], EXACT).quantize(Decimal("0.000001"), context=EXACT)


@given(times=_COUNTS, currency=st.sampled_from(sorted(DIGITS)))
@example(times={0: 63, 1: 1}, currency="CLF")  # 1/64 of a minor unit: a half of the sixth decimal
@example(times={0: 1, 1: 63}, currency="CLF")
@example(times={0: 1, 1: 1}, currency="JPY")
@example(times={7: 3}, currency="HKD")
def test_mean_and_deviation_are_those_of_decimal_arithmetic(times: dict[int, int], currency: str) -> None:
    prices = np.array(sorted(times))
    figures = spread(np.zeros(len(prices), "i8"), prices, np.array([times[price] for price in prices.tolist()]))
    n = sum(times.values())
    total = sum(price * count for price, count in times.items())
    squares = sum(price * price * count for price, count in times.items())
    assert figures.mean(0, currency) == _rounded(EXACT.divide(Decimal(total), Decimal(n)), currency)
    if n < 2:
        assert figures.deviation(0, currency) is None
    else:
        variance = EXACT.divide(Decimal(n * squares - total * total), Decimal(n * (n - 1)))
        assert figures.deviation(0, currency) == _rounded(EXACT.sqrt(variance), currency)


# Counts and their totals, and values on either side of a half of the sixth decimal.
_SHARES = st.tuples(st.integers(0, 10**9), st.integers(1, 10**9)).map(lambda pair: min(pair) / max(pair))

_HALVES = st.integers(0, 999_999).map(lambda n: float(np.float64(f"0.{n:06}5")))


@given(values=st.lists(_SHARES | _HALVES | _HALVES.map(lambda one: float(np.nextafter(one, 1))), max_size=30))
@example(values=[0.0000005, 0.0000015, 1 / 64 / 10**5, 0.5, 1.0])
def test_shares_are_rounded_as_python_rounds(values: list[float]) -> None:
    assert rounded(np.array(values, "f8")).tolist() == [round(one, 6) for one in values]


def test_shares_are_in_the_order_of_rows_and_codes() -> None:
    for order in ([], [0], [0, 1, 2], [2, 1, 0]):
        of_three = ByChannel(np.array([0, 0, 2]), np.array([1, 2, 3]), np.array([3, 1, 5]))
        of_none = ByChannel(*(np.empty(0, "i8"),) * 3)
        column = shares(of_three if len(order) == 3 else of_none, np.array(order, "i8"), {1: "b", 2: "a", 3: "c"})
        expected = [
            [{"channel": "a", "observations": 1, "share": 0.25}, {"channel": "b", "observations": 3, "share": 0.75}],
            [],
            [{"channel": "c", "observations": 5, "share": 1.0}],
        ]
        assert column == ([expected[segment] for segment in order] if len(order) == 3 else [[] for _ in order]), order


# Counting by group and value, by a table and by sorting: both as a counter in plain Python counts.


_FEW, _MANY = 700, 3_000_000  # the greatest value that a table of 1,000 rows has room for, and one that it has not


@pytest.mark.parametrize("highest", [1, _FEW, _MANY])
@pytest.mark.parametrize("given", ["no times", "times", "times of which some are negative"])
def test_groups_and_prices_are_counted_as_a_counter_counts_them(highest: int, given: str) -> None:
    random = np.random.default_rng(highest)
    group, price = random.integers(0, 9, 1_000), random.integers(0, highest + 1, 1_000)
    times = None if given == "no times" else random.integers(-3 if "negative" in given else 1, 5, 1_000)
    expected: Counter[tuple[int, int]] = Counter()
    for n, pair in enumerate(zip(group.tolist(), price.tolist(), strict=True)):
        expected[pair] += 1 if times is None else int(times[n])
    groups, prices, sums = (column.tolist() for column in sums_by((group, price), times))
    found = dict(zip(zip(groups, prices, strict=True), sums, strict=True))
    assert list(found) == sorted(found)
    assert found == {pair: n for pair, n in expected.items() if n}


def test_values_are_numbered_in_their_order() -> None:
    for highest in (0, _FEW, 70_000, _MANY, 2**50):
        values = np.random.default_rng(1).integers(0, highest + 1, 1_000)
        distinct, place = numbered(values)
        assert distinct.tolist() == sorted(set(values.tolist())), highest
        assert distinct.take(place).tolist() == values.tolist(), highest


def test_of_nothing_nothing_is_counted() -> None:
    nothing = np.empty(0, "i8")
    assert [len(column) for column in sums_by((nothing, nothing), None)] == [0, 0, 0]
    assert [len(column) for column in numbered(nothing)] == [0, 0]


# Finished figures of groups are those of plain Python, and come back from their bytes as they were.


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


# Outliers: which prices are set aside, and that nothing but the observations decides it.


Row = tuple[int, int, int, int, int]  # item, channel, day, price, list price


def months(*channels: list[int], item: int = 1, listed: int = 0) -> list[Row]:
    """Make an observation a day: a list of prices for each channel. `listed`: the list price of lower prices."""
    return [
        (item, n, day, price, listed if price < listed else 0)
        for n, prices in enumerate(channels)
        for day, price in enumerate(prices, 1)
    ]


def flagged(rows: list[Row], currency: str = "HKD") -> dict[Row, str]:
    found = find(*np.array(rows, "i8").reshape(len(rows), 5).T, currency)
    return {
        rows[place]: CAUSES[letter.decode()] for place, letter in zip(found.position.tolist(), found.cause, strict=True)
    }


def test_a_single_wrong_price_is_set_aside_with_its_likely_cause() -> None:
    for price, cause in (
        (12_500, "unit_slip"),
        (125_000, "unit_slip"),
        (125, "unit_slip"),
        (9_750, "currency"),
        (160, "currency"),
        (7_500, "wrong_pack"),
        (104, "wrong_pack"),
        (4_680, "one_off"),
        (2_990, "one_off"),
        (0, "one_off"),
    ):
        alone = months([1_250, 1_270, 1_240, 1_250, price, 1_250, 1_260, 1_250])
        assert flagged(alone) == {(1, 0, 5, price, 0): cause}, price
        among = months([1_250, 1_270, 1_240, 1_250, price, 1_250, 1_260, 1_250], [1_300] * 8)
        assert list(flagged(among)) == [(1, 0, 5, price, 0)], price


def test_exchanged_digits_are_a_cause_of_their_own() -> None:
    assert flagged(months([1_490] * 4 + [4_190] + [1_490] * 4)) == {(1, 0, 5, 4_190, 0): "digit_swap"}
    assert flagged(months([1_000] * 4 + [100] + [1_000] * 4)) == {(1, 0, 5, 100, 0): "unit_slip"}


def test_prices_that_something_confirms_stay() -> None:
    for channels in (
        ([1_000] * 20 + [600] * 3,),
        ([1_000] * 10 + [200] + [1_000] * 10,),  # an offer of one day
        ([1_000] * 10 + [200] * 3 + [1_000] * 10,),
        ([200] * 10 + [1_000],),  # the end of an offer
        ([1_000] + [200] * 10,),
        ([9_000, 9_000] + [1_000] * 10,),  # the neighbour in time
        ([1_000] * 10 + [9_000] * 2,),
        ([1_000] * 5 + [9_000] + [1_000] * 5 + [9_000] + [1_000] * 5 + [9_000],),  # the level of other days
        ([2_500] * 3 + [250] + [2_500] * 4, [2_500] * 3 + [250] + [2_500] * 4),  # another channel on that day
        ([1_000] * 4 + [9_000] + [1_000] * 4, [9_500] * 9),  # another channel's level
        ([1_000, 500] * 10,),
        ([1_000] * 10, [1_500] * 10, [700] * 10),
        ([1_000] * 10, [10_500] * 10),
        ([1_000, 2_000, 4_000, 3_000, 1_500, 2_500, 5_000, 1_200],),
        ([1_000, 9_000],),
    ):
        assert flagged(months(*channels)) == {}, channels


def test_a_stated_list_price_confirms_a_reduction_and_the_price_after_it() -> None:
    deep = [1_000] * 10 + [120] + [1_000] * 10
    assert list(flagged(months(deep))) == [(1, 0, 11, 120, 0)]
    assert flagged(months(deep, listed=1_000)) == {}
    ended = [120] * 10 + [1_000]
    assert list(flagged(months(ended))) == [(1, 0, 11, 1_000, 0)]
    assert flagged(months(ended, listed=1_000)) == {}
    slipped = months([1_000] * 10 + [10] + [1_000] * 10, listed=1_000)
    assert list(flagged(slipped)) == [(1, 0, 11, 10, 1_000)], "no reduction is so deep"


def test_a_rise_for_a_day_is_contradicted_only_by_daily_prices_of_one_level() -> None:
    assert list(flagged(months([1_000] * 5 + [2_500] + [1_000] * 5))) == [(1, 0, 6, 2_500, 0)]
    for rows in (
        [(1, 0, 2 * day, price, 0) for _, _, day, price, _ in months([1_000] * 5 + [2_500] + [1_000] * 5)],
        months([1_000] * 5 + [2_500]),
        months([1_000] * 2 + [2_500] + [1_000] * 2),
        months([1_000] * 5 + [1_900] + [1_000] * 5),
    ):
        assert flagged(rows) == {}, rows


def test_a_channel_with_few_observations_is_compared_with_the_rest_of_the_item() -> None:
    rows = months([1_000, 1_000], [1_050], [1_100, 1_100], [9_999])
    assert list(flagged(rows)) == [(1, 3, 1, 9_999, 0)]


def test_neither_the_order_of_rows_nor_other_items_decide() -> None:
    random = np.random.default_rng(5)
    rows = [
        row
        for item in range(1, 60)
        for row in months(
            *random.choice((1_000, 1_000, 1_000, 1_000, 1_000, 1_050, 700, 10_000, 120), (3, 9)).tolist(), item=item
        )
    ]
    everything = flagged(rows)
    assert len(everything) > 20
    for _ in range(5):
        random.shuffle(rows)
        assert flagged(rows) == everything
    apart: dict[Row, str] = {}
    for item in range(1, 60):
        apart |= flagged([row for row in rows if row[0] == item])
    assert apart == everything


def test_nothing_is_no_outlier() -> None:
    empty: Array = np.empty(0, "i8")
    assert len(find(empty, empty, empty, empty, empty, "HKD").position) == 0


def prices_in(path: Path) -> Prices:
    return prices_of(csv_file(path, COLUMNS, optional=OPTIONAL).columns, "HKD")


def shop(folder: Path) -> Path:
    random = np.random.default_rng(2)
    lines = ["Product Code,Supermarket Code,date,Price,Offers"]
    for item in range(150):
        level = random.uniform(5, 300)
        for channel in ("A", "B", "C"):
            own = level * random.uniform(0.9, 1.1)
            lines += [f"P{item},{channel},2026-07-{day:02},{own:.2f}," for day in range(1, 15)]
    path = folder / "prices.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_of_usual_errors_planted_into_prices_nearly_all_are_found_and_little_else(tmp_path: Path) -> None:
    read = prices_in(shop(tmp_path))
    assert set(read.outliers(read.price)) == {b"-"}
    random = np.random.default_rng(1)
    rates = [rate / PER_US_DOLLAR["HKD"] for code, rate in PER_US_DOLLAR.items() if code not in ("HKD", "CNY")]
    errors = [0.01, 0.1, 10, 100, *rates, *PACKS, *(1 / pack for pack in PACKS if pack >= 8), 3.7, 1 / 8.6]
    wrong = random.random(len(read.price)) < 0.01
    changed = np.maximum(1, np.rint(read.price * random.choice(errors, len(wrong)))).astype("i8")
    found = read.outliers(np.where(wrong, changed, read.price)) != b"-"
    assert wrong.sum() > 40
    assert wrong[found].mean() >= 0.95
    assert found[wrong].mean() >= 0.9


def test_months_of_a_file_are_compared_each_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "months.csv"
    days = [f"P,A,2026-{month:02}-{day:02},{price}" for month, price in ((7, 5), (8, 50)) for day in range(1, 9)]
    path.write_text("\n".join(["item,channel,day,price", *days]) + "\n")
    read = prices_in(path)
    assert set(read.outliers(read.price)) == {b"-"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("item,channel,day\n1,A,2026-07-01\n", "`price`"),
        ("item,channel,day,price,Price\n1,A,2026-07-01,1,2\n", "more than one column `price`"),
        ("item,channel,day,price\n1,A,2026-07-01,x\n", "price"),
        ("item,channel,day,price\n1,A,tomorrow,1\n", "day"),
        ("item,channel,day,price\n1,A,2026-07-01,-1\n", "negative"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InvalidFile, match=says):
        CliRunner().invoke(cli, ["calc", "outliers", str(path)], catch_exceptions=False)


def test_a_currency_that_is_none_is_refused(tmp_path: Path) -> None:
    for currency, exit_code in (("jpy", 0), ("yen", 2)):
        called = ["calc", "outliers", str(shop(tmp_path)), "--currency", currency]
        assert CliRunner().invoke(cli, called).exit_code == exit_code, currency


# Rows of rollups are written in pieces that together are the same bytes.


ROWS = [("b", number, date(2026, 7, 1), "HKD", "l", 3, 2, 9, *([b"packed"] * 6)) for number in range(50)]


def test_pieces_of_any_size_are_the_same_bytes_and_no_row_is_in_two() -> None:
    [whole] = written(ROWS)
    [first] = written(ROWS[:1])
    for piece_bytes in (1, 300, 5_000):
        pieces = list(written(ROWS, piece_bytes))
        assert b"".join(pieces) == whole
        assert all(len(piece) % len(first) == 0 for piece in pieces)
        assert len(pieces) > 1


# Sorting by 16 bits at a time gives what sorting whole values gives, and keeps equal keys in their order.


_KEYS = st.lists(st.one_of(st.integers(0, 5), st.integers(0, 2**17), st.integers(0, 2**63 - 1)), max_size=60)


@pytest.mark.parametrize("kind", ["i8", "u8"])
@given(values=_KEYS)
def test_keys_are_sorted_and_equal_ones_stay_in_their_order(kind: str, values: list[int]) -> None:
    bits = max(values, default=0).bit_length()
    keys = np.array(values, kind)
    assert order_of(keys, bits).tolist() == sorted(range(len(values)), key=values.__getitem__)


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**40), st.integers(0, 2**30)), max_size=60),
    wide=st.booleans(),
)
def test_rows_are_ordered_by_several_keys(rows: list[tuple[int, int, int]], wide: bool) -> None:
    rows = [(group, price << 22 if wide else price >> 20, times) for group, price, times in rows]
    table = np.array(rows, "i8").reshape(-1, 3)
    order = order_by(table[:, 0], table[:, 1]).tolist()
    assert order == sorted(range(len(rows)), key=lambda n: rows[n][:2])


# What watched articles' newest prices and days are, beside a twin that goes through the rows one by one.


EPOCH = date(2000, 1, 1)

MONTHS_TOUCHED = (date(2025, 12, 1), date(2026, 1, 1), date(2026, 3, 1))

STRATA = (Stratum("HKD", "l"), Stratum("USD", "l"), Stratum("HKD", "L"), Stratum("HKD", "s"))

Row_touched = tuple[int, date, int]


def entries(month: date, rows: list[Row_touched]) -> Entries:
    item, day, price = (
        np.array(column, "i8") for column in zip(*((i, (d - month).days + 1, p) for i, d, p in rows), strict=True)
    )
    zeros = np.zeros(len(item), "i8")
    return Entries(item, day, zeros, price, zeros, zeros, zeros, zeros)


def drawn(random: Random) -> dict[date, dict[Stratum, list[Row_touched]]]:
    """Draw rows of ten items: mostly in their order, as loads bring them, sometimes not."""
    months: dict[date, dict[Stratum, list[Row_touched]]] = {}
    for month in MONTHS_TOUCHED:
        for stratum in random.sample(STRATA, random.randint(1, len(STRATA))):
            count = random.randint(1, 40)
            rows = [
                (random.randrange(10), month + timedelta(random.randrange(31)), random.randint(0, 20))
                for _ in range(count)
            ]
            months.setdefault(month, {})[stratum] = sorted(rows) if random.random() < 0.5 else rows
    return months


def newest(months: dict[date, dict[Stratum, list[Row_touched]]], watched: Watched) -> set[tuple[object, ...]]:
    found = set()
    for stratum in (stratum for stratum in STRATA if stratum.kind in "ls"):
        for owner, priced in zip(watched.owner.tolist(), watched.priced.tolist(), strict=True):
            of_item = [row[1:] for rows in months.values() for row in rows.get(stratum, ()) if row[0] == owner]
            if not priced or not of_item:
                continue
            last = max(day for day, _ in of_item)
            month = [(day, price) for day, price in of_item if day.replace(day=1) == last.replace(day=1)]
            before = min((price for day, price in month if day < last), default=-1)
            low = min(price for day, price in month if day == last)
            found.add((owner, stratum.kind, stratum.currency, last, low, before, min(month)[0]))
    return found


def absences(months: dict[date, dict[Stratum, list[Row_touched]]], watched: Watched) -> set[tuple[object, ...]]:
    found = set()
    for kind in "ls":
        for owner, absent in zip(watched.owner.tolist(), watched.absent.tolist(), strict=True):
            days = {
                day
                for by_stratum in months.values()
                for stratum, rows in by_stratum.items()
                for item, day, _ in rows
                if item == owner and stratum.kind.lower() == kind
            }
            if absent == NEVER:
                continue
            ordered = sorted(days)
            for before, day in zip([None, *ordered], ordered, strict=False):
                if before is None or (day - before).days > absent:
                    found.add((owner, kind, day, 0 if before is None else (day - before).days))
    return found


def _day(number: int) -> date:
    return EPOCH + timedelta(days=int(number))


def test_newest_prices_and_absences_are_those_of_a_twin() -> None:
    for seed in range(40):
        random = Random(seed)
        owners = sorted(random.sample(range(10), random.randint(1, 9)))
        absent = [random.choice([1, 5, 30, NEVER]) for _ in owners]
        priced = [random.random() < 0.6 for _ in owners]
        watched = Watched(np.array(owners, "i8"), np.array(priced), np.array(absent, "i8"))
        months = drawn(random)
        observed = WatchedMonths(watched, any_active=True)
        for month in random.sample(MONTHS_TOUCHED, len(MONTHS_TOUCHED)):
            observed.observe(month, {stratum: entries(month, rows) for stratum, rows in months.get(month, {}).items()})
        latest = [
            (
                int(r["owner"]),
                r["kind"].decode(),
                r["currency"].decode(),
                _day(r["day"]),
                int(r["low"]),
                int(r["before"]),
                _day(r["first"]),
            )
            for rows in observed.latest()
            for r in rows
        ]
        days = [
            (int(r["owner"]), r["kind"].decode(), _day(r["day"]), int(r["absence"]))
            for rows in observed.days()
            for r in rows
        ]
        assert len(latest) == len(set(latest)) and set(latest) == newest(months, watched), seed
        assert len(days) == len(set(days)) and set(days) == absences(months, watched), seed
        assert observed.months == set(MONTHS_TOUCHED), seed


def test_articles_are_watched_by_themselves_by_what_was_merged_into_them_by_brand_and_by_category() -> None:
    columns = {
        "item": [1, 2, 3, 4, 5],
        "owner": [1, 1, 3, 4, -1],
        "brand": [7, 7, 8, 8, 8],
        "category": [20, 20, 21, 22, 22],
    }
    items = Items(*(np.array(columns.get(name.removeprefix("old_"), [])) for name in Items._fields))
    rows = LAYOUT.blank(5)
    said = [(b"a", 2, 0), (b"a", 2, 40), (b"b", 8, 30), (b"c", 22, 10), (b"a", 99, 0)]
    rows["scope"], rows["id"], rows["absent"] = zip(*said, strict=True)
    watched = Watched.among(items, rows)
    assert [column.tolist() for column in watched] == [[1, 3, 4], [True, False, False], [40, 30, 10]]
    assert [len(column) for column in Watched.among(items, LAYOUT.blank(0))] == [0, 0, 0]
