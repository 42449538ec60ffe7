"""The model of likeness: boosted trees as JSON, read and applied with numpy alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.errors import ItemIndexError

_SHIPPED = Path(__file__).with_name("model.json")


class UnusableModel(ItemIndexError):
    """A file is no model, or one for other features."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One tree as parallel lists. Node 0 is the root; a leaf has `left` 0 and its log-odds in `value`."""

    feature: list[int]
    threshold: list[float]
    missing_left: list[bool]
    left: list[int]
    right: list[int]
    value: list[float]


@dataclass(frozen=True, slots=True)
class Model:
    """Trees whose leaves add up to log-odds, and bounds of the probability.

    From `link` on a pair is linked without a person, and from `link_coded` on where both have one model number, if more
    than the likeness of their names confirms it. From `link_learned` on, which decisions on the same records support,
    nothing needs to confirm it. From `review` on a pair waits for a person; below it is nothing.
    """

    features: tuple[str, ...]
    baseline: float
    trees: tuple[Tree, ...]
    link: float
    link_coded: float
    review: float
    link_learned: float | None = None

    @classmethod
    def read(cls, path: Path) -> "Model":
        """Read a model file; `UnusableModel` where it is none."""
        try:
            return cls.decoded(path.read_bytes())
        except (OSError, msgspec.DecodeError) as error:
            raise UnusableModel(f"{path} is no model file: {error}") from None

    @classmethod
    def decoded(cls, text: bytes) -> "Model":
        """Return the model of its JSON; `UnusableModel` where its trees cannot be followed."""
        return _checked(msgspec.json.decode(text, type=cls))

    @classmethod
    @cache
    def shipped(cls) -> "Model":
        """Return the model that comes with the program, trained by `itemindex matches train`."""
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

    def probabilities(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each row of features, in the order of `self.features`."""
        odds = np.full(len(features), self.baseline)
        for tree in self.trees:
            odds += _leaves(tree, features)
        probabilities: NDArray[np.float64] = 1 / (1 + np.exp(-odds))
        return probabilities


def _leaves(tree: Tree, features: NDArray[np.float64]) -> NDArray[np.float64]:
    feature, threshold = np.array(tree.feature), np.array(tree.threshold)
    missing_left, left, right = np.array(tree.missing_left), np.array(tree.left), np.array(tree.right)
    node = np.zeros(len(features), np.int64)
    going = np.arange(len(features)) if left[0] else np.zeros(0, np.int64)
    while len(going):
        at = node[going]
        value = features[going, feature[at]]
        turn_left = np.where(np.isnan(value), missing_left[at], value <= threshold[at])
        node[going] = np.where(turn_left, left[at], right[at])
        going = going[left[node[going]] > 0]
    values: NDArray[np.float64] = np.array(tree.value)[node]
    return values


def _checked(model: Model) -> Model:
    for tree in model.trees:
        size = len(tree.value)
        columns: Sequence[Sequence[Any]] = (tree.feature, tree.threshold, tree.missing_left, tree.left, tree.right)
        if not size or any(len(column) != size for column in columns):
            raise UnusableModel("the model file has a tree of unequal lists")
        for node, (left, right, feature) in enumerate(zip(tree.left, tree.right, tree.feature, strict=True)):
            # A child comes after its parent, so that no tree can go round in a circle.
            if left and not (node < left < size and node < right < size and 0 <= feature < len(model.features)):
                raise UnusableModel("the model file has a tree with a wrong branch")
    return model
