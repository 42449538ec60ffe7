"""The models of pairs: what they learn, how they are judged, and the file that holds one."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.shipped_model import bound, labelled_world, with_link_bounds
from tests.support.worlds import worlds
from workers.articles.matching.context import COPIES
from workers.articles.matching.evidence import link_bound
from workers.articles.matching.model import DecisionTree, Model, UnusableModel
from workers.articles.matching.profiles import Profile
from workers.articles.matching.records import MatchRecord
from workers.articles.matching.scoring import FEATURES, fitting
from workers.articles.matching.training import (
    Labelled,
    blend,
    choose,
    fit,
    folds_by_record,
    learn,
    make_classifier,
    merge,
    supported_bound,
)
from workers.articles.matching.vocabulary import Vocabulary


def test_the_plain_trees_give_the_probabilities_of_the_library() -> None:
    chance = np.random.default_rng(1)
    features = chance.normal(size=(600, len(FEATURES)))
    features[chance.random(features.shape) < 0.2] = np.nan
    labels = np.nan_to_num(features[:, 0]) + np.nan_to_num(features[:, 5]) ** 2 > 0.5
    classifier = fit(make_classifier(0, max_iter=20), features, labels)
    expected = classifier.predict_proba(features)[:, 1]
    assert merge([classifier]).probabilities(features) == pytest.approx(expected, abs=1e-9)


def test_no_probability_is_greater_than_the_highest_one_by_the_columns_that_were_known_before() -> None:
    model, chance = Model.shipped(), np.random.default_rng(2)
    features = chance.normal(size=(500, len(FEATURES))) * 3
    features[chance.random(features.shape) < 0.2] = np.nan
    known, highest = np.zeros(len(FEATURES), bool), np.ones(len(features))
    for column in chance.permutation(len(FEATURES)).tolist():
        known[column] = True
        later = model.probabilities(np.where(known, features, chance.normal(size=features.shape)), known)
        assert (later <= highest).all()
        highest = later
    assert highest.tolist() == model.probabilities(features).tolist()
    assert len(set(highest.tolist())) > 400


def test_a_written_model_is_read_back_the_same(tmp_path: Path) -> None:
    Model.shipped().write(tmp_path / "model.json")
    assert Model.read(tmp_path / "model.json") == Model.shipped()


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        (DecisionTree([0, 0, 0], [0.5] * 3, [True] * 3, [1, 1, 0], [2, 2, 0], [0.0] * 3), "wrong branch"),
        (DecisionTree([0, 0], [0.5] * 2, [True] * 2, [1, 0], [1, 0], [0.0] * 2), "two branches to one node"),
        (None, "no model file"),
    ],
)
def test_a_file_that_is_no_model_or_whose_branches_lead_astray_is_refused(
    tmp_path: Path, tree: DecisionTree | None, said: str
) -> None:
    (tmp_path / "model.json").write_text('{"trees": 1}')
    if tree is not None:
        Model(FEATURES, 0.0, (tree,), 1.0, 1.0, 0.5).write(tmp_path / "model.json")
    with pytest.raises(UnusableModel, match=said):
        Model.read(tmp_path / "model.json")
    with pytest.raises(UnusableModel):
        Model.decoded((tmp_path / "model.json").read_bytes())


def test_a_tree_has_64_leaves_at_most(tmp_path: Path) -> None:
    for leaves in (64, 65):
        nodes = 2 * leaves - 1
        left = [node + 1 if node % 2 == 0 and node + 2 < nodes else 0 for node in range(nodes)]
        right = [node + 2 if one else 0 for node, one in enumerate(left)]
        thresholds, values = [float(node) for node in range(nodes)], [node / 100 for node in range(nodes)]
        comb = DecisionTree([0] * nodes, thresholds, [False] * nodes, left, right, values)
        Model(FEATURES, 0.0, (comb,), 1.0, 1.0, 0.5).write(tmp_path / f"{leaves}.json")
    features = np.zeros((4, len(FEATURES)))
    features[:, 0] = -1.0, 60.5, math.nan, 1000.0
    judged = Model.read(tmp_path / "64.json").probabilities(features)
    assert np.log(judged / (1 - judged)).tolist() == pytest.approx([0.01, 0.63, 1.26, 1.26])
    with pytest.raises(UnusableModel, match="more than 64 leaves"):
        Model.read(tmp_path / "65.json")


def test_the_bound_is_the_least_probability_with_the_precision() -> None:
    probabilities = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    labels = np.array([True, True, False, True, False])
    assert bound(probabilities, labels, 0.75) == 0.6
    assert bound(probabilities, labels, 1.0) == 0.8
    assert bound(probabilities, ~labels, 1.0) == 1.0


def test_pairs_of_one_probability_are_above_a_bound_together() -> None:
    assert bound(np.array([0.9, 0.9]), np.array([True, False]), 1.0) == 1.0
    assert bound(np.array([0.95, 0.9, 0.9]), np.array([True, True, False]), 1.0) == 0.95
    assert bound(np.array([0.95, 0.9, 0.9]), np.array([True, True, True]), 1.0) == 0.9
    assert bound(np.zeros(0), np.zeros(0, bool)) == 1.0


def test_pairs_with_one_model_number_have_a_bound_of_their_own_and_none_is_below_that_of_review() -> None:
    labels = np.array([True, True, False, True, True, True])
    coded = np.array([False, False, False, True, True, True])
    pairs = Labelled(
        np.zeros((6, 1)),
        labels,
        certain=np.ones(6, bool),
        coded=coded,
        opposed=np.zeros(6, bool),
        ends=np.zeros((6, 2)),
    )
    probabilities = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.1])
    model = with_link_bounds(Model.shipped(), [probabilities], [pairs], review=0.35)
    assert (model.link, model.link_coded, model.review) == (0.8, 0.35, 0.35)


def _decided(world_seed: int) -> Labelled:
    return labelled_world(next(worlds(1, seed=world_seed, articles=150)))


def test_a_model_that_learned_from_decisions_ranks_records_that_it_has_not_seen_as_well_as_the_shipped_one() -> None:
    from sklearn.metrics import average_precision_score  # only here: a second, in each process that collects tests

    made = _decided(99)
    learned = learn(Model.shipped(), made, missed=3)
    assert learned.ranking == pytest.approx(average_precision_score(made.labels, learned.unseen))
    assert learned.ranking > learned.former_ranking - 0.01
    found = learned.at(0.5)
    assert found.matches == made.labels.sum() + 3
    assert found.precision.low <= found.precision.share <= found.precision.high
    assert learned.at(0.99).found <= found.found
    assert learned.model.review == Model.shipped().review


def test_a_blended_model_has_the_average_of_both_log_odds() -> None:
    features = _decided(7).features
    shipped = Model.shipped()
    half = blend(shipped, replace(shipped, baseline=shipped.baseline + 2.0), 0.5)
    odds = [np.log(one) - np.log1p(-one) for one in (shipped.probabilities(features), half.probabilities(features))]
    assert np.allclose(odds[1] - odds[0], 1.0, atol=1e-6)


def test_no_pair_trains_a_model_that_judges_a_record_of_it() -> None:
    ends = np.random.default_rng(2).integers(0, 30, (300, 2))
    judged = [0]
    for asked, used in folds_by_record(ends):
        assert not set(ends[asked, 0]) & set(ends[used, 0])
        assert not set(ends[asked, 1]) & set(ends[used, 1])
        judged += asked.tolist()
    assert sorted(judged[1:]) == list(range(300))


def test_a_bound_needs_enough_decisions_that_support_it() -> None:
    assert supported_bound(np.full(72, 0.9), np.ones(72, bool)) is None
    assert supported_bound(np.full(73, 0.9), np.ones(73, bool)) == 0.9
    falling = np.linspace(0.99, 0.5, 300)
    assert supported_bound(falling, falling > 0.7) == pytest.approx(falling[falling > 0.7].min(), abs=0.003)
    assert supported_bound(np.zeros(0), np.zeros(0, bool)) is None


def test_a_pair_that_contradicts_itself_waits_however_sure_a_learned_model_is() -> None:
    learned = Model.shipped().with_bounds(link=1.0, link_coded=1.0, review=0.35, link_learned=0.4)
    sizes = [Profile(MatchRecord(name, name, f"Vita soy milk {name}"), Vocabulary()) for name in ("1L", "2L", "1 l")]
    assert link_bound(sizes[0], sizes[1], learned, offers=False) == math.inf
    assert link_bound(sizes[0], sizes[2], learned, offers=False) == 0.4
    assert link_bound(sizes[0], sizes[2], Model.shipped(), offers=False) > 0.4


def test_offers_with_copies_wait_where_one_has_a_number_that_the_other_lacks() -> None:
    names = ("Evans EC2S drumhead", "Evans EC2S drumhead", "Evans EC2S drumhead 14")
    ours, same, other = (Profile(MatchRecord(str(at), str(at), name), Vocabulary()) for at, name in enumerate(names))
    shipped = Model.shipped()
    assert link_bound(ours, same, shipped, offers=True) == shipped.link_offers
    assert link_bound(ours, same, shipped, offers=False) == shipped.link_coded
    assert link_bound(ours, other, shipped, offers=True) == math.inf
    assert link_bound(ours, same, replace(shipped, link_offers=None), offers=True) == math.inf


def test_a_model_from_before_copies_were_told_apart_is_used_and_links_no_offers_that_have_copies() -> None:
    former = Model(FEATURES[:-1], -1.0, (), link=0.9, link_coded=0.9, review=0.35)
    assert fitting(former).features == FEATURES
    assert fitting(former).link_offers is None
    with pytest.raises(UnusableModel):
        fitting(replace(former, features=FEATURES[1:]))


def test_two_models_joined_by_a_feature_judge_each_their_own_rows() -> None:
    rows = np.random.default_rng(1).random((400, len(FEATURES)))
    rows[:, FEATURES.index(COPIES)] = np.arange(400) % 3
    labels = rows[:, 0] + rows[:, 1] > 1
    first, second = (merge([fit(make_classifier(seed), rows, at)]) for seed, at in enumerate((labels, ~labels)))
    joined = choose(COPIES, first, second).probabilities(rows)
    has = rows[:, FEATURES.index(COPIES)] > 0
    assert np.allclose(joined[has], second.probabilities(rows[has]))
    assert np.allclose(joined[~has], first.probabilities(rows[~has]))
