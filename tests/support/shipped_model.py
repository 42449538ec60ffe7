"""The shipped model's recipe: trained on invented worlds, its bounds chosen by others that it has not seen."""

from collections.abc import Sequence

import numpy as np

from tests.support.worlds import World, worlds
from workers.articles.matching.context import CandidatePairs, pairs_of
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.model import Model
from workers.articles.matching.segment import Array
from workers.articles.matching.training import PRECISION, Labelled, fit, label_pairs, make_classifier, merge

# Where both records have one model number; more is asked where likeness is all there is, because invented shops are
# kinder than real ones.
_PRECISION_CODED = 0.99
_REVIEW = 0.35
WORLDS, SEED = 36, 7
# So many times as many worlds choose the bounds: in each only a few dozen pairs may be linked without a person.
_UNSEEN = 3


def labelled_world(world: World) -> Labelled:
    """Find candidates between a world's shops, and label them by what is known of the world."""
    index = MatchIndex.of_all([*world.left, *world.right])
    pairs = all_pairs(index)
    chosen = np.flatnonzero(pairs.listed.all(axis=0))
    left = [index.record(int(row)).key for row in pairs.left[chosen]]
    right = [index.record(int(row)).key for row in pairs.right[chosen]]
    labels = np.array([pair in world.matches for pair in zip(left, right, strict=True)])
    return label_pairs(index, pairs, chosen, labels)


def all_pairs(index: MatchIndex) -> CandidatePairs:
    """Return every candidate pair of an index."""
    nearest = index.nearest(index.rows())
    return pairs_of(index, nearest.row, nearest.other)


def train_shipped(*, worlds_count: int = WORLDS, seed: int = SEED, articles: int = 500) -> Model:
    """Train on invented worlds; others choose the bounds of precision."""
    used = [labelled_world(world) for world in worlds(worlds_count, seed, articles)]
    unseen = [labelled_world(world) for world in worlds(_UNSEEN * worlds_count, seed + 1, articles)]
    features, labels = np.vstack([one.features for one in used]), np.concatenate([one.labels for one in used])
    model = merge([fit(make_classifier(seed * 10 + at), features, labels) for at in range(2)])
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
    link_coded = bound(probabilities[coded], labels[coded], _PRECISION_CODED)
    return model.with_bounds(link=max(review, link), link_coded=max(review, link_coded), review=review)


def bound(probabilities: Array, labels: Array, precision: float = PRECISION) -> float:
    """Return the least probability from which on the pairs have a precision; 1.0 where there is none."""
    order = np.argsort(-probabilities, kind="stable")
    falling = probabilities[order]
    share = np.cumsum(labels[order]) / np.arange(1, len(order) + 1)
    last_of_equals = np.append(falling[1:] < falling[:-1], True)[: len(order)]
    enough = np.flatnonzero((share >= precision) & last_of_equals)
    return float(falling[enough[-1]]) if len(enough) else 1.0
