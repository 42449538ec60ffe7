"""Aggregation by fixed weights equals the kept values of piar (Steve Martin, MIT), and contributions add up.

Prices, weights and expected values are those of `ms_prices`, `fs_prices` and `tests/testthat/test-aggregate.R` of
piar 0.9.0.9004, https://github.com/marberts/piar.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from shared.price_index.aggregation import Elementary, Hierarchy, aggregate, contributions, round_to_sum
from shared.price_index.panel import Floats

NAN = math.nan
Price = tuple[str, str, float, float]
"""An elementary aggregate, a product of it, its price and its weight within the elementary aggregate."""
MATCHED_SAMPLE = [
    {"B1": {1: 1.14, 2: NAN, 3: 6.09}, "B2": {4: 6.23, 5: 8.61, 6: 6.4}, "B3": {7: 0.09, 8: 2.33, 9: 6.66, 10: 5.14}},
    {"B1": {2: 6.94, 3: 5.45}, "B2": {4: NAN, 5: NAN, 6: NAN}, "B3": {7: 8.37, 8: 2.86, 9: 2.67, 10: 1.87}},
    {
        "B1": {2: 2.32, 3: NAN},
        "B2": {4: 3.03, 5: 1.59, 6: 0.4},
        "B3": {7: 2.19, 8: 8.11, 9: 5.26, 10: 9.15},
        "B4": {11: 8.31, 12: 0.46},
    },
    {
        "B1": {3: NAN},
        "B2": {4: 2.65, 5: 3.05, 6: 5.07},
        "B3": {7: 1.81, 8: 7.6, 9: 2.01, 10: 2.59},
        "B4": {11: 9.92, 12: 8.07},
    },
]
MATCHED_TREE = [
    ("1", "", NAN),
    ("11", "1", NAN),
    ("12", "1", NAN),
    ("B1", "11", 553.0),
    ("B2", "11", 646.0),
    ("B3", "11", 312.0),
    ("B4", "12", 622.0),
    ("B5", "12", 330.0),
]
MATCHED_INDEX = """
1 1 1 1 1 1 1 1
1.30072391107879 1.30072391107879 1.30072391107879 0.894909688013136
1.30072391107879 2.02000360773041 1.30072391107879 1.30072391107879
1.06307432720167 1.06307432720167 1.06307432720167 0.334293948126801
1.06307432720167 1.63533549062897 1.06307432720167 1.06307432720167
2.73476132776126 1.57451535678038 4.57628618296306 1.57451535678038
2.77045633390764 0.537995998322608 4.57628618296306 4.57628618296306"""
FIXED_SAMPLE = [
    [5.02, NAN, 4.85, 2.44, 7.65, 0.74, 3.1, 7.17, 5.05, 1.53, 5.04],
    [4.94, 7.51, 1.75, 8.48, 8.65, 0.42, 3.17, 0.14, NAN, NAN, 3.08],
    [NAN, NAN, NAN, 0.52, 5.65, 1.21, 8.93, 0.15, 7.83, 0.9, 5.19],
    [NAN, NAN, 3.84, 0.7, 3.21, 6.68, 9.26, 4.72, 1.43, 5.44, NAN],
]
FIXED_CLASSES = ("111", "111", "112", "112", "112", "112", "121", "121", "122", "122", "131")
FIXED_WEIGHTS = (899, 389, 311, 160, 896, 166, 900, 134, 132, 105, 512)
FIXED_TREE = [
    ("1", "", NAN),
    ("11", "1", NAN),
    ("12", "1", NAN),
    ("13", "1", NAN),
    ("111", "11", 300.0),
    ("112", "11", 27.0),
    ("121", "12", 310.0),
    ("122", "12", 742.0),
    ("131", "13", 35.0),
]
FIXED_INDEX = """
1 1 1 1 1 1 1 1 1
0.687039919074495 0.935841069334005 0.612229588412764 0.611111111111111 0.935841069334005 0.935841069334005
0.612229588412764 0.612229588412764 0.611111111111111
2.45961303155833 2.45961303155833 2.48533513976043 1.68506493506494 2.45961303155833 2.45961303155833
2.48533513976043 2.48533513976043 1.68506493506494
1.08265987174601 1.08265987174601 1.08265987174601 1.08265987174601 1.08265987174601 1.08265987174601
1.61372443582219 0.860786536350297 1.08265987174601"""


def tree_of(rows: Iterable[tuple[str, str, float]]) -> Hierarchy:
    """Return a tree whose inner weights are the sums of those below them."""
    rows = list(rows)
    place = {code: number for number, (code, _, _) in enumerate(rows)}
    parent = np.array([place.get(above, -1) for _, above, _ in rows])
    weight = np.array([own for _, _, own in rows])
    for number in reversed(range(len(rows))):
        if math.isnan(weight[number]):
            weight[number] = weight[parent == number].sum()
    return Hierarchy(tuple(place), parent, weight)


def geometric(tree: Hierarchy, periods: Sequence[Iterable[Price]], *, skip_missing: bool) -> Elementary:
    """Return the geometric means of the products' relatives to the period before, as `elementary_index` of piar does."""
    relative = np.full((len(periods), len(tree.codes)), NAN)
    prices = [{(code, product): (price, weight) for code, product, price, weight in one} for one in periods]
    for number, (before, now) in enumerate(pairwise(prices), 1):
        logs: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for key, (price, weight) in now.items():
            logs[key[0]].append((math.log(price / before[key][0]) if key in before else NAN, weight))
        for code, pairs in logs.items():
            kept = [(log, weight) for log, weight in pairs if not (skip_missing and math.isnan(log))]
            if kept:
                mean = sum(log * weight for log, weight in kept) / sum(weight for _, weight in kept)
                relative[number, tree.codes.index(code)] = math.exp(mean)
    return Elementary(relative, np.repeat(np.arange(-1, len(periods) - 1)[:, None], len(tree.codes), axis=1))


