"""Outliers in simulated markets whose truth is known: offers stay, planted errors are found."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from deploy.ctl.csv_file import csv_file
from workers.analytics.rollups.arrays import Array
from workers.analytics.rollups.outliers import find
from workers.analytics.rollups.price_file import COLUMNS, OPTIONAL, prices_of

DAYS = 31


class Market(NamedTuple):
    """A month of observations, a column each; list prices are 0 where none is stated."""

    item: Array
    channel: Array
    day: Array
    price: Array
    list_price: Array

    def outliers(self) -> Array:
        found = np.zeros(len(self.item), bool)
        found[find(*self, "HKD").position] = True
        return found


def offers(chance: random.Random) -> list[float]:
    """Return by day the share of the regular price that is asked: offers of 1 to 28 days, −20 to −80 %."""
    shares = [1.0] * (DAYS + 28)
    day = chance.randint(0, 40)
    while day < len(shares):
        length, share = chance.randint(1, 28), chance.uniform(0.2, 0.8)
        shares[day : day + length] = [share] * len(shares[day : day + length])
        day += length + chance.randint(3, 60)
    return shares[28:][:DAYS]


def market(chance: random.Random, items: int, every: int = 1) -> Market:
    """Draw items of one to five shops, observed `every` so many days, one day in ten missing.

    Half of the items state list prices, and in a third all shops have the same offers. Prices drift by steps of a few
    percent.
    """
    rows = []
    for item in range(items):
        level, states = regular_price(chance), chance.random() < 0.5
        common = offers(chance) if chance.random() < 0.3 else None
        for channel in range(chance.randint(1, 5)):
            shares, own = common or offers(chance), level * chance.lognormvariate(0, 0.1)
            for day in range(chance.randrange(every), DAYS, every):
                own *= chance.lognormvariate(0, 0.08) if chance.random() < 0.03 else 1.0
                regular = max(1, round(own))
                price = max(1, round(regular * shares[day]))
                if chance.random() < 0.9:
                    rows.append((item, channel, day + 1, price, regular if states and price < regular else 0))
    return Market(*np.array(rows, "i8").T)


def regular_price(chance: random.Random) -> float:
    """Return a regular price in cents, from 1.50 to 300."""
    return 150 * 200 ** chance.random()


def slip(chance: random.Random, price: int) -> int:
    """Return a price as a usual error makes it."""
    digits = str(price)
    swapped = [int(digits[:n] + digits[n + 1] + digits[n] + digits[n + 2 :]) for n in range(len(digits) - 1)]
    errors: list[Callable[[], float]] = [
        lambda: price * chance.choice((0.01, 0.1, 10, 100)),
        lambda: price * chance.choice((7.8, 1 / 7.8, 150 / 7.8, 7.8 / 0.9)),
        lambda: max(swapped, default=price),
        lambda: price * chance.choice((2, 3, 4, 6, 8, 12, 24)),
        lambda: price * chance.choice((chance.uniform(2.2, 60), 1 / chance.uniform(8, 60))),
    ]
    return max(1, round(chance.choice(errors)()))


@pytest.mark.parametrize("every", [1, 2, 7])
def test_no_offer_is_set_aside(every: int) -> None:
    """In a market of weekly prices, a regular price can be the only one of its item that is not of an offer."""
    honest = market(random.Random(every), 1_500 * every, every)
    highest = np.zeros(honest.item.max() + 1, "i8")
    np.maximum.at(highest, honest.item, honest.price)
    outliers = honest.outliers()
    assert np.all(honest.price[outliers] == highest[honest.item[outliers]])
    assert outliers.mean() <= (0.0001 if every == 7 else 0)


@pytest.mark.parametrize(("every", "least"), [(1, 0.97), (2, 0.95), (3, 0.95), (7, 0.95)])
def test_nearly_all_usual_errors_are_found_however_often_prices_are_seen(every: int, least: float) -> None:
    """An error that leaves the price among the item's offers and regular prices cannot be distinguished from them."""
    chance = random.Random(every + 10)
    honest = market(chance, 2_500 * every, every)
    planted = np.array([chance.random() < 0.01 for _ in honest.item])
    price = honest.price.copy()
    price[planted] = [slip(chance, one) for one in honest.price[planted].tolist()]
    place = np.unique(np.stack([honest.item, honest.channel]), axis=1, return_inverse=True)[1]
    low, high = np.full(place.max() + 1, 10**9), np.zeros(place.max() + 1, "i8")
    np.minimum.at(low, place, honest.price)
    np.maximum.at(high, place, honest.price)
    outside = planted & ((price > 2 * high[place]) | (price < low[place] / 7.2))
    found = honest._replace(price=price).outliers()
    assert outside.sum() > 200
    assert found[outside].mean() >= least
    assert found[~planted].mean() <= 0.0001


@pytest.mark.parametrize(("every", "least"), [(2, 0.95), (7, 0.85)])
def test_gross_errors_are_found_in_prices_of_some_days_too(every: int, least: float) -> None:
    chance = random.Random(every)
    honest = market(chance, 1_500, every)
    planted = np.array([chance.random() < 0.005 for _ in honest.item])
    price = honest.price.copy()
    price[planted] = np.maximum(1, [round(p * chance.choice((0.01, 10, 24, 100))) for p in price[planted].tolist()])
    planted &= price != honest.price
    found = honest._replace(price=price).outliers()
    assert found[planted].mean() >= least
    assert found[~planted].mean() <= 0.001


def test_of_the_demonstration_one_price_is_an_outlier() -> None:
    """A face wash for 150.00 on one day, at 69.00 on the days around it and in three other shops on all days."""
    path = Path(__file__).parents[5] / "deploy" / "demo" / "data" / "hk_pricewatch.csv.gz"
    read = csv_file(path, COLUMNS, (), OPTIONAL, whole=True)
    prices = prices_of(read.columns, "HKD")
    letters = prices.outliers(prices.price)
    [row] = read.rows.take(np.flatnonzero(letters != b"-")).to_pylist()
    assert (row["Product Code"], row["Supermarket Code"], row["date"]) == ("P000003204", "MANNINGS", "2026-07-17")
    assert (row["Price"], set(letters.tolist())) == ("150.00", {b"-", b"o"})
