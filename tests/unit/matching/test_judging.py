"""Blocks of pairs are judged alike in one process and in several."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from workers.articles.matching.context import contenders
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.judging import Block, Judge, judged
from workers.articles.matching.model import Model
from workers.articles.matching.segment import Array
from workers.articles.matching.synthetic import worlds
from workers.articles.matching.training import all_pairs


@pytest.fixture(scope="module")
def index() -> MatchIndex:
    world = next(worlds(1, seed=3, articles=80))
    return MatchIndex.build([*world.left, *world.right])


def blocks_of(index: MatchIndex, count: int) -> list[Block]:
    pairs = all_pairs(index)
    chosen, standing = contenders(index, pairs, np.ones(len(pairs.left), bool))
    texts = tuple(index.text(int(row)) for row in index.rows())

    def block(part: Array) -> Block:
        return Block(texts, pairs.left[chosen[part]], pairs.right[chosen[part]], standing[part])

    return [block(part) for part in np.array_split(np.arange(len(chosen)), count)]


def test_several_processes_give_the_links_of_one_in_the_order_of_the_blocks(index: MatchIndex) -> None:
    judge = Judge(Model.shipped(), index.vocabulary)
    [whole] = blocks_of(index, 1)
    expected = judge.links(whole)
    assert len(expected) > 20
    assert list(judged(judge, [whole])) == expected
    assert list(judged(judge, blocks_of(index, 7))) == expected


_ENDING = """
import numpy as np, os
from workers.articles.matching import judging
from workers.articles.matching.model import Model
from workers.articles.matching.vocabulary import Vocabulary
nothing = judging.Block((), np.zeros(0, int), np.zeros(0, int), np.zeros((0, 14)))
os.sched_getaffinity = lambda process: {0, 1}
list(judging.judged(judging.Judge(Model.shipped(), Vocabulary()), [nothing] * 3))
"""


def test_processes_that_die_at_their_start_fail_the_judging_and_do_not_hold_it(tmp_path: Path) -> None:
    # Without `if __name__ == "__main__"` each process that is started ends with an error before it has read anything.
    program = tmp_path / "ending.py"
    program.write_text(_ENDING)
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode != 0 and "BrokenProcessPool" in run.stderr


def test_no_blocks_give_no_links(index: MatchIndex) -> None:
    assert list(judged(Judge(Model.shipped(), index.vocabulary), [])) == []
