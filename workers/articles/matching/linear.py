"""Linear models of pairs: of the words that both records or only one of them have, and of a pair's features."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction import DictVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from workers.articles.matching.context import Pairs
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.profiles import Profile
from workers.articles.matching.scoring import Profiles
from workers.articles.matching.segment import Array

_STRENGTH = 0.3
_STEPS = 300
# A scaled feature counts half as much as a word: there are many rows for each feature and few for most words.
_FEATURE_WEIGHT = 0.5
_FURTHEST = 4.0


def said_by(index: MatchIndex, pairs: Pairs) -> Any:
    """Return one sparse row for each pair: which words both records or one of them have, their brand and categories."""
    profiles = Profiles(index)
    ends = zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
    return DictVectorizer().fit_transform(_differences(profiles[left], profiles[right]) for left, right in ends).tocsr()


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