def period_on_period(index: Floats) -> Floats:
    return np.vstack([index[:1], index[1:] / index[:-1]])


def kept(text: str, nodes: int) -> Floats:
    return np.array(text.split(), float).reshape(-1, nodes)


def matched_sample() -> tuple[Hierarchy, Elementary]:
    tree = tree_of(MATCHED_TREE)
    periods = [
        [(code, str(name), price, 1.0) for code, prices in one.items() for name, price in prices.items()]
        for one in MATCHED_SAMPLE
    ]
    return tree, geometric(tree, periods, skip_missing=True)


def fixed_sample() -> tuple[Hierarchy, Elementary]:
    tree = tree_of(FIXED_TREE)
    listed = list(zip(FIXED_CLASSES, map(str, range(11)), FIXED_WEIGHTS, strict=True))
    left = [
        [(code, name, price, float(weight)) for (code, name, weight), price in zip(listed, prices, strict=True)]
        for prices in FIXED_SAMPLE[:2]
    ]
    right = [
        [(code, name, price, float(weight)) for (code, name, weight), price in zip(listed[2:], prices, strict=True)]
        for prices in (FIXED_SAMPLE[2][2:], FIXED_SAMPLE[3][2:])
    ]
    return tree, geometric(tree, left + right, skip_missing=False)


def test_all_of_a_matched_sample_is_as_piar_kept_it() -> None:
    tree, elementary = matched_sample()
    found = period_on_period(aggregate(tree, elementary).index)
    assert found == pytest.approx(kept(MATCHED_INDEX, 8), rel=1e-13)
    assert found.size == 32


def test_all_of_a_fixed_sample_is_as_piar_kept_it() -> None:
    tree, elementary = fixed_sample()
    found = period_on_period(aggregate(tree, elementary).index)
    assert found == pytest.approx(kept(FIXED_INDEX, 9), rel=1e-13)
    assert found.size == 36


