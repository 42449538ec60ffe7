"""Training: boosted trees from labelled pairs, and a model that learns from the decisions on an index."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from shared.uncertainty.stated import Proportion, wilson
from workers.articles.matching.context import COPIES, CandidatePairs, standings
from workers.articles.matching.evidence import certain, opposed_fields, same_code
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.model import DecisionTree, Model
from workers.articles.matching.scoring import FEATURES, features_of, profiles_of
from workers.articles.matching.segment import Array

# Required precision of automatic links on held-out pairs.
PRECISION = 0.994
# The models that learn from decisions.
LEAST_OF_LABEL = 10
_FOLDS, _SEEDS = 5, 2
# Weights of the former model in a learned one; never all, or nothing would have been learned.
_FORMER_SHARES = (0.0, 0.25, 0.5, 0.75)
_DECIDED = {"max_iter": 100, "learning_rate": 0.1, "min_samples_leaf": 20}
# Decisions are few, and how many copies there are chooses trees but tells no pairs apart; it is the last feature, so
# that the numbers of the others stay.
_LEARNED_FROM = slice(FEATURES.index(COPIES))
# A bound that decisions support has the precision among them, and at least this much in 97.5 % of repetitions: with no
# error 73 pairs above it are enough.
_LEAST_LIMIT = 0.95


@dataclass(frozen=True, slots=True)
class Labelled:
    """Features and labels (1: the same article) of pairs.

    `certain` says which of them may be linked without a person, `coded` which of those have one model number, `opposed`
    in which the records contradict each other, `ends` the rows of both records.
    """

    features: Array
    labels: Array
    certain: Array
    coded: Array
    opposed: Array
    ends: Array


def label_pairs(index: MatchIndex, pairs: CandidatePairs, chosen: Array, labels: Array) -> Labelled:
    """Return the chosen pairs as examples to learn from."""
    compared = profiles_of(index, pairs.left[chosen], pairs.right[chosen])
    sure = np.array([certain(*pair) for pair in compared], bool)
    coded = sure & np.array([same_code(*pair) for pair in compared], bool)
    features = features_of(compared, standings(index, pairs, chosen))
    against = np.array([bool(opposed_fields(*pair)) for pair in compared], bool)
    return Labelled(features, labels, sure, coded, against, np.stack([pairs.left[chosen], pairs.right[chosen]], axis=1))


@dataclass(frozen=True, slots=True)
class Bound:
    """The precision and recall of linking every pair from a probability on: `right` of the `found` pairs are matches.

    `matches`: all pairs that people called one article, those that are no candidates included.
    """

    bound: float
    right: int
    found: int
    matches: int

    @property
    def precision(self) -> Proportion:
        """Return the share that is right, and its 95 % interval."""
        return wilson(self.right, self.found)

    @property
    def recall(self) -> Proportion:
        """Return the share of matches that are found, and its 95 % interval."""
        return wilson(self.right, self.matches)


@dataclass(frozen=True, slots=True)
class Learned:
    """A model that learned from decisions. `unseen`: each pair's probability by models that know neither record.

    `ranking` and `former_ranking`: the average precision (area under the curve of precision by recall, 0 to 1) of these
    probabilities, and of those of the model before.
    """

    model: Model
    unseen: Array
    examples: Labelled
    missed: int
    ranking: float
    former_ranking: float

    def at(self, probability: float) -> Bound:
        """Return what linking from a probability on comes to; pairs that contradict themselves wait for a person."""
        called = (self.unseen >= probability) & ~self.examples.opposed
        labels = self.examples.labels
        return Bound(probability, int((called & labels).sum()), int(called.sum()), int(labels.sum()) + self.missed)


def learn(former: Model, examples: Labelled, missed: int) -> Learned:
    """Train on decided pairs, and measure on each record by models that have seen no pair of it.

    `missed`: matches that are not among the examples, because they are no candidates. The same arguments give the same
    model.

    The log-odds of what was learned and of the former model are averaged, by the share that ranks unseen pairs best:
    few decisions alone would rank them worse than the former model does.
    """
    from sklearn.metrics import average_precision_score  # only here: it takes a second, and loads need none of it

    def train(used: Array) -> Model:
        features, labels = examples.features[used][:, _LEARNED_FROM], examples.labels[used]
        return merge([fit(make_classifier(seed, **_DECIDED), features, labels) for seed in range(_SEEDS)])

    before = former.probabilities(examples.features)
    unseen = before.copy()
    for judged, used in folds_by_record(examples.ends):
        if len(judged) and len(np.unique(examples.labels[used])) == 2:
            unseen[judged] = train(used).probabilities(examples.features[judged])
    blends = [(share, _sigmoid(_average(_logit(before), _logit(unseen), share))) for share in _FORMER_SHARES]
    share, unseen = max(blends, key=lambda one: average_precision_score(examples.labels, one[1]))
    supported = unseen[~examples.opposed], examples.labels[~examples.opposed]
    link = supported_bound(*supported)
    bounds = replace(former, link_learned=link)
    learned = blend(former, train(np.arange(len(examples.labels))), share)
    model = replace(bounds, features=learned.features, baseline=learned.baseline, trees=learned.trees)
    rankings = (float(average_precision_score(examples.labels, judged)) for judged in (unseen, before))
    return Learned(model, unseen, examples, missed, *rankings)


def folds_by_record(ends: Array) -> Iterator[tuple[Array, Array]]:
    """Yield positions of pairs to judge, and of pairs to train on, which share no record with these."""
    left, right = ends.T
    fold = np.random.default_rng(0).integers(0, _FOLDS, int(left.max(initial=0)) + 1)[left]
    for number in range(_FOLDS):
        judged = fold == number
        yield np.flatnonzero(judged), np.flatnonzero(~judged & ~np.isin(right, right[judged]))


def supported_bound(probabilities: Array, labels: Array) -> float | None:
    """Return the least probability from which on the pairs have the precision, and enough of them to rely on it."""
    order = np.argsort(-probabilities, kind="stable")
    falling, right = probabilities[order], np.cumsum(labels[order])
    found = np.arange(1, len(order) + 1)
    limit = np.array([wilson(*counts).low for counts in zip(right.tolist(), found.tolist(), strict=True)])
    last_of_equals = np.append(falling[1:] < falling[:-1], True)[: len(order)]
    enough = np.flatnonzero((right / found >= PRECISION) & (limit >= _LEAST_LIMIT) & last_of_equals)
    return float(falling[enough[-1]]) if len(enough) else None


def make_classifier(seed: int, **changed: Any) -> Any:
    """Return an untrained classifier of small boosted trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # see `learn`

    options = {
        "max_iter": 150,
        "max_leaf_nodes": 15,
        "learning_rate": 0.07,
        "min_samples_leaf": 40,
        "l2_regularization": 5.0,
        "max_features": 0.4,
        "early_stopping": False,
    }
    return HistGradientBoostingClassifier(**(options | changed), random_state=seed)


