"""An ensemble that learns from labelled pairs of two record files, and judges others of the same files.

It uses the labels of a record's other pairs, and its models are large and slow: no load uses it. Its figures say how
much of labelled pairs can be learned at most.

Two steps are trained, each on several random splits of the examples; the mean probabilities of their models are weighed
together. The first has a pair's features and the labels of the examples that share one of its records: boosted trees
judge by these, and a linear model by these and by the words that the two records share or not. The second step, of
boosted trees, has besides how the first judges the pair's competitors, and what a linear model says of the words alone.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.feature_extraction import DictVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from tests.support.shipped_model import bound as precision_bound
from workers.articles.matching.context import Pairs, standings
from workers.articles.matching.evaluation import Measure, compare
from workers.articles.matching.evaluation_files import read_labels, read_records
from workers.articles.matching.features import amounts, codes, fields, numbers, words
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.profiles import Profile
from workers.articles.matching.scoring import profiles_of
from workers.articles.matching.segment import Array
from workers.articles.matching.training import boosted, fitted, folds_by_record

_FOLDS = 5
# So much counts what the first step's trees say, its linear model, and the second step: where a pair's competitors say
# much about it, as between two catalogues of the same articles, and where they say no more than the pair itself.
WEIGHTS = ((0.25, 0.25, 0.5), (0.5, 0.5, 0.0))
_RIVALS = 3
_SAMPLES = 200
_OPTIONS = {
    "learning_rate": 0.05,
    "min_samples_leaf": 10,
    "l2_regularization": 1.0,
}
# The linear models.
_STRENGTH = 0.3
_STEPS = 300
# A scaled feature counts half as much as a word: there are many rows for each feature and few for most words.
_FEATURE_WEIGHT = 0.5
_FURTHEST = 4.0
# What the labels of a pair's neighbours say.
_SPACE = "named"
_SIDE_FEATURES = 7
# A neighbour's label counts by its likeness to this power: only near twins of the record speak for it.
_SHARPNESS = 6
_DAMPING = 0.05
# Trains on features of all pairs, positions of known ones and their labels; returns probabilities of all pairs.
_Learner = Callable[[Array, Array, Array], Array]


def figures(folder: Path, train: str, asked: str, **options: int) -> dict[str, Any]:
    """Train on the pairs of a folder's files that match a pattern, and measure on those that match another.

    `options` are those of `judge`. A pair with both labels counts as what most of its rows say, or no match.
    """
    left, right = (read_records(folder / f"{side}.csv", side) for side in ("left", "right"))
    judged, learned = (
        [row for path in sorted(folder.glob(pattern)) for row in read_labels(path)] for pattern in (asked, train)
    )
    compared = compare(left, right, [(one, other) for one, other, _ in (*judged, *learned)])
    at, examples = np.split(compared.positions, [len(judged)])
    known, rows = np.unique(examples, return_inverse=True)
    same = np.bincount(rows, [label for *_, label in learned]) * 2 > np.bincount(rows)
    found = judge(compared.index, compared.pairs, known, same, **options)
    probabilities, labels = found.probabilities[at], np.array([label for *_, label in judged])
    return {
        **asdict(Measure.of(probabilities >= found.bound, labels)),
        "bound": round(found.bound, 4),
        "unattended": asdict(Measure.of(probabilities >= found.link, labels)),
        "cross_validated_f1": round(found.cross_validated, 4),
    }


@dataclass(frozen=True, slots=True)
class Judged:
    """Probabilities of all pairs; the bound of matches; the best F1 in cross-validation; the bound of precision."""

    probabilities: Array
    bound: float
    link: float
    cross_validated: float


@dataclass(frozen=True, slots=True)
class _Folding:
    """The fold of each example; for each fold the examples that train, and all pairs' features from their labels."""

    fold: Array
    used: list[Array]
    neighbours: list[Array]

    def cross_fitted(self, learner: _Learner, features: Array, known: Array, labels: Array) -> Array:
        """Return one column of probabilities of all pairs for each fold, from a model that has not seen the fold."""
        columns = []
        for used, neighbours in zip(self.used, self.neighbours, strict=True):
            columns.append(learner(np.hstack([features, neighbours]), known[used], labels[used]))
        return np.stack(columns, axis=1)


