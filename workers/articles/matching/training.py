"""Training: boosted trees from labelled pairs, and the recipe of the shipped model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from workers.articles.matching.context import Pairs, pairs_of, standings
from workers.articles.matching.evidence import certain, same_code
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.model import Model, Tree
from workers.articles.matching.scoring import FEATURES, Profiles, features_of
from workers.articles.matching.segment import Array
from workers.articles.matching.synthetic import World, worlds

# So many of what is linked without a person are right in worlds that the trees have not seen. It is more where likeness
# is all there is, because invented shops are kinder than real ones, than where both records have one model number.
PRECISION, PRECISION_CODED = 0.994, 0.99
_REVIEW = 0.35
# The recipe of the shipped model.
WORLDS, SEED = 36, 7
# So many times as many worlds choose the bounds: in each only a few dozen pairs may be linked without a person.
_UNSEEN = 3


@dataclass(frozen=True, slots=True)
class Labelled:
    """Features and labels (1: the same article) of pairs.

    `certain` says which of them may be linked without a person, `coded` which of those have one model number.
    """

    features: Array
    labels: Array
    certain: Array
    coded: Array

    def part(self, chosen: Array) -> "Labelled":
        """Return some of the pairs."""
        return Labelled(self.features[chosen], self.labels[chosen], self.certain[chosen], self.coded[chosen])


def labelled_world(world: World) -> Labelled:
    """Find candidates between a world's shops, and label them by what is known of the world."""
    index = MatchIndex.build([*world.left, *world.right])
    pairs = all_pairs(index)
    chosen = np.flatnonzero(pairs.listed.all(axis=0))
    left = [index.record(int(row)).key for row in pairs.left[chosen]]
    right = [index.record(int(row)).key for row in pairs.right[chosen]]
    labels = np.array([pair in world.matches for pair in zip(left, right, strict=True)])
    return labelled(index, pairs, chosen, labels)


def labelled(index: MatchIndex, pairs: Pairs, chosen: Array, labels: Array) -> Labelled:
    """Return what is learned from the chosen ones among some pairs."""
    profiles = Profiles(index)
    ends = zip(pairs.left[chosen].tolist(), pairs.right[chosen].tolist(), strict=True)
    compared = [(profiles[left], profiles[right]) for left, right in ends]
    sure = np.array([certain(*pair) for pair in compared], bool)
    coded = sure & np.array([same_code(*pair) for pair in compared], bool)
    features = features_of(compared, standings(index, pairs, chosen), index.vocabulary)
    return Labelled(features, labels, sure, coded)


def all_pairs(index: MatchIndex) -> Pairs:
    """Return every candidate pair of an index."""
    nearest = index.nearest(index.rows())
    return pairs_of(index, nearest.row, nearest.other)


def train_shipped(*, worlds_count: int = WORLDS, seed: int = SEED) -> Model:
    """Train on invented worlds; others choose the bounds of precision."""
    used = [labelled_world(world) for world in worlds(worlds_count, seed)]
    unseen = [labelled_world(world) for world in worlds(_UNSEEN * worlds_count, seed + 1)]
    features, labels = np.vstack([one.features for one in used]), np.concatenate([one.labels for one in used])
    model = merged([fitted(boosted(seed * 10 + at), features, labels) for at in range(2)])
    return with_link_bounds(model, [model.probabilities(one.features) for one in unseen], unseen, _REVIEW)


def with_link_bounds(model: Model, judged: Sequence[Array], unseen: Sequence[Labelled], review: float) -> Model:
    """Return the model with the bounds that its probabilities of unseen pairs ask for.

    What may be linked without a person has the precision, separately with and without a model number that both have.
    """
    probabilities = np.concatenate(judged)
    labels = np.concatenate([one.labels for one in unseen])
    sure = np.concatenate([one.certain for one in unseen])
    coded = np.concatenate([one.coded for one in unseen])
    alone = sure & ~coded
    link = bound(probabilities[alone], labels[alone])
    link_coded = bound(probabilities[coded], labels[coded], PRECISION_CODED)
    return model.with_bounds(link=max(review, link), link_coded=max(review, link_coded), review=review)


def boosted(seed: int, **changed: Any) -> Any:
    """Return an untrained classifier of small boosted trees."""
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


def fitted(classifier: Any, features: Array, labels: Array) -> Any:
    """Fit a classifier in one thread: on a busy machine its threads wait for one another more than they work."""
    nothing = np.isnan(features).all(axis=0)  # a column without a single value cannot be cut
    with threadpool_limits(limits=1):
        return classifier.fit(np.where(nothing, 0.0, features), labels)


def merged(classifiers: list[Any]) -> Model:
    """Average the log-odds of classifiers as one model of plain trees, without bounds."""
    share = 1 / len(classifiers)
    trees = [
        _tree(predictor.nodes, share) for classifier in classifiers for (predictor,) in classifier._predictors
    ]  # the library has no public way to its trees; a test compares the probabilities
    baseline = share * sum(float(classifier._baseline_prediction.item()) for classifier in classifiers)
    return Model(FEATURES, baseline, tuple(trees), 1.0, 1.0, 1.0)


def bound(probabilities: Array, labels: Array, precision: float = PRECISION) -> float:
    """Return the least probability from which on the pairs have a precision; 1.0 where there is none."""
    order = np.argsort(-probabilities, kind="stable")
    falling = probabilities[order]
    share = np.cumsum(labels[order]) / np.arange(1, len(order) + 1)
    last_of_equals = np.append(falling[1:] < falling[:-1], True)[: len(order)]
    enough = np.flatnonzero((share >= precision) & last_of_equals)
    return float(falling[enough[-1]]) if len(enough) else 1.0


def _tree(nodes: Any, share: float) -> Tree:
    leaf = nodes["is_leaf"].astype(bool)
    return Tree(
        feature=np.where(leaf, 0, nodes["feature_idx"]).tolist(),
        threshold=[float(one) if np.isfinite(one) else 1e300 for one in np.where(leaf, 0.0, nodes["num_threshold"])],
        missing_left=(nodes["missing_go_to_left"].astype(bool) & ~leaf).tolist(),
        left=np.where(leaf, 0, nodes["left"]).tolist(),
        right=np.where(leaf, 0, nodes["right"]).tolist(),
        value=np.where(leaf, nodes["value"] * share, 0.0).tolist(),
    )
