"""Which records become one article, in whatever order they come."""

from dataclasses import replace
from datetime import date
from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from workers.articles.matching.clusters import CHAINED_MAX, ClusterMember, cluster
from workers.articles.matching.records import LinkDecision, LinkEvidence, LinkKind, RecordLink

LETTERS = "abcd"


def _link(left: str, right: str, score: float = 0.99, kind: LinkKind = LinkKind.LIKENESS) -> RecordLink:
    return RecordLink(left, right, kind, score, LinkDecision.LINK)


def _members(*keys: str) -> dict[str, ClusterMember]:
    return {key: ClusterMember(key[0]) for key in keys}


def _once(*keys: str) -> dict[str, ClusterMember]:
    return {key: replace(one, one_per_source=True) for key, one in _members(*keys).items()}


def test_likenesses_that_are_not_all_linked_bring_no_two_records_of_one_source_together() -> None:
    done = cluster(_members("a1", "b1", "b2"), [_link("a1", "b1", 0.995), _link("a1", "b2", 0.999)])
    assert done.groups == (("a1", "b2"),)
    assert [link.pair for link in done.refused] == [("a1", "b1")]


def test_several_offers_of_one_source_are_one_article_where_all_are_linked_or_an_identifier_joins_them() -> None:
    members = _members("a1", "b1", "b2")
    likenesses = [_link("a1", "b1"), _link("a1", "b2"), _link("b1", "b2")]
    assert cluster(members, likenesses).groups == (("a1", "b1", "b2"),)
    identifiers = [_link("a1", "b1", 1.0, LinkKind.IDENTIFIER), _link("a1", "b2", 1.0, LinkKind.IDENTIFIER)]
    assert cluster(members, identifiers).groups == (("a1", "b1", "b2"),)
    assert cluster(members, [], accepted=[("a1", "b1"), ("a1", "b2")]).groups == (("a1", "b1", "b2"),)
    assert cluster(_once("a1", "b1", "b2"), likenesses).groups == (("a1", "b1"),)


def test_a_chain_of_identifiers_ends_at_a_size_unless_all_are_linked() -> None:
    keys = [f"{letter}{at:02}" for at in range(30) for letter in "ab"]
    chain = [_link(*pair, 1.0, LinkKind.IDENTIFIER) for pair in pairwise(keys)]
    assert max(map(len, cluster(_members(*keys), chain).groups)) == CHAINED_MAX
    complete = [_link(*pair, 1.0, LinkKind.IDENTIFIER) for pair in combinations(sorted(keys), 2)]
    assert list(map(len, cluster(_members(*keys), complete).groups)) == [60]


def test_a_source_may_declare_two_of_its_records_one_article() -> None:
    members = _members("a1") | {"b1": ClusterMember("b", "x"), "b2": ClusterMember("b", "x")}
    links = [_link("a1", "b1", 1.0, LinkKind.IDENTIFIER), _link("a1", "b2", 1.0, LinkKind.IDENTIFIER)]
    assert cluster(members, links).groups == (("a1", "b1", "b2"),)


def test_a_chain_through_a_weak_link_joins_nothing() -> None:
    done = cluster(_members("a1", "b1", "c1"), [_link("a1", "b1", 0.999), _link("b1", "c1", 0.99)])
    assert done.groups == (("a1", "b1"),)


def test_three_records_that_are_all_alike_are_one_article() -> None:
    links = [_link("a1", "b1"), _link("b1", "c1"), _link("a1", "c1")]
    assert cluster(_members("a1", "b1", "c1"), links).groups == (("a1", "b1", "c1"),)


def test_a_pair_that_a_person_rejected_stays_apart_even_in_a_chain_of_identifiers() -> None:
    links = [_link("a1", "b1", 1.0, LinkKind.IDENTIFIER), _link("b1", "c1", 1.0, LinkKind.IDENTIFIER)]
    done = cluster(_members("a1", "b1", "c1"), links, rejected=[("c1", "a1")])
    assert done.groups == (("a1", "b1"),)


def test_a_pair_that_contradicts_its_identifier_stays_apart_even_in_a_chain_of_identifiers() -> None:
    against = (LinkEvidence("gtin", "1", "1", agrees=True), LinkEvidence("pack", "a", "c", agrees=False))
    links = [_link("a1", "b1", 1.0, LinkKind.IDENTIFIER), _link("b1", "c1", 1.0, LinkKind.IDENTIFIER)]
    waiting = RecordLink("a1", "c1", LinkKind.IDENTIFIER, 0.5, LinkDecision.REVIEW, against)
    assert cluster(_members("a1", "b1", "c1"), [*links, waiting]).groups == (("a1", "b1"),)
    unlike = replace(waiting, evidence=(against[0], replace(against[1], field="name")))
    assert cluster(_members("a1", "b1", "c1"), [*links, unlike]).groups == (("a1", "b1", "c1"),)


def test_a_younger_record_takes_no_link_of_equal_strength_away() -> None:
    links = [_link("a1", "b1", 1.0, LinkKind.IDENTIFIER), _link("a1", "b2", 1.0, LinkKind.IDENTIFIER)]
    for older in ("b1", "b2"):
        ages = {key: (date(2026, 7, 1 if key in ("a1", older) else 2),) for key in ("a1", "b1", "b2")}
        members = {key: replace(one, age=ages[key]) for key, one in _once(*ages).items()}
        assert cluster(members, links).groups == (("a1", older),)


def test_a_pair_that_a_person_accepted_is_joined_without_a_link() -> None:
    assert cluster(_members("a1", "b1"), [], accepted=[("b1", "a1")]).groups == (("a1", "b1"),)


_keys = st.builds(lambda letter, number: f"{letter}{number}", st.sampled_from(LETTERS), st.integers(1, 3))

_links = st.builds(
    lambda pair, score, kind: _link(*sorted(pair), score, kind),
    st.tuples(_keys, _keys).filter(lambda pair: pair[0] != pair[1]),
    st.sampled_from([0.99, 0.995, 0.999]),
    st.sampled_from([LinkKind.IDENTIFIER, LinkKind.LIKENESS]),
)

_ALL = [f"{letter}{number}" for letter in LETTERS for number in (1, 2, 3)]


@given(st.lists(_links, unique_by=lambda link: link.pair), st.randoms(use_true_random=False))
def test_the_order_of_records_and_links_does_not_matter(links: list[RecordLink], random: object) -> None:
    shuffled, keys = list(links), list(_ALL)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    random.shuffle(keys)  # type: ignore[attr-defined]
    assert cluster(_members(*keys), shuffled) == cluster(_members(*_ALL), links)


@given(st.lists(_links, unique_by=lambda link: link.pair))
def test_an_article_has_at_most_one_record_of_a_source_that_lists_each_product_once(links: list[RecordLink]) -> None:
    for group in cluster(_once(*_ALL), links).groups:
        assert len({key[0] for key in group}) == len(group)
