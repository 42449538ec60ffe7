"""After one half, which the vocabulary is counted from, ten loads of the other half give the same articles in any order."""

import random
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.worlds import World, worlds
from workers.articles.matching.clusters import ClusterMember, cluster
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.matcher import Matcher
from workers.articles.matching.model import Model
from workers.articles.matching.records import MatchRecord, RecordLink

_WORLD: World = next(worlds(1, seed=14, articles=60))

_RECORDS = (*_WORLD.left, *_WORLD.right)

_HALF, _REST = _RECORDS[::2], _RECORDS[1::2]

# A low bound, so that the few records give many links whose order could matter.
_MODEL = Model.shipped().with_bounds(link=0.5, link_coded=0.5, review=0.3)


def _articles(loads: list[list[MatchRecord]]) -> tuple[tuple[str, ...], ...]:
    index = MatchIndex()
    stored: dict[tuple[str, str], RecordLink] = {}
    for load in (list(_HALF), *loads):
        index.add(load)
        linkage = Matcher(_MODEL, index).link(record.key for record in load)
        stored = {pair: link for pair, link in stored.items() if linkage.touched.isdisjoint(pair)}
        stored |= {link.pair: link for link in linkage.links}
    return cluster(
        {record.key: ClusterMember(record.source, record.article, record.separate) for record in _RECORDS},
        stored.values(),
    ).groups


def _loads(seed: int) -> list[list[MatchRecord]]:
    records = list(_REST)
    random.Random(seed).shuffle(records)
    return [records[at::10] for at in range(10)]


@cache
def _at_once() -> tuple[tuple[str, ...], ...]:
    return _articles([list(_REST)])


@settings(max_examples=2)
@given(st.integers(0, 2**32))
def test_ten_loads_in_any_order_give_the_same_articles(seed: int) -> None:
    assert len(_at_once()) > 10
    assert _articles(_loads(seed)) == _at_once()
