"""Which records become one article, in whatever order they come."""

import random
from dataclasses import replace
from datetime import date
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.worlds import World, worlds
from workers.articles.matching.clusters import Member, cluster
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.matcher import Matcher
from workers.articles.matching.model import Model
from workers.articles.matching.records import Decision, Evidence, Kind, Link, Record

# Clusters: one article per group, whatever the order of what is known.


LETTERS = "abcd"


def _link(left: str, right: str, score: float = 0.99, kind: Kind = Kind.LIKENESS) -> Link:
    return Link(left, right, kind, score, Decision.LINK)


def _members(*keys: str) -> dict[str, Member]:
    return {key: Member(key[0]) for key in keys}


def test_no_two_records_of_one_source_are_in_one_article() -> None:
    done = cluster(_members("a1", "b1", "b2"), [_link("a1", "b1", 0.995), _link("a1", "b2", 0.999)])
    assert done.groups == (("a1", "b2"),)
    assert [link.pair for link in done.refused] == [("a1", "b1")]


def test_a_source_may_declare_two_of_its_records_one_article() -> None:
    members = _members("a1") | {"b1": Member("b", "x"), "b2": Member("b", "x")}
    links = [_link("a1", "b1", 1.0, Kind.IDENTIFIER), _link("a1", "b2", 1.0, Kind.IDENTIFIER)]
    assert cluster(members, links).groups == (("a1", "b1", "b2"),)


def test_a_chain_through_a_weak_link_joins_nothing() -> None:
    done = cluster(_members("a1", "b1", "c1"), [_link("a1", "b1", 0.999), _link("b1", "c1", 0.99)])
    assert done.groups == (("a1", "b1"),)


def test_three_records_that_are_all_alike_are_one_article() -> None:
    links = [_link("a1", "b1"), _link("b1", "c1"), _link("a1", "c1")]
    assert cluster(_members("a1", "b1", "c1"), links).groups == (("a1", "b1", "c1"),)


def test_a_pair_that_a_person_rejected_stays_apart_even_in_a_chain_of_identifiers() -> None:
    links = [_link("a1", "b1", 1.0, Kind.IDENTIFIER), _link("b1", "c1", 1.0, Kind.IDENTIFIER)]
    done = cluster(_members("a1", "b1", "c1"), links, rejected=[("c1", "a1")])
    assert done.groups == (("a1", "b1"),)


def test_a_pair_that_contradicts_its_identifier_stays_apart_even_in_a_chain_of_identifiers() -> None:
    against = (Evidence("gtin", "1", "1", agrees=True), Evidence("pack", "a", "c", agrees=False))
    links = [_link("a1", "b1", 1.0, Kind.IDENTIFIER), _link("b1", "c1", 1.0, Kind.IDENTIFIER)]
    waiting = Link("a1", "c1", Kind.IDENTIFIER, 0.5, Decision.REVIEW, against)
    assert cluster(_members("a1", "b1", "c1"), [*links, waiting]).groups == (("a1", "b1"),)
    unlike = replace(waiting, evidence=(against[0], replace(against[1], field="name")))
    assert cluster(_members("a1", "b1", "c1"), [*links, unlike]).groups == (("a1", "b1", "c1"),)


def test_a_younger_record_takes_no_link_of_equal_strength_away() -> None:
    links = [_link("a1", "b1", 1.0, Kind.IDENTIFIER), _link("a1", "b2", 1.0, Kind.IDENTIFIER)]
    for older in ("b1", "b2"):
        ages = {key: (date(2026, 7, 1 if key in ("a1", older) else 2),) for key in ("a1", "b1", "b2")}
        members = {key: replace(one, age=ages[key]) for key, one in _members(*ages).items()}
        assert cluster(members, links).groups == (("a1", older),)


def test_a_pair_that_a_person_accepted_is_joined_without_a_link() -> None:
    assert cluster(_members("a1", "b1"), [], accepted=[("b1", "a1")]).groups == (("a1", "b1"),)


