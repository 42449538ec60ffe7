"""The model file: what it computes, that it can be trained anew, and what is refused."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import average_precision_score

from workers.articles.matching.evidence import link_bound
from workers.articles.matching.model import Model, Tree, UnusableModel
from workers.articles.matching.profiles import profile
from workers.articles.matching.records import Record
from workers.articles.matching.scoring import FEATURES
from workers.articles.matching.synthetic import worlds
from workers.articles.matching.training import (
    Labelled,
    boosted,
    bound,
    fitted,
    folds_by_record,
    labelled_world,
    learn,
    merged,
    supported_bound,
    train_shipped,
    with_link_bounds,
)
from workers.articles.matching.vocabulary import Vocabulary


def test_the_plain_trees_give_the_probabilities_of_the_library() -> None:
    chance = np.random.default_rng(1)
    features = chance.normal(size=(600, len(FEATURES)))
    features[chance.random(features.shape) < 0.2] = np.nan
    labels = np.nan_to_num(features[:, 0]) + np.nan_to_num(features[:, 5]) ** 2 > 0.5
    classifier = fitted(boosted(0, max_iter=20), features, labels)
    expected = classifier.predict_proba(features)[:, 1]
    assert merged([classifier]).probabilities(features) == pytest.approx(expected, abs=1e-9)


def test_training_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        train_shipped(worlds_count=1, seed=5).write(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_shipped_model_knows_the_twins_of_worlds_that_it_has_not_seen() -> None:
    model = Model.shipped()
    made = [labelled_world(world) for world in worlds(12, seed=12345)]
    scores = np.concatenate([model.probabilities(one.features) for one in made])
    labels, certain, coded = (
        np.concatenate([getattr(one, part) for one in made]) for part in ("labels", "certain", "coded")
    )
    called = scores >= model.review
    unattended = certain & (scores >= np.where(coded, model.link_coded, model.link))
    f1 = 2 * labels[called].sum() / (called.sum() + labels.sum())
    assert f1 > 0.75
    # As many as a precision of 0.99 gives in 19 of 20 samples.
    assert (~labels[unattended]).sum() <= binom.ppf(0.95, unattended.sum(), 0.01)
    assert unattended.sum() > 150


def test_a_written_model_is_read_back_the_same(tmp_path: Path) -> None:
    Model.shipped().write(tmp_path / "model.json")
    assert Model.read(tmp_path / "model.json") == Model.shipped()


def test_a_tree_whose_branches_lead_back_is_refused(tmp_path: Path) -> None:
    circle = Tree([0, 0, 0], [0.5] * 3, [True] * 3, [1, 1, 0], [2, 2, 0], [0.0] * 3)
    Model(FEATURES, 0.0, (circle,), 1.0, 1.0, 0.5).write(tmp_path / "model.json")
    with pytest.raises(UnusableModel, match="wrong branch"):
        Model.read(tmp_path / "model.json")


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"trees": 1}')
    with pytest.raises(UnusableModel, match="no model file"):
        Model.read(tmp_path / "model.json")


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


def test_features_are_the_same_bytes_whatever_order_a_process_gives_its_sets() -> None:
    made = (
        "import hashlib; from workers.articles.matching.synthetic import worlds; from workers.articles.matching.training import "
        "labelled_world; print(hashlib.sha256(labelled_world(next(worlds(1, 7, 60))).features.tobytes()).hexdigest())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", made], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


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


def test_a_model_that_learned_from_decisions_judges_records_that_it_has_not_seen_better_than_chance() -> None:
    made = _decided(99)
    learned = learn(Model.shipped(), made, made.features[:0], missed=3)
    assert average_precision_score(made.labels, learned.unseen) > 2 * made.labels.mean()
    found = learned.at(0.5)
    assert found.matches == made.labels.sum() + 3
    assert found.precision.low <= found.precision.share <= found.precision.high
    assert learned.at(0.99).found <= found.found
    assert learned.model.review == Model.shipped().review


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
    sizes = [profile(Record(name, name, f"Vita soy milk {name}"), Vocabulary()) for name in ("1L", "2L", "1 l")]
    assert link_bound(sizes[0], sizes[1], learned) == math.inf
    assert link_bound(sizes[0], sizes[2], learned) == 0.4
    assert link_bound(sizes[0], sizes[2], Model.shipped()) > 0.4