def judge(index: MatchIndex, pairs: Pairs, known: Array, labels: Array, foldings: int = 3, rounds: int = 200) -> Judged:
    """Train on the pairs at the positions `known`, with their labels, and judge every pair.

    Learners of `foldings` random splits are averaged: together they judge more steadily, but each split takes its time.
    Boosted trees grow for so many `rounds`.

    No model that has seen a pair's label judges it. The bound of precision is chosen by models that have seen no other
    pair of its records either: what is known of a record says more of its next pair than of a new record.
    """
    examples = _Examples(pairs, known, labels, said_by(index, pairs), _features(index, pairs))
    splits = [_folding(index, pairs, known, labels, seed) for seed in range(foldings)]
    with threadpool_limits(limits=1):  # threads of a busy machine wait for one another more than they work
        judged_by = _steps(examples, splits, rounds)
        by_record = _steps(examples, [_folding_by_record(index, pairs, known, labels)], rounds)
    weights = best_weights([one[known] for one in judged_by], labels)
    probabilities = np.average(judged_by, axis=0, weights=weights)
    unseen = probabilities[known]
    bound, (_, f1) = steady_bound(unseen, labels), best_bound(unseen, labels)
    link = precision_bound(np.average(by_record, axis=0, weights=weights)[known], labels)
    return Judged(probabilities, bound, max(bound, link), f1)


def _features(index: MatchIndex, pairs: Pairs) -> Array:
    """Return the features of pairs, of which the records of the left file stay left; a model of loads turns some."""
    compared = profiles_of(index, pairs.left, pairs.right)
    groups = (words, codes, numbers, amounts, fields)
    rows = [[value for group in groups for value in group(*profiles).values()] for profiles in compared]
    return np.hstack([rows, standings(index, pairs, np.arange(len(rows)))])


@dataclass(frozen=True, slots=True)
class _Examples:
    """All pairs with their words and features, the positions of those with a label, and the labels."""

    pairs: Pairs
    known: Array
    labels: Array
    said: Any
    features: Array


def _steps(examples: _Examples, foldings: Sequence[_Folding], rounds: int) -> list[Array]:
    """Return the probabilities of all pairs by the first step's trees, by its linear model, and by the second step."""
    pairs, known, labels, features = examples.pairs, examples.known, examples.labels, examples.features

    def boosting(features: Array, known: Array, labels: Array) -> Array:
        classifier = fitted(boosted(0, max_iter=rounds, **_OPTIONS), features[known], labels)
        judged: Array = classifier.predict_proba(features)[:, 1]
        return judged

    def linear(features: Array, known: Array, labels: Array) -> Array:
        judged: Array = expit(log_odds(with_features(examples.said, features, known), known, labels))
        return judged

    def worded(features: Array, known: Array, labels: Array) -> Array:
        return log_odds(examples.said, known, labels)

    def mean(columns: list[Array]) -> Array:
        unseen = [_unseen(one, known, folding.fold) for one, folding in zip(columns, foldings, strict=True)]
        return np.asarray(np.mean(unseen, axis=0))

    trees, lines, said = (
        [one.cross_fitted(learner, features, known, labels) for one in foldings]
        for learner in (boosting, linear, worded)
    )
    rivals = [
        _rivals(pairs, known, folding.fold, (tree + line) / 2)
        for folding, tree, line in zip(foldings, trees, lines, strict=True)
    ]
    more = np.hstack([features, np.mean(rivals, axis=0), mean(said)[:, None]])
    again = [one.cross_fitted(boosting, more, known, labels) for one in foldings]
    return [mean(trees), mean(lines), mean(again)]


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


def _folding(index: MatchIndex, pairs: Pairs, known: Array, labels: Array, seed: int) -> _Folding:
    fold = np.random.default_rng(seed).integers(0, _FOLDS, len(known))
    return _with_neighbours(index, pairs, known, labels, fold, [fold != number for number in range(_FOLDS)])


def _folding_by_record(index: MatchIndex, pairs: Pairs, known: Array, labels: Array) -> _Folding:
    """Split the examples so that none trains which shares a record with one that is judged."""
    folds = list(folds_by_record(np.stack([pairs.left[known], pairs.right[known]], axis=1)))
    fold = np.empty(len(known), np.int64)
    for number, (judged, _) in enumerate(folds):
        fold[judged] = number
    return _with_neighbours(index, pairs, known, labels, fold, [used for _, used in folds])


def _with_neighbours(
    index: MatchIndex, pairs: Pairs, known: Array, labels: Array, fold: Array, used: list[Array]
) -> _Folding:
    return _Folding(fold, used, [neighbour_features(index, pairs, known[one], labels[one]) for one in used])


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


# Linear models of pairs: of the words that both records or only one of them have, and of a pair's features.


def said_by(index: MatchIndex, pairs: Pairs) -> Any:
    """Return one sparse row for each pair: which words both records or one of them have, their brand and categories."""
    compared = profiles_of(index, pairs.left, pairs.right)
    return DictVectorizer().fit_transform(_differences(*profiles) for profiles in compared).tocsr()


