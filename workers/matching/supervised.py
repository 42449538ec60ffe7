"""Matching two record files after examples: models trained on labelled pairs of the same files.

Two steps are trained, and their probabilities are weighed together. The first has a pair's features and the labels of
the examples that share one of its records: boosted trees judge by these, and a linear model by these and by the words
that the two records share or not. The second step, of boosted trees, has besides how the first judges the pair's
competitors, and what a linear model makes of the words alone.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.metrics import average_precision_score
from threadpoolctl import threadpool_limits

from workers.matching.context import Pairs
from workers.matching.index import MatchIndex
from workers.matching.linear import log_odds, said_by, with_features
from workers.matching.neighbours import grouped, neighbour_features
from workers.matching.scoring import feature_matrix
from workers.matching.segment import Array
from workers.matching.training import boosted, fitted
from workers.matching.training import bound as precision_bound

_FOLDS = 5
_SEEDS = 3
# So much counts what the first step's trees say, its linear model, and the second step: where a pair's competitors say
# much about it, as between two catalogues of the same articles, and where they say less.
WEIGHTS = ((0.25, 0.25, 0.5), (0.4, 0.4, 0.2))
_RIVALS = 3
_SAMPLES = 200
_OPTIONS = {
    "max_iter": 200,
    "learning_rate": 0.05,
    "min_samples_leaf": 10,
    "l2_regularization": 1.0,
}
# Trains on features of all pairs, positions of known ones and their labels; returns probabilities of all pairs.
_Learner = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True, slots=True)
class Judged:
    """Probabilities of all pairs; the bound of matches; the best F1 in cross-validation; the bound of precision."""

    probabilities: Array
    bound: float
    link: float
    cross_validated: float


@dataclass(frozen=True, slots=True)
class _Step:
    """What a step learns from: features of all pairs for each fold, made without its labels, and from all labels."""

    by_fold: list[Array]
    full: Array

    def with_columns(self, *columns: Array) -> "_Step":
        """Return the step with more features, the same in each fold."""
        return _Step([np.hstack([one, *columns]) for one in self.by_fold], np.hstack([self.full, *columns]))


def judge(index: MatchIndex, pairs: Pairs, known: Array, labels: Array) -> Judged:
    """Train on the pairs at the positions `known`, with their labels, and judge every pair."""
    fold = np.random.default_rng(0).integers(0, _FOLDS, len(known))
    said = said_by(index, pairs)

    def linear(features: Array, known: Array, labels: Array) -> Array:
        judged: Array = expit(log_odds(with_features(said, features, known), known, labels))
        return judged

    with threadpool_limits(limits=1):  # threads of a busy machine wait for one another more than they work
        first = _first_step(index, pairs, known, labels, fold)
        trees, lines = (_cross_fitted(first, one, known, labels, fold) for one in (_boosted(1), linear))
        words = [log_odds(said, known[fold != number], labels[fold != number]) for number in range(_FOLDS)]
        second = first.with_columns(
            _rivals(pairs, known, fold, (trees + lines) / 2), _unseen(np.stack(words, axis=1), known, fold)[:, None]
        )
        again = _cross_fitted(second, _boosted(1), known, labels, fold)
        learners = ((_boosted(_SEEDS), first), (linear, first), (_boosted(_SEEDS), second))
        final = [learner(step.full, known, labels) for learner, step in learners]
    unseen_by = [one[known, fold] for one in (trees, lines, again)]
    weights = best_weights(unseen_by, labels)
    unseen = np.average(unseen_by, axis=0, weights=weights)
    bound, (_, f1) = steady_bound(unseen, labels), best_bound(unseen, labels)
    return Judged(np.average(final, axis=0, weights=weights), bound, max(bound, precision_bound(unseen, labels)), f1)


def best_weights(unseen_by: list[Array], labels: Array) -> tuple[float, ...]:
    """Return the weights whose mean has the largest area below the curve of precision and recall."""

    def area(weights: tuple[float, ...]) -> float:
        return float(average_precision_score(labels, np.average(unseen_by, axis=0, weights=weights)))

    return max(WEIGHTS, key=area)


def best_bound(probabilities: Array, labels: Array) -> tuple[float, float]:
    """Return the bound of the best F1, half-way to the next lower probability, and that F1."""
    order = np.argsort(-probabilities, kind="stable")
    ranked = probabilities[order]
    f1 = 2 * np.cumsum(labels[order]) / (np.arange(1, len(order) + 1) + max(labels.sum(), 1))
    # Equal probabilities fall on one side.
    f1[:-1][ranked[:-1] == ranked[1:]] = 0.0
    at = int(f1.argmax())
    following = ranked[at + 1] if at + 1 < len(ranked) else 0.0
    return float((ranked[at] + following) / 2), float(f1[at])


def steady_bound(probabilities: Array, labels: Array) -> float:
    """Return the mean of the best bounds of samples drawn with replacement.

    F1 is nearly flat around its best bound, so that the best one of a single sample is far off by chance.
    """
    chance = np.random.default_rng(0)
    samples = (chance.integers(0, len(labels), len(labels)) for _ in range(_SAMPLES))
    return float(np.mean([best_bound(probabilities[one], labels[one])[0] for one in samples]))


def _first_step(index: MatchIndex, pairs: Pairs, known: Array, labels: Array, fold: Array) -> _Step:
    features = feature_matrix(index, pairs, fixed_sides=True)

    def with_labels(used: Array) -> Array:
        return np.hstack([features, neighbour_features(index, pairs, known[used], labels[used])])

    return _Step([with_labels(fold != number) for number in range(_FOLDS)], with_labels(fold >= 0))


def _boosted(seeds: int) -> _Learner:
    """Return a learner that averages trees of so many seeds."""

    def judged(features: Array, known: Array, labels: Array) -> Array:
        models = [fitted(boosted(seed, **_OPTIONS), features[known], labels) for seed in range(seeds)]
        mean: Array = np.mean([model.predict_proba(features)[:, 1] for model in models], axis=0)
        return mean

    return judged


def _cross_fitted(step: _Step, learner: _Learner, known: Array, labels: Array, fold: Array) -> Array:
    """Return one column of probabilities of all pairs for each fold, from a model that has not seen the fold."""
    used = [fold != number for number in range(_FOLDS)]
    columns = [learner(step.by_fold[at], known[one], labels[one]) for at, one in enumerate(used)]
    return np.stack(columns, axis=1)


def _unseen(by_fold: Array, known: Array, fold: Array) -> Array:
    """Take for each known pair the value of the model that has not seen it, and for all others the mean."""
    values: Array = by_fold.mean(axis=1)
    values[known] = by_fold[known, fold]
    return values


def _rivals(pairs: Pairs, known: Array, fold: Array, by_fold: Array) -> Array:
    """Return how the first step judges each pair and the strongest other pairs of its two records."""
    source = np.full(len(pairs.left), -1)
    source[known] = fold
    columns = np.concatenate([by_fold, by_fold.mean(axis=1, keepdims=True)], axis=1)
    of_left, of_right = grouped(pairs.left), grouped(pairs.right)
    own = columns[np.arange(len(source)), source]
    rows = np.empty((len(source), 13))
    for at, judged_by in enumerate(source):
        value, row = own[at], [own[at]]
        sides = []
        for group in (of_left[pairs.left[at]], of_right[pairs.right[at]]):
            others = np.sort(columns[group[group != at], judged_by])[::-1]
            sides.append((np.concatenate([others[:_RIVALS], np.zeros(_RIVALS)])[:_RIVALS], int((others > value).sum())))
        for best, above in sides:
            total = float(best.sum())
            row += [best[0], best[1], value - best[0], above, total, value / (value + total + 0.05)]
        rows[at] = row
    return rows
