"""Outliers: which prices are set aside, and that nothing but the observations decides it."""

from pathlib import Path

import numpy as np
import pytest

from shared.analytics.outliers import CAUSES
from shared.errors import InvalidFile
from tests.perf import outlier_trial
from workers.analytics.rollups import outlier_file
from workers.analytics.rollups.codec import Array
from workers.analytics.rollups.outliers import find

Row = tuple[int, int, int, int]  # item, channel, day, price


def months(*channels: list[int], item: int = 1) -> list[Row]:
    """Make an observation a day: a list of prices for each channel."""
    return [(item, n, day, price) for n, prices in enumerate(channels) for day, price in enumerate(prices, 1)]


def flagged(rows: list[Row], currency: str = "HKD") -> dict[Row, str]:
    found = find(*np.array(rows, "i8").reshape(len(rows), 4).T, currency)
    return {
        rows[place]: CAUSES[letter.decode()] for place, letter in zip(found.position.tolist(), found.cause, strict=True)
    }


@pytest.mark.parametrize(
    ("price", "cause"),
    [
        (10_000, "digit_shift"),
        (100_000, "digit_shift"),
        (100, "digit_shift"),
        (10, "digit_shift"),
        (7_800, "currency"),
        (128, "currency"),
        (6_000, "unit_price"),
        (83, "unit_price"),
        (2_600, "neighbours"),
        (0, "neighbours"),
    ],
)
def test_a_single_wrong_price_is_set_aside_with_its_likely_cause(price: int, cause: str) -> None:
    alone = months([1_000, 1_020, 990, price, 1_000, 1_010, 1_000])
    assert flagged(alone) == {(1, 0, 4, price): cause}
    among = months([1_000, 1_020, 990, price, 1_000, 1_010, 1_000], [1_050] * 7)
    assert list(flagged(among)) == [(1, 0, 4, price)]


@pytest.mark.parametrize(
    "channels",
    [
        ([1_000] * 20 + [600] * 3,),
        ([1_000] * 20 + [550],),
        ([2_500, 2_500, 1_000, 2_500, 2_500, 2_500, 2_500], [2_500, 2_500, 1_000, 2_500, 2_500, 2_500, 2_500]),
        ([1_000, 500] * 10,),
        ([1_000] * 10 + [400] * 10,),
        ([1_000] * 10, [1_500] * 10, [700] * 10),
        ([1_000, 2_000, 4_000, 3_000, 1_500, 2_500, 5_000, 1_200],),
        ([1_000, 9_000],),
    ],
    ids=["promotion", "half", "two-channels", "alternating", "new-level", "dear-and-cheap", "volatile", "too-few"],
)
def test_prices_that_others_explain_stay(channels: tuple[list[int], ...]) -> None:
    assert flagged(months(*channels)) == {}


def test_a_channel_that_is_wrong_on_all_days_is_contradicted_by_the_others() -> None:
    rows = months([1_000] * 10, [1_100] * 10, [10_500] * 10)
    assert set(flagged(rows)) == {row for row in rows if row[1] == 2}
    often = months([1_000] * 5, [1_100] * 5, [10_500] * 20)
    assert set(flagged(often)) == {row for row in often if row[1] == 2}, "however often it says so itself"
    assert flagged(months([1_000] * 10, [10_500] * 10)) == {}  # of two channels nothing says which is wrong


def test_a_channel_with_few_observations_is_compared_with_the_rest_of_the_item() -> None:
    rows = months([1_000, 1_000], [1_050], [1_100, 1_100], [9_999])
    assert list(flagged(rows)) == [(1, 3, 1, 9_999)]


def test_neither_the_order_of_rows_nor_other_items_decide() -> None:
    random = np.random.default_rng(5)
    rows = [
        row
        for item in range(1, 60)
        for row in months(*random.choice((1_000, 1_000, 1_000, 1_050, 700, 10_000, 120), (3, 9)).tolist(), item=item)
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
    assert len(find(empty, empty, empty, empty, "HKD").position) == 0


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


def test_a_trial_finds_what_it_planted_and_says_so(tmp_path: Path) -> None:
    read = outlier_file.read(shop(tmp_path), {}, "HKD")
    assert set(read.outliers(read.price)) == {b"-"}
    planted = outlier_trial.plant(read.price, "HKD", 0.01, 1)
    score = outlier_trial.score(read.outliers(planted.price), planted.error)
    assert score.errors == (planted.price != read.price).sum() > 40
    assert set(score.recall_by_error) == {"digit_shift", "currency", "unit_price", "neighbours"}
    assert score.precision is not None
    assert score.recall is not None
    assert score.precision >= 0.95
    assert score.recall >= 0.9
    again = outlier_trial.plant(read.price, "HKD", 0.01, 1)
    assert (again.price == planted.price).all()
    missed = outlier_trial.score(np.full(len(read.price), b"-", "S1"), planted.error)
    assert (missed.precision, missed.recall) == (None, 0.0)


def test_months_of_a_file_are_compared_each_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "months.csv"
    days = [f"P,A,2026-{month:02}-{day:02},{price}" for month, price in ((7, 5), (8, 50)) for day in range(1, 9)]
    path.write_text("\n".join(["item,channel,day,price", *days]) + "\n")
    read = outlier_file.read(path, {}, "HKD")
    assert set(read.outliers(read.price)) == {b"-"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("item,channel,day\n1,A,2026-07-01\n", "`price`"),
        ("item,channel,day,price\n1,A,2026-07-01,x\n", "price"),
        ("item,channel,day,price\n1,A,tomorrow,1\n", "day"),
        ("item,channel,day,price\n1,A,2026-07-01,-1\n", "negative"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InvalidFile, match=says):
        outlier_file.read(path, {}, "HKD")