def with_features(said: Any, features: Array, known: Array) -> Any:
    """Return the rows with a pair's features besides, scaled as those of the pairs at the positions `known` ask for."""
    filled = SimpleImputer(strategy="median", keep_empty_features=True).fit(features[known]).transform(features)
    scaled = StandardScaler().fit(filled[known]).transform(filled).clip(-_FURTHEST, _FURTHEST)
    besides = np.hstack([scaled, np.isnan(features)]) * _FEATURE_WEIGHT
    return sparse.hstack([said, sparse.csr_matrix(besides)], format="csr")


def log_odds(rows: Any, known: Array, labels: Array) -> Array:
    """Train on the rows at the positions `known`, and return the log-odds of all rows."""
    model = LogisticRegression(C=_STRENGTH, max_iter=_STEPS).fit(rows[known], labels)
    judged: Array = model.decision_function(rows)
    return judged


def _differences(left: Profile, right: Profile) -> dict[str, int]:
    # Both ways of counting: some words distinguish articles on either side, some on one side only.
    mine, theirs = left.named, right.named
    said = {
        "both": mine & theirs,
        "either": mine ^ theirs,
        "left": mine - theirs,
        "right": theirs - mine,
        "left category": {left.record.category},
        "right category": {right.record.category},
        "categories": {f"{left.record.category} and {right.record.category}"},
        "brand": {" ".join(sorted(left.brand))},
    }
    return {f"{where}: {word}": 1 for where, words in said.items() for word in words}


# What the labels of a pair's neighbours say of it: the labelled pairs that share its left or its right record.


def neighbour_features(index: MatchIndex, pairs: Pairs, known: Array, labels: Array) -> Array:
    """Return 14 features of each pair, from the labels of the pairs at the positions `known`, never from its own.

    For either side: how many neighbours are matches and how many are not; how much the record on the other side is like
    that of the most similar match and non-match; the margin of the pair's cosine before either; the neighbours' labels
    weighted by likeness. Not a number where there is no such neighbour.
    """
    label = np.full(len(pairs.left), -1)
    label[known] = labels
    sides = ((pairs.left, pairs.right), (pairs.right, pairs.left))
    return np.hstack([_of_side(index, shared, other, pairs.cosines[_SPACE], label) for shared, other in sides])


def grouped(ends: Array) -> dict[int, Array]:
    """Return the positions of each value."""
    groups: dict[int, list[int]] = defaultdict(list)
    for at, end in enumerate(ends.tolist()):
        groups[end].append(at)
    return {end: np.array(members) for end, members in groups.items()}


def _of_side(index: MatchIndex, shared: Array, other: Array, cosine: Array, label: Array) -> Array:
    features = np.full((len(shared), _SIDE_FEATURES), np.nan)
    features[:, :2] = 0
    vectors, position = _vectors(index, other)
    for members in grouped(shared).values():
        speaking = label[members] >= 0
        if speaking.any():
            others = vectors[position[members]]
            alike = (others @ others[speaking].T).toarray()
            same = members[:, None] == members[speaking]
            features[members] = _of_group(alike, same, cosine[members], speaking, label[members][speaking] == 1)
    return features


def _vectors(index: MatchIndex, rows: Array) -> tuple[Any, Array]:
    """Return the vectors of distinct rows, without the columns that are empty, and the position of each row in them."""
    distinct, position = np.unique(rows, return_inverse=True)
    vectors = index.vectors(_SPACE, distinct)
    columns, column = np.unique(vectors.indices, return_inverse=True)
    return sparse.csr_matrix((vectors.data, column, vectors.indptr), shape=(len(distinct), len(columns))), position


def _of_group(alike: Array, same: Array, cosine: Array, speaking: Array, match: Array) -> Array:
    """Compare the pairs of one record with its labelled ones; `same` marks the pair itself, which says nothing."""
    rows = np.full((len(cosine), _SIDE_FEATURES), np.nan)
    margin = cosine[:, None] - cosine[speaking]
    for at, kind in enumerate((match, ~match)):
        heard = kind & ~same
        some = heard.any(axis=1)
        rows[:, at] = heard.sum(axis=1)
        rows[some, 2 + at] = np.where(heard, alike, -1.0).max(axis=1)[some]
        rows[some, 4 + at] = np.where(heard, margin, 2.0).min(axis=1)[some]
    weight = np.where(same, 0.0, alike**_SHARPNESS)
    some = (~same).any(axis=1)
    with np.errstate(invalid="ignore"):  # BLAS may leave the processor's flag set although all operands are finite
        matched = weight @ match
    rows[some, 6] = (matched / (weight.sum(axis=1) + _DAMPING))[some]
    return rows
