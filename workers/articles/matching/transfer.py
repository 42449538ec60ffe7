"""A model that learned from the labelled pairs of some record files, to be judged on others. It is never shipped."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from shared.errors import ItemIndexError
from workers.articles.matching.evaluation_pairs import compare
from workers.articles.matching.model import Model
from workers.articles.matching.segment import Array
from workers.articles.matching.supervised import best_bound
from workers.articles.matching.training import Labelled, boosted, fitted, labelled, merged, with_link_bounds

_SEEDS = 2


class NothingToLearnFrom(ItemIndexError):
    """A folder has no pair files."""


def trained_on(folders: Sequence[Path]) -> Model:
    """Train on folders with `left.csv`, `right.csv` and `pairs_*.csv`; the same folders give the same model.

    Each folder in turn is judged by a model of the others (a single one by halves), and the bounds are those of these
    judgements: `review` has the best F1, `link` the precision of the shipped model.
    """
    learned = [_labelled(folder) for folder in folders]
    parts = learned if len(learned) > 1 else _halves(learned[0])
    unseen = [_model(parts[:at] + parts[at + 1 :]).probabilities(part.features) for at, part in enumerate(parts)]
    probabilities, labels = np.concatenate(unseen), np.concatenate([part.labels for part in parts])
    review, _ = best_bound(probabilities, labels)
    return with_link_bounds(_model(parts), unseen, parts, review)


def _labelled(folder: Path) -> Labelled:
    files = sorted(folder.glob("pairs_*.csv"))
    if not files:
        raise NothingToLearnFrom(f"{folder} has no pairs_*.csv")
    compared = compare(folder / "left.csv", folder / "right.csv", files)
    known, labels = compared.examples(range(len(files)))
    is_candidate = compared.candidate[known]
    return labelled(compared.index, compared.pairs, known[is_candidate], labels[is_candidate])


def _halves(one: Labelled) -> list[Labelled]:
    half = np.arange(len(one.labels)) % 2
    return [one.part(half == part) for part in range(2)]


def _model(parts: Sequence[Labelled]) -> Model:
    features: Array = np.vstack([part.features for part in parts])
    labels = np.concatenate([part.labels for part in parts])
    with threadpool_limits(limits=1):
        return merged([fitted(boosted(seed), features, labels) for seed in range(_SEEDS)])
