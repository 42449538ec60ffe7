"""Blocks of pairs are judged alike in one process and in several."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.shipped_model import all_pairs
from tests.support.worlds import worlds
from workers.articles.matching.context import contenders
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.judging import Judge, PairBlock, judge_blocks
from workers.articles.matching.model import Model
from workers.articles.matching.profiles import Profile
from workers.articles.matching.scoring import features_of, likely
from workers.articles.matching.segment import Array


@pytest.fixture(scope="module")
def index_judging() -> MatchIndex:
    world = next(worlds(1, seed=3, articles=80))
    return MatchIndex.of_all([*world.left, *world.right])


def blocks_of(index: MatchIndex, count: int) -> list[PairBlock]:
    pairs = all_pairs(index)
    chosen, standing = contenders(index, pairs, np.ones(len(pairs.left), bool))
    texts = index.texts(index.rows())

    def block(part: Array) -> PairBlock:
        return PairBlock(texts, pairs.left[chosen[part]], pairs.right[chosen[part]], standing[part])

    return [block(part) for part in np.array_split(np.arange(len(chosen)), count)]


def test_several_processes_give_the_links_of_one_in_the_order_of_the_blocks(index_judging: MatchIndex) -> None:
    judge = Judge(Model.shipped(), index_judging.vocabulary)
    [whole] = blocks_of(index_judging, 1)
    expected = judge.links(whole)
    assert len(expected) > 20
    assert list(judge_blocks(judge, [whole])) == expected
    assert list(judge_blocks(judge, [])) == []
    assert list(judge_blocks(judge, blocks_of(index_judging, 7))) == expected


def test_a_pair_that_is_left_out_early_is_below_the_bound_and_the_others_have_the_probability_of_all_features(
    index_judging: MatchIndex,
) -> None:
    [block], model = blocks_of(index_judging, 1), Model.shipped()
    profiles = [Profile(index_judging.record(int(row)), index_judging.vocabulary) for row in index_judging.rows()]
    compared = [(profiles[left], profiles[right]) for left, right in zip(block.left, block.right, strict=True)]
    probabilities = model.probabilities(features_of(compared, block.standing))
    expected = np.flatnonzero(probabilities >= model.review)
    positions, found = likely(model, compared, block.standing)
    assert (positions.tolist(), found.tolist()) == (expected.tolist(), probabilities[expected].tolist())
    assert 20 < len(expected) < len(compared) / 2


_ENDING = """
import numpy as np, os
from workers.articles.matching import judging
from workers.articles.matching.model import Model
from workers.articles.matching.vocabulary import Vocabulary
nothing = judging.PairBlock((), np.zeros(0, int), np.zeros(0, int), np.zeros((0, 14)))
os.sched_getaffinity = lambda process: {0, 1}
list(judging.judge_blocks(judging.Judge(Model.shipped(), Vocabulary()), [nothing] * 3))
"""


def test_processes_that_die_at_their_start_fail_the_judging_and_do_not_hold_it(tmp_path: Path) -> None:
    # Without `if __name__ == "__main__"` each process that is started ends with an error before it has read anything.
    program = tmp_path / "ending.py"
    program.write_text(_ENDING)
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode != 0 and "BrokenProcessPool" in run.stderr