def test_what_is_missing_changes_as_its_parent_and_is_marked() -> None:
    tree, elementary = matched_sample()
    found = aggregate(tree, elementary)
    place = tree.codes.index
    assert [tree.codes[node] for node in np.flatnonzero(found.imputed[3])] == ["B1", "B5"]
    assert [tree.codes[node] for node in np.flatnonzero(found.imputed[1])] == ["12", "B2", "B4", "B5"]
    changes = period_on_period(found.index)
    for period, child, parent in ((1, "B2", "11"), (3, "B5", "12"), (1, "12", "1"), (1, "B5", "1")):
        assert changes[period, place(child)] == pytest.approx(changes[period, place(parent)], rel=1e-14)


def test_prices_that_return_correct_what_was_imputed() -> None:
    """Tea has no price in the second period; in the third it has doubled since the first, whatever was imputed."""
    tree = tree_of([("all", "", NAN), ("tea", "all", 1.0), ("rice", "all", 3.0)])
    relative = np.array([[NAN, NAN, NAN], [NAN, NAN, 1.5], [NAN, 2.0, 1.0]])
    since = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1]])
    found = aggregate(tree, Elementary(relative, since))
    assert found.index.tolist() == [[1, 1, 1], [1.5, 1.5, 1.5], [1.625, 2.0, 1.5]]
    assert found.imputed.tolist() == [[False] * 3, [False, True, False], [False] * 3]


def test_nothing_is_known_where_no_elementary_index_is() -> None:
    tree = tree_of([("all", "", NAN), ("tea", "all", 1.0)])
    found = aggregate(tree, Elementary(np.full((2, 2), NAN), np.zeros((2, 2), "i8")))
    assert np.isnan(found.index[1]).all()


@pytest.mark.parametrize("seed", range(20))
def test_an_index_is_the_cost_of_a_fixed_basket_and_contributions_add_up(seed: int) -> None:
    """A complete world: the root is what all weights buy by what they cost (Lowe), however deep the tree is."""
    chance = Random(seed)
    rows = [("0", "", NAN)]
    for number in range(1, 30):
        rows.append((str(number), str(chance.randrange(number)), NAN))
    parents = {parent for _, parent, _ in rows}
    tree = tree_of((code, parent, NAN if code in parents else chance.uniform(1, 99)) for code, parent, _ in rows)
    relative = np.array([[chance.uniform(0.5, 2) for _ in rows] for _ in range(6)])
    since = np.repeat(np.arange(-1, 5)[:, None], len(rows), axis=1)
    index = aggregate(tree, Elementary(relative, since)).index
    levels = np.vstack([np.ones(len(rows)), np.cumprod(relative[1:], axis=0)])
    leaf = tree.is_leaf
    assert index[:, 0] == pytest.approx((levels[:, leaf] @ tree.weight[leaf]) / tree.weight[leaf].sum(), rel=1e-12)
    for before, now in ((0, 5), (2, 3)):
        shares = contributions(tree, index[now], index[before])
        changes = index[now] / index[before] - 1
        for parent in np.unique(tree.parent[1:]):
            assert shares[tree.parent == parent].sum() == pytest.approx(changes[parent], abs=1e-12)


@pytest.mark.parametrize(
    ("parts", "total", "rounded"),
    [
        ([1.4, 1.4, 1.4], 4, [2, 1, 1]),
        ([-1.5, 2.6, -0.9], 0, [-2, 3, -1]),
        ([0.5, 0.5], 1, [1, 0]),
        ([2.9999999999, 1.0000000001], 4, [3, 1]),
        ([], 0, []),
    ],
)
def test_rounded_parts_add_up_to_the_rounded_sum(parts: list[float], total: int, rounded: list[int]) -> None:
    assert round_to_sum(parts, total) == rounded
    assert sum(rounded) == total
    assert all(abs(whole - part) < 1 for whole, part in zip(rounded, parts, strict=True))
