"""The law of order: with a vocabulary from one half, ten loads of the other half give the same articles in any order."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from workers.articles.matching.clusters import Member, cluster
from workers.articles.matching.index import MatchIndex, vocabulary_of
from workers.articles.matching.matcher import Matcher
from workers.articles.matching.model import Model
from workers.articles.matching.records import Link, Record
from workers.articles.matching.synthetic import World, worlds

_WORLD: World = next(worlds(1, seed=14, articles=60))
_RECORDS = (*_WORLD.left, *_WORLD.right)
_HALF, _REST = _RECORDS[::2], _RECORDS[1::2]
# A low bound, so that the few records give many links whose order could matter.
_MODEL = Model.shipped().with_bounds(link=0.5, link_coded=0.5, review=0.3)
_VOCABULARY = vocabulary_of(_HALF)


def _articles(loads: list[list[Record]]) -> tuple[tuple[str, ...], ...]:
    index = MatchIndex(_VOCABULARY)
    stored: dict[tuple[str, str], Link] = {}
    for load in (list(_HALF), *loads):
        index.add(load)
        linkage = Matcher(_MODEL, index).link(record.key for record in load)
        stored = {pair: link for pair, link in stored.items() if linkage.touched.isdisjoint(pair)}
        stored |= {link.pair: link for link in linkage.links}
    return cluster({record.key: Member.of(record) for record in _RECORDS}, stored.values()).groups


def _loads(seed: int) -> list[list[Record]]:
    records = list(_REST)
    random.Random(seed).shuffle(records)
    return [records[at::10] for at in range(10)]


_AT_ONCE = _articles([list(_REST)])


def test_the_world_of_the_law_has_articles_of_two_records() -> None:
    assert len(_AT_ONCE) > 10


@settings(max_examples=8)
@given(st.integers(0, 2**32))
def test_ten_loads_in_any_order_give_the_same_articles(seed: int) -> None:
    assert _articles(_loads(seed)) == _AT_ONCE