_keys = st.builds(lambda letter, number: f"{letter}{number}", st.sampled_from(LETTERS), st.integers(1, 3))

_links = st.builds(
    lambda pair, score, kind: _link(*sorted(pair), score, kind),
    st.tuples(_keys, _keys).filter(lambda pair: pair[0] != pair[1]),
    st.sampled_from([0.99, 0.995, 0.999]),
    st.sampled_from([Kind.IDENTIFIER, Kind.LIKENESS]),
)

_ALL = [f"{letter}{number}" for letter in LETTERS for number in (1, 2, 3)]


@given(st.lists(_links, unique_by=lambda link: link.pair), st.randoms(use_true_random=False))
def test_the_order_of_records_and_links_does_not_matter(links: list[Link], random: object) -> None:
    shuffled, keys = list(links), list(_ALL)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    random.shuffle(keys)  # type: ignore[attr-defined]
    assert cluster(_members(*keys), shuffled) == cluster(_members(*_ALL), links)


@given(st.lists(_links, unique_by=lambda link: link.pair))
def test_every_article_has_at_most_one_record_of_a_source(links: list[Link]) -> None:
    for group in cluster(_members(*_ALL), links).groups:
        assert len({key[0] for key in group}) == len(group)


# The matcher over an index: what is linked, what waits, what is kept.


def _index(*records: Record) -> MatchIndex:
    index = MatchIndex()
    index.add(records)
    return index


CAMERA = Record("a/1", "a", "Sony Cyber-shot DSC-W150 digital camera gold", brand="Sony")

SAME = Record("b/1", "b", "Sony Cyber-shot DSC-W150 digital camera gold", brand="Sony")

OTHER = Record("b/2", "b", "Netgear ProSafe GS105 ethernet switch", brand="Netgear")

# Linked from the lowest probability on, so that only what confirms or opposes the pair decides.
EAGER = Model.shipped().with_bounds(link=0.35, link_coded=0.35, review=0.35)


def test_the_same_article_of_two_sources_is_linked_and_another_is_not() -> None:
    linkage = Matcher(Model.shipped(), _index(CAMERA, SAME, OTHER)).link(["a/1"])
    assert [link.pair for link in linkage.links] == [("a/1", "b/1")]
    assert {"a/1", "b/1"} <= linkage.touched


def test_an_equal_identifier_decides_before_likeness() -> None:
    left = Record("a/1", "a", "Stabilo pen", gtins=("04006381333931",))
    right = Record("b/1", "b", "Pen by Stabilo", gtins=("04006381333931",))
    (link,) = Matcher(Model.shipped(), _index(left, right)).link(["b/1"]).links
    assert (link.kind, link.decision) == ("identifier", Decision.LINK)


def test_a_removed_record_has_no_links() -> None:
    index = _index(CAMERA, SAME)
    index.remove(["b/1"])
    assert Matcher(Model.shipped(), index).link(["a/1"]).links == ()


def test_records_with_different_part_numbers_wait_for_a_person_however_alike_they_are() -> None:
    left, right = replace(CAMERA, mpn="DSC-W150/N"), replace(SAME, mpn="DSC-W150")
    assert [link.decision for link in Matcher(Model.shipped(), _index(left, right)).link(["a/1"]).links] == ["link"]
    (link,) = Matcher(EAGER, _index(left, replace(SAME, mpn="DSC-W155"))).link(["a/1"]).links
    assert (link.kind, link.decision) == ("likeness", Decision.REVIEW)
    assert Evidence("mpn", "DSC-W150/N", "DSC-W155", agrees=False) in link.evidence


NAMED_MORE = replace(SAME, name=f"{SAME.name} with case")


