"""Outliers: which prices are set aside, and that nothing but the observations decides it."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from deploy.ctl.csv_file import csv_file
from deploy.ctl.main import cli
from shared.analytics.outliers import CAUSES, PER_US_DOLLAR
from shared.errors import InvalidFile
from workers.analytics.rollups.arrays import Array
from workers.analytics.rollups.outlier_causes import PACKS
from workers.analytics.rollups.outliers import find
from workers.analytics.rollups.price_file import COLUMNS, OPTIONAL, Prices, prices_of

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


def test_a_rise_over_two_regular_prices_is_contradicted_where_the_channel_states_its_reductions() -> None:
    weekly = [(1, 0, 6 * day - 5, price, 0) for day, price in enumerate([1_000, 1_000, 2_500, 1_000], 1)]
    reduced = (1, 0, 25, 800, 1_000)
    assert list(flagged([*weekly, reduced])) == [weekly[2]]
    assert flagged([*weekly, (1, 0, 25, 800, 0)]) == {}
    assert flagged([*weekly, (1, 1, 25, 800, 1_000)]) == {}, "another channel says nothing of this one's habits"
    offers = [(1, 0, 6 * day - 5, 1_000, 2_500) for day in (1, 2, 4)]
    assert flagged([*offers, weekly[2]]) == {}, "the regular price between two offers"


def test_exchanged_digits_of_the_prices_before_and_after_contradict_a_rise_that_is_not_seen_daily() -> None:
    def weekly(price: int) -> list[Row]:
        return [(1, 0, 6 * day - 5, one, 0) for day, one in enumerate([1_290, 1_290, price, 1_290, 1_290], 1)]

    assert flagged(weekly(2_190)) == {}, "not twice as high"
    swapped = [(1, 0, 6 * day - 5, one, 0) for day, one in enumerate([1_990, 1_990, 9_190, 1_990, 1_990], 1)]
    assert flagged(swapped) == {swapped[2]: "digit_swap"}
    assert flagged([(*row[:3], 9_091 if row == swapped[2] else row[3], 0) for row in swapped]) == {}


def test_a_price_far_above_all_others_of_its_item_is_contradicted_if_they_are_many_and_of_two_channels() -> None:
    weekly = [(1, 0, 7 * day + 1, price, 0) for day, price in enumerate([1_000, 600, 3_000, 600])]
    others = [(1, 1, 7 * day + 3, 1_000, 0) for day in range(2)]
    more = [*others, (1, 2, 5, 900, 0), (1, 2, 25, 900, 0)]
    assert flagged([*weekly, *more]) == {weekly[2]: "wrong_pack"}
    for rows in (
        [*weekly, *others],  # all of them may be of the same offers
        [*weekly, *more, (1, 2, 12, 2_800, 0)],
        [*weekly, *more, (1, 1, 29, 1_700, 0)],
        [weekly[2], *more, *((1, 2, day, 900, 0) for day in (26, 27))],  # a dear shop, seen once
        [(1, 0, *row[2:]) for row in [*weekly, *more]],
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
