"""Aggregates of elementary indices by fixed weights over a tree, with missing ones imputed from their parents. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shared.price_index.panel import Floats, Ints, Mask


@dataclass(frozen=True)
class Hierarchy:
    """A tree of aggregates. `parent` are the positions of parents, -1 for the root, each before its children.

    `weight` of each counts among the children of its parent, in prices of the price reference period.
    """

    codes: tuple[str, ...]
    parent: Ints
    weight: Floats

    @property
    def is_leaf(self) -> Mask:
        """Return which have no children: those of which there are elementary indices."""
        leaf = np.ones(len(self.parent), bool)
        leaf[self.parent[1:]] = False
        return leaf

    def levels_up(self) -> list[Ints]:
        """Return the positions of each depth of the tree, the deepest first, without the root."""
        depth = np.zeros(len(self.parent), "i8")
        for place, parent in enumerate(self.parent[1:].tolist(), 1):
            depth[place] = depth[parent] + 1
        return [np.flatnonzero(depth == level) for level in range(int(depth.max()), 0, -1)]

    def sum_children(self, values: Floats) -> Floats:
        """Return for each node the sum of its children's values, 0 where it has none."""
        sums: Floats = np.bincount(self.parent[1:], values[1:], len(values)).astype("f8")
        return sums


@dataclass(frozen=True)
class Elementary:
    """Elementary indices, each of shape (periods, nodes of the tree); only those of leaves are read.

    `relative` is the change of prices since the period at position `since`, NaN where it is unknown. The first period
    is the price reference period, in which every index is 1.
    """

    relative: Floats
    since: Ints


@dataclass(frozen=True)
class AggregatedIndices:
    """The index of each node in each period, the first at 1, and where it is imputed; of shape (periods, nodes).

    NaN from the first period on in which no elementary index is known.
    """

    index: Floats
    imputed: Mask


def aggregate(tree: Hierarchy, elementary: Elementary) -> AggregatedIndices:
    """Return the indices of a tree with fixed weights: Lowe's, or Young's where the weights were not price-updated.

    The index of a parent is the sum of its children's weights times their indices, by the sum of the weights. A child
    whose index is unknown in a period changes since the period before as its parent does over the children whose index
    is known; a parent that knows none changes as its own parent does. ILO et al., *Consumer Price Index Manual:
    Concepts and Methods* (2020), chapters 6 (imputation by the class mean) and 8 (Lowe and Young).
    """
    periods, nodes = elementary.relative.shape
    index, imputed = np.full((periods, nodes), np.nan), np.zeros((periods, nodes), bool)
    index[0] = 1.0
    is_leaf, levels = tree.is_leaf, tree.levels_up()
    columns = np.arange(nodes)
    for period in range(1, periods):
        before = index[period - 1]
        now = np.where(is_leaf, index[elementary.since[period], columns] * elementary.relative[period], np.nan)
        costs = np.zeros(nodes), np.zeros(nodes)  # of the known children, now and in the period before
        for level in levels:
            known = level[~np.isnan(now[level])]
            for cost, prices in zip(costs, (now, before), strict=True):
                np.add.at(cost, tree.parent[known], tree.weight[known] * prices[known])
            parents = np.unique(tree.parent[known])
            now[parents] = before[parents] * costs[0][parents] / costs[1][parents]
        imputed[period] = np.isnan(now)
        if imputed[period, 0]:  # nothing links this period, and so no later one, to the price reference period
            imputed[period:] = True
            break
        for level in reversed(levels):
            missing = level[np.isnan(now[level])]
            parents = tree.parent[missing]
            now[missing] = before[missing] * now[parents] / before[parents]
        index[period] = now
    return AggregatedIndices(index, imputed)


def contributions(tree: Hierarchy, index: Floats, before: Floats) -> Floats:
    """Return what each node contributes to its parent's relative change between two periods; the root's own change.

    It is the change of its weight times its index, by what all children of its parent cost in the earlier period, so
    that the contributions of the children add up to the change of their parent.
    """
    costs = tree.sum_children(tree.weight * before)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: Floats = tree.weight * (index - before) / costs[tree.parent]
        shares[0] = index[0] / before[0] - 1
    return shares


def round_to_sum(parts: Sequence[float], total: int) -> list[int]:
    """Round numbers to whole ones that add up to `total`, the rounded sum: each differs by less than one.

    All are rounded down; those with the largest remainders, the first of equal ones, are then raised by one (the
    method of largest remainders).
    """
    floors = [int(np.floor(part)) for part in parts]
    order = sorted(range(len(parts)), key=lambda place: (floors[place] - parts[place], place))
    for place in order[: total - sum(floors)]:
        floors[place] += 1
    return floors