def test_a_likeness_is_linked_without_a_person_only_where_something_confirms_it() -> None:
    for left, right, decision in (
        (CAMERA, SAME, Decision.LINK),
        (CAMERA, NAMED_MORE, Decision.LINK),
        (replace(CAMERA, price=100.0), replace(NAMED_MORE, price=140.0), Decision.LINK),
        (replace(CAMERA, price=100.0), replace(NAMED_MORE, name=f"{SAME.name} 2", price=100.0), Decision.LINK),
        (replace(CAMERA, price=100.0), replace(SAME, price=160.0), Decision.REVIEW),
        (replace(CAMERA, mpn="DSC-W150"), replace(NAMED_MORE, mpn="DSC-W150", brand="Sony Corp"), Decision.REVIEW),
        (replace(CAMERA, price=100.0), replace(SAME, name=f"{SAME.name} refurbished", price=90.0), Decision.REVIEW),
        (CAMERA, replace(SAME, name=f"{SAME.name} kit"), Decision.REVIEW),
        (CAMERA, replace(SAME, name=f"{SAME.name} set of 12"), Decision.REVIEW),
    ):
        (link,) = Matcher(EAGER, _index(left, right)).link(["a/1"]).links
        assert (link.kind, link.decision) == ("likeness", decision), left


def test_each_naming_a_number_of_its_own_waits_whatever_was_learned() -> None:
    for left, right, decision in (
        ("Korva Trail running shoe generation 7 grey", "Korva Trail running shoe generation 8 grey", Decision.REVIEW),
        ("Korva walnut reading lamp 85 diagonal", "Korva walnut reading lamp 96 diagonal", Decision.REVIEW),
        ("Korva reading lamp KV-100A walnut", "Korva reading lamp KV-220A walnut", Decision.REVIEW),
        ("Korva reading lamp KV-100A walnut 2019", "Korva reading lamp KV-100A walnut 60 cm", Decision.LINK),
        ("Korva walnut reading lamp 85 diagonal", "Korva walnut reading lamp", Decision.LINK),
    ):
        learned = EAGER.with_bounds(link=1.0, link_coded=1.0, review=0.0, link_learned=0.0)
        index = _index(replace(CAMERA, name=left, brand="Korva"), replace(SAME, name=right, brand="Korva"))
        (link,) = Matcher(learned, index).link(["a/1"]).links
        assert link.decision == decision, left
        assert ("number" in {one.field for one in link.evidence}) == (decision == Decision.REVIEW), left


def test_a_model_number_that_both_have_lowers_the_bound() -> None:
    model = EAGER.with_bounds(link=1.0, link_coded=0.35, review=0.35)
    uncoded = [replace(one, name="Korva walnut reading lamp", brand="Korva") for one in (CAMERA, SAME)]
    (link,) = Matcher(model, _index(CAMERA, SAME)).link(["a/1"]).links
    (other,) = Matcher(model, _index(*uncoded)).link(["a/1"]).links
    assert (link.decision, other.decision) == (Decision.LINK, Decision.REVIEW)


# The law of order: after one half, which the vocabulary is counted from, ten loads of the other half give the same
# articles in any order.


_WORLD: World = next(worlds(1, seed=14, articles=60))

_RECORDS = (*_WORLD.left, *_WORLD.right)

_HALF, _REST = _RECORDS[::2], _RECORDS[1::2]

# A low bound, so that the few records give many links whose order could matter.
_MODEL = Model.shipped().with_bounds(link=0.5, link_coded=0.5, review=0.3)


def _articles(loads: list[list[Record]]) -> tuple[tuple[str, ...], ...]:
    index = MatchIndex()
    stored: dict[tuple[str, str], Link] = {}
    for load in (list(_HALF), *loads):
        index.add(load)
        linkage = Matcher(_MODEL, index).link(record.key for record in load)
        stored = {pair: link for pair, link in stored.items() if linkage.touched.isdisjoint(pair)}
        stored |= {link.pair: link for link in linkage.links}
    return cluster(
        {record.key: Member(record.source, record.article, record.separate) for record in _RECORDS}, stored.values()
    ).groups


def _loads(seed: int) -> list[list[Record]]:
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
