"""The model file: what it computes, that it can be trained anew, and what is refused."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from workers.articles.matching.model import Model, Tree, UnusableModel
from workers.articles.matching.scoring import FEATURES
from workers.articles.matching.synthetic import worlds
from workers.articles.matching.training import (
    Labelled,
    boosted,
    bound,
    fitted,
    labelled_world,
    merged,
    train_shipped,
    with_link_bounds,
)


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
