"""The shipped model's recipe: trained on invented worlds, its bounds chosen by others that it has not seen.

Trees of their own judge the pairs of offers that have copies, which invented marketplaces teach them.
"""

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from tests.support.worlds import World, markets, worlds
from workers.articles.matching.context import COPIES, CandidatePairs, pairs_of
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.model import Model
from workers.articles.matching.scoring import FEATURES
from workers.articles.matching.segment import SPACES, Array
from workers.articles.matching.training import PRECISION, Labelled, choose, fit, label_pairs, make_classifier, merge

# Where both records have one model number; more is asked where likeness is all there is, because invented shops are
# kinder than real ones.
_PRECISION_CODED = 0.99
_REVIEW = 0.35
WORLDS, SEED = 36, 7
# So many times as many worlds choose the bounds: in each only a few dozen pairs may be linked without a person.
_UNSEEN = 3
_UNSAID = [FEATURES.index(f"numbers_unsaid_{side}") for side in ("left", "right")]
# More alike are only copies.
_COPY = 0.9999


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
    model = with_link_bounds(model, [model.probabilities(one.features) for one in unseen], unseen, _REVIEW)
    return with_offers(model, max(2, worlds_count // 2), seed)


def with_offers(model: Model, count: int, seed: int) -> Model:
    """Return the model with trees and a bound for offers that have copies, from so many invented marketplaces."""
    used, unseen = ([_offers(labelled_world(one)) for one in markets(count, at)] for at in (seed, seed + 1))
    features, labels = np.vstack([one.features for one in used]), np.concatenate([one.labels for one in used])
    offers = merge([fit(make_classifier(seed * 10), features, labels)])
    judged = np.concatenate([offers.probabilities(one.features) for one in unseen])
    alike = np.concatenate([one.certain & ~one.features[:, _UNSAID].any(axis=1) for one in unseen])
    link = bound(judged[alike], np.concatenate([one.labels for one in unseen])[alike])
    return replace(choose(COPIES, model, offers), link_offers=max(model.review, link))


def _offers(examples: Labelled) -> Labelled:
    """Keep the pairs of records that have copies and are none of each other."""
    alike = np.minimum(*(examples.features[:, FEATURES.index(f"{space}_cosine")] for space in SPACES))
    kept = (examples.features[:, FEATURES.index(COPIES)] > 0) & (alike < _COPY)
    return Labelled(*(getattr(examples, field.name)[kept] for field in fields(examples)))


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
