"""Blocks of pairs are judged alike in one process and in several."""

import numpy as np
import pytest

from workers.matching.context import contenders
from workers.matching.index import MatchIndex
from workers.matching.judging import Block, Judge, judged
from workers.matching.model import Model
from workers.matching.segment import Array
from workers.matching.synthetic import worlds
from workers.matching.training import all_pairs


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


def test_no_blocks_give_no_links(index: MatchIndex) -> None:
    assert list(judged(Judge(Model.shipped(), index.vocabulary), [])) == []
