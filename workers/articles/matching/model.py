"""The model of likeness: boosted trees as JSON, read and applied with numpy alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.errors import ItemIndexError

_SHIPPED = Path(__file__).with_name("model.json")
Array = NDArray[Any]
ANOTHER_MODEL = (
    "use another one by `itemindex matches models --use`, or train one by `itemindex matches train --activate`"
)
# The leaves of a tree are the bits of a number.
_LEAVES_MAX = 64
# Rows are judged in blocks of this many, which fit into the processor's cache.
_BLOCK = 2_000


class UnusableModel(ItemIndexError):
    """A file is no model, or one for other features."""


@dataclass(frozen=True, slots=True)
class DecisionTree:
    """One tree as parallel lists. Node 0 is the root; a leaf has `left` 0 and its log-odds in `value`."""

    feature: list[int]
    threshold: list[float]
    missing_left: list[bool]
    left: list[int]
    right: list[int]
    value: list[float]


@dataclass(frozen=True)
class Model:
    """Trees whose leaves add up to log-odds, and bounds of the probability.

    From `link` on a pair is linked without a person, and from `link_coded` on where both have one model number, if more
    than the likeness of their names confirms it. From `link_learned` on, which decisions on the same records support,
    nothing needs to confirm it. Offers that have copies, as on marketplaces, are linked from `link_offers` on; never
    without a person where it is None. From `review` on a pair waits for a person; below it is nothing.
    """

    features: tuple[str, ...]
    baseline: float
    trees: tuple[DecisionTree, ...]
    link: float
    link_coded: float
    review: float
    link_learned: float | None = None
    link_offers: float | None = None

    @classmethod
    def read(cls, path: Path) -> "Model":
        """Read a model file. Raises UnusableModel for any other file."""
        try:
            return cls.decoded(path.read_bytes())
        except (OSError, UnusableModel) as error:
            raise UnusableModel(f"{path} is no model file: {error}") from None

    @classmethod
    def decoded(cls, text: bytes) -> "Model":
        """Parse a model from JSON. Raises UnusableModel where it is not one, or where its trees cannot be followed."""
        try:
            return _check(msgspec.json.decode(text, type=cls))
        except msgspec.DecodeError as error:
            raise UnusableModel(f"the model cannot be read ({error}): {ANOTHER_MODEL}") from None

    @classmethod
    @cache
    def shipped(cls) -> "Model":
        """Return the model that comes with the program, which was trained on invented items."""
        return cls.read(_SHIPPED)

    def write(self, path: Path) -> None:
        """Write the model; the same model gives the same bytes."""
        path.write_bytes(self.encoded() + b"\n")

    def encoded(self) -> bytes:
        """Return the model as JSON; the same model gives the same bytes."""
        return msgspec.json.encode(self)

    def with_bounds(
        self, *, link: float, link_coded: float, review: float, link_learned: float | None = None
    ) -> "Model":
        """Return the model with other bounds."""
        return replace(self, link=link, link_coded=link_coded, review=review, link_learned=link_learned)

    def probabilities(self, features: Array, known: Array | None = None) -> Array:
        """Return the probability of each row of features, in the order of `self.features`.

        With `known`, the columns that are filled so far, it is the highest one that a row can have, whatever the other
        columns will be.
        """
        columns = range(len(self.features)) if known is None else np.flatnonzero(known).tolist()
        odds = np.empty(len(features))
        for at in range(0, len(features), _BLOCK):
            odds[at : at + _BLOCK] = self._forest.greatest(features[at : at + _BLOCK], columns)
        probabilities: Array = 1 / (1 + np.exp(-odds))
        return probabilities

    @cached_property
    def _forest(self) -> "_Forest":
        return _Forest(self.baseline, self.trees)


class _Forest:
    """The trees of a model, ready for many rows: each value of a feature rules out some leaves of some trees.

    The leaves of a tree are the bits of a number, the one with the greatest value first. For each feature there is a
    table with a row for each of its trees and a column for each interval between its thresholds, the last one for a
    value that is missing: the leaves that remain.
    """

    def __init__(self, baseline: float, trees: Sequence[DecisionTree]) -> None:
        most = max((tree.left.count(0) for tree in trees), default=1)
        self._baseline, self._values, self._all = baseline, np.zeros((len(trees), most)), (1 << most) - 1
        self._kind = np.min_scalar_type(self._all)
        cuts: dict[int, list[_Cut]] = {}
        leaves_of: list[int] = []
        for number, tree in enumerate(trees):
            leaves = sorted(
                (node for node, left in enumerate(tree.left) if not left), key=lambda node: -tree.value[node]
            )
            self._values[number, : len(leaves)] = [tree.value[leaf] for leaf in leaves]
            below = {leaf: 1 << bit for bit, leaf in enumerate(leaves)}
            for node in reversed(range(len(tree.left))):
                if tree.left[node]:
                    left, right = below[tree.left[node]], below[tree.right[node]]
                    below[node] = left | right
                    cut = _Cut(number, tree.threshold[node], tree.missing_left[node], left, right)
                    cuts.setdefault(tree.feature[node], []).append(cut)
            leaves_of.append(below[0])
        self._leaves = np.array(leaves_of, self._kind)
        self._tables = {feature: self._table(of_feature) for feature, of_feature in cuts.items()}

    def greatest(self, features: Array, columns: Sequence[int]) -> Array:
        """Return the greatest log-odds that each row can have where only these columns are known."""
        remaining = np.repeat(self._leaves[:, None], len(features), axis=1)
        for column in columns:
            if column in self._tables:
                trees, thresholds, table = self._tables[column]
                value = features[:, column]
                interval = np.where(np.isnan(value), len(thresholds) + 1, np.searchsorted(thresholds, value))
                remaining[trees] &= np.take(table, interval, axis=1)
        leaf = np.bitwise_count((remaining & -remaining) - 1)  # the position of the lowest bit
        odds = np.full(len(features), self._baseline)
        for values, of_tree in zip(self._values, leaf, strict=True):
            odds += values[of_tree]
        return odds

    def _table(self, cuts: "Sequence[_Cut]") -> tuple[Array, Array, Array]:
        """Return the trees that use a feature, its thresholds, and which leaves remain of each tree."""
        thresholds, trees = np.unique([cut.threshold for cut in cuts]), np.unique([cut.tree for cut in cuts])
        table = np.full((len(trees), len(thresholds) + 2), self._all, self._kind)
        for cut in cuts:
            row, beyond = np.searchsorted(trees, cut.tree), np.searchsorted(thresholds, cut.threshold) + 1
            table[row, :beyond] &= self._kind.type(self._all - cut.right)
            table[row, beyond:-1] &= self._kind.type(self._all - cut.left)
            table[row, -1] &= self._kind.type(self._all - (cut.right if cut.missing_left else cut.left))
        return trees, thresholds, table


class _Cut(NamedTuple):
    """A node of a tree, with the leaves below its branches."""

    tree: int
    threshold: float
    missing_left: bool
    left: int
    right: int


def _check(model: Model) -> Model:
    for tree in model.trees:
        size = len(tree.value)
        if tree.left.count(0) > _LEAVES_MAX:
            raise UnusableModel(f"the model has a tree of more than {_LEAVES_MAX} leaves")
        columns: Sequence[Sequence[Any]] = (tree.feature, tree.threshold, tree.missing_left, tree.left, tree.right)
        if not size or any(len(column) != size for column in columns):
            raise UnusableModel("the model has a tree of unequal lists")
        for node, (left, right, feature) in enumerate(zip(tree.left, tree.right, tree.feature, strict=True)):
            # A child comes after its parent, so that no tree can go round in a circle.
            if left and not (node < left < size and node < right < size and 0 <= feature < len(model.features)):
                raise UnusableModel("the model has a tree with a wrong branch")
        children = [child for child in (*tree.left, *tree.right) if child]
        if len(set(children)) < len(children):
            raise UnusableModel("the model has a tree with two branches to one node")
    return model
