"""The rule of outliers, and the same rule written for `make truth` without a line of it, agree in simulated markets."""

import random
from collections import defaultdict
from datetime import date, timedelta

import numpy as np
import pytest

from tests.assurance.truth.outliers import Observed, outliers
from tests.unit.workers.analytics.rollups.test_outliers_of_markets import market, slip


@pytest.mark.parametrize("every", [1, 3, 7])
def test_both_find_the_same_outliers(every: int) -> None:
    chance = random.Random(every)
    honest = market(chance, 400, every)
    price = np.array([slip(chance, one) if chance.random() < 0.03 else one for one in honest.price.tolist()])
    wrong = honest._replace(price=price)
    places: dict[int, list[int]] = defaultdict(list)
    for place, item in enumerate(wrong.item.tolist()):
        places[item].append(place)
    expected = np.zeros(len(price), bool)
    for of_item in places.values():
        rows = [
            Observed(str(channel), date(2026, 6, 30) + timedelta(days=day), price, listed)
            for channel, day, price, listed in zip(*(column[of_item].tolist() for column in wrong[1:]), strict=True)
        ]
        expected[of_item] = outliers(rows)
    assert expected.sum() > 50
    assert np.array_equal(wrong.outliers(), expected)