def fit(classifier: Any, features: Array, labels: Array) -> Any:
    """Fit a classifier in one thread: on a busy machine its threads wait for one another more than they work."""
    nothing = np.isnan(features).all(axis=0)  # a column without a single value cannot be cut
    with threadpool_limits(limits=1):
        return classifier.fit(np.where(nothing, 0.0, features), labels)


def merge(classifiers: list[Any]) -> Model:
    """Average the log-odds of classifiers as one model of plain trees, without bounds."""
    share = 1 / len(classifiers)
    trees = [
        _tree(predictor.nodes, share) for classifier in classifiers for (predictor,) in classifier._predictors
    ]  # the library has no public way to its trees; a test compares the probabilities
    baseline = share * sum(float(classifier._baseline_prediction.item()) for classifier in classifiers)
    return Model(FEATURES, baseline, tuple(trees), 1.0, 1.0, 1.0)


def blend(former: Model, learned: Model, share: float) -> Model:
    """Average the log-odds of two models as one, without bounds; `share` is the weight of the first."""
    trees = [
        replace(tree, value=[weight * value for value in tree.value])
        for model, weight in ((former, share), (learned, 1 - share))
        if weight
        for tree in model.trees
    ]
    return Model(FEATURES, _average(former.baseline, learned.baseline, share), tuple(trees), 1.0, 1.0, 1.0)


def choose(feature: str, without: Model, with_it: Model) -> Model:
    """Join two models as one, with the bounds of the first, which judges the rows where a feature is zero."""
    column = FEATURES.index(feature)
    trees = [_gate(tree, column, left=True) for tree in without.trees]
    trees += [_gate(tree, column, left=False) for tree in with_it.trees]
    constant = DecisionTree([column, 0, 0], [0.5, 0.0, 0.0], [True] * 3, [1, 0, 0], [2, 0, 0], [0.0] * 3)
    constant = replace(constant, value=[0.0, 0.0, with_it.baseline - without.baseline])
    return replace(without, features=FEATURES, trees=(*trees, constant))


def _gate(tree: DecisionTree, column: int, *, left: bool) -> DecisionTree:
    """Put a tree below one side of a new root, whose other side adds nothing."""
    size, first = len(tree.value), 1
    moved = [[child + first if child else 0 for child in children] for children in (tree.left, tree.right)]
    return DecisionTree(
        feature=[column, *tree.feature, 0],
        threshold=[0.5, *tree.threshold, 0.0],
        missing_left=[True, *tree.missing_left, True],
        left=[1 if left else size + 1, *moved[0], 0],
        right=[size + 1 if left else 1, *moved[1], 0],
        value=[0.0, *tree.value, 0.0],
    )


def _average(former: Any, learned: Any, share: float) -> Any:
    return share * former + (1 - share) * learned


def _logit(probabilities: Array) -> Array:
    clipped = np.clip(probabilities, 1e-9, 1 - 1e-9)
    log_odds: Array = np.log(clipped) - np.log1p(-clipped)
    return log_odds


def _sigmoid(log_odds: Array) -> Array:
    probabilities: Array = 1 / (1 + np.exp(-log_odds))
    return probabilities


def _tree(nodes: Any, share: float) -> DecisionTree:
    leaf = nodes["is_leaf"].astype(bool)
    return DecisionTree(
        feature=np.where(leaf, 0, nodes["feature_idx"]).tolist(),
        threshold=[float(one) if np.isfinite(one) else 1e300 for one in np.where(leaf, 0.0, nodes["num_threshold"])],
        missing_left=(nodes["missing_go_to_left"].astype(bool) & ~leaf).tolist(),
        left=np.where(leaf, 0, nodes["left"]).tolist(),
        right=np.where(leaf, 0, nodes["right"]).tolist(),
        value=np.where(leaf, nodes["value"] * share, 0.0).tolist(),
    )
