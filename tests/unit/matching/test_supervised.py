"""How a model trained on examples weighs its learners, and the bound that it calls a match from."""

import numpy as np
from sklearn.metrics import average_precision_score

from workers.articles.matching.index import MatchIndex
from workers.articles.matching.supervised import (
    WEIGHTS,
    best_bound,
    best_weights,
    folding_by_record,
    judge,
    steady_bound,
)
from workers.articles.matching.synthetic import worlds
from workers.articles.matching.training import all_pairs


def test_the_bound_of_separable_examples_is_between_them() -> None:
    probabilities = np.array([0.05, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9, 0.95] * 5)
    labels = probabilities > 0.5
    assert 0.3 < steady_bound(probabilities, labels) < 0.7
    assert best_bound(probabilities, labels)[1] == 1.0


def test_one_example_that_is_better_by_chance_does_not_move_the_bound_far() -> None:
    chance = np.random.default_rng(7)
    probabilities = chance.random(4000)
    labels = chance.random(4000) < probabilities  # calibrated: F1 is best at half of the best F1
    best = best_bound(probabilities, labels)[1] / 2
    samples = np.array_split(np.arange(4000), 10)
    steady = [abs(steady_bound(probabilities[one], labels[one]) - best) for one in samples]
    single = [abs(best_bound(probabilities[one], labels[one])[0] - best) for one in samples]
    assert np.mean(steady) < np.mean(single)


def test_the_learners_that_judge_unseen_examples_better_count_more() -> None:
    chance = np.random.default_rng(3)
    labels = chance.random(500) < 0.3
    right, blind = labels * 0.5 + chance.random(500) * 0.6, chance.random(500)
    first_counts, second_counts = (
        best_weights([right, right, blind], labels),
        best_weights([blind, blind, right], labels),
    )
    assert {first_counts, second_counts} == set(WEIGHTS)
    assert first_counts[2] < second_counts[2]


def test_labels_by_chance_cannot_be_told_even_of_the_examples_themselves() -> None:
    world = next(worlds(1, seed=4, articles=40))
    index = MatchIndex.build([*world.left, *world.right])
    pairs = all_pairs(index)
    known = np.arange(0, len(pairs.left), 2)
    labels = np.random.default_rng(6).random(len(known)) < 0.5
    judged = judge(index, pairs, known, labels)
    assert average_precision_score(labels, judged.probabilities[known]) < 0.75  # 1.0 by a model that has seen them


def test_no_model_that_chooses_the_bound_has_seen_a_record_that_it_judges() -> None:
    world = next(worlds(1, seed=4, articles=40))
    index = MatchIndex.build([*world.left, *world.right])
    pairs = all_pairs(index)
    known = np.arange(len(pairs.left))
    labels = np.random.default_rng(6).random(len(known)) < 0.5
    folding = folding_by_record(index, pairs, known, labels)
    assert len(folding.used) > 2
    for number, used in enumerate(folding.used):
        judged = folding.fold == number
        for records in (pairs.left[known], pairs.right[known]):
            assert judged.any()
            assert used.any()
            assert not set(records[judged].tolist()) & set(records[used].tolist())
