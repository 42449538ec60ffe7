"""The linear model of pairs: what it learns from words, and features that are missing or far off."""

import numpy as np

from workers.articles.matching.index import MatchIndex
from workers.articles.matching.linear import log_odds, said_by, with_features
from workers.articles.matching.records import Record
from workers.articles.matching.training import all_pairs


def test_a_word_that_only_the_wrong_pairs_have_speaks_against_pairs_that_were_not_learned() -> None:
    left = [Record(f"left/{at}", "left", f"lamp model{at}") for at in range(60)]
    endings = ["", " remade"]
    right = [Record(f"right/{at}", "right", f"lamp model{at}{endings[at % 2]}") for at in range(60)]
    index = MatchIndex.build([*left, *right])
    pairs = all_pairs(index)
    keys = [[index.record(row).key.split("/")[1] for row in side.tolist()] for side in (pairs.left, pairs.right)]
    same = np.flatnonzero(np.array(keys[0]) == np.array(keys[1]))
    assert len(same) == 60
    labels = np.array(["remade" not in index.record(int(row)).name for row in pairs.right[same]])
    judged = log_odds(said_by(index, pairs), same[:40], labels[:40])[same[40:]]
    assert 0 < labels[40:].sum() < 20
    assert judged[labels[40:]].min() > judged[~labels[40:]].max()


def test_a_missing_feature_and_one_that_is_far_off_leave_every_row_finite() -> None:
    chance = np.random.default_rng(3)
    features = chance.normal(size=(50, 3))
    labels = features[:40, 0] > 0
    features[5, 1] = np.nan
    features[:, 2] = np.nan
    features[45, 1] = 1e12
    said = np.eye(50)
    rows = with_features(said, features, np.arange(40))
    judged = log_odds(rows, np.arange(40), labels)
    assert np.isfinite(rows.toarray()).all()
    assert abs(rows.toarray()[45, 50:]).max() <= 2
    assert np.corrcoef(judged[40:], features[40:, 0])[0, 1] > 0.9
