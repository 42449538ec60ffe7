"""The matcher over an index: what is linked, what waits, what is kept."""

from dataclasses import replace

from workers.articles.matching.index import MatchIndex
from workers.articles.matching.matcher import Matcher
from workers.articles.matching.model import Model
from workers.articles.matching.records import LinkDecision, LinkEvidence, MatchRecord


def _index(*records: MatchRecord) -> MatchIndex:
    index = MatchIndex()
    index.add(records)
    return index


CAMERA = MatchRecord("a/1", "a", "Sony Cyber-shot DSC-W150 digital camera gold", brand="Sony")

SAME = MatchRecord("b/1", "b", "Sony Cyber-shot DSC-W150 digital camera gold", brand="Sony")

OTHER = MatchRecord("b/2", "b", "Netgear ProSafe GS105 ethernet switch", brand="Netgear")

# Linked from the lowest probability on, so that only what confirms or opposes the pair decides.
EAGER = Model.shipped().with_bounds(link=0.35, link_coded=0.35, review=0.35)


def test_the_same_article_of_two_sources_is_linked_and_another_is_not() -> None:
    linkage = Matcher(Model.shipped(), _index(CAMERA, SAME, OTHER)).link(["a/1"])
    assert [link.pair for link in linkage.links] == [("a/1", "b/1")]
    assert {"a/1", "b/1"} <= linkage.touched


def test_an_equal_identifier_decides_before_likeness() -> None:
    left = MatchRecord("a/1", "a", "Stabilo pen", gtins=("04006381333931",))
    right = MatchRecord("b/1", "b", "Pen by Stabilo", gtins=("04006381333931",))
    (link,) = Matcher(Model.shipped(), _index(left, right)).link(["b/1"]).links
    assert (link.kind, link.decision) == ("identifier", LinkDecision.LINK)


def test_a_removed_record_has_no_links() -> None:
    index = _index(CAMERA, SAME)
    index.remove(["b/1"])
    assert Matcher(Model.shipped(), index).link(["a/1"]).links == ()


def test_records_with_different_part_numbers_wait_for_a_person_however_alike_they_are() -> None:
    left, right = replace(CAMERA, mpn="DSC-W150/N"), replace(SAME, mpn="DSC-W150")
    assert [link.decision for link in Matcher(Model.shipped(), _index(left, right)).link(["a/1"]).links] == ["link"]
    (link,) = Matcher(EAGER, _index(left, replace(SAME, mpn="DSC-W155"))).link(["a/1"]).links
    assert (link.kind, link.decision) == ("likeness", LinkDecision.REVIEW)
    assert LinkEvidence("mpn", "DSC-W150/N", "DSC-W155", agrees=False) in link.evidence


NAMED_MORE = replace(SAME, name=f"{SAME.name} with case")


def test_a_likeness_is_linked_without_a_person_only_where_something_confirms_it() -> None:
    for left, right, decision in (
        (CAMERA, SAME, LinkDecision.LINK),
        (CAMERA, NAMED_MORE, LinkDecision.LINK),
        (replace(CAMERA, price=100.0), replace(NAMED_MORE, price=140.0), LinkDecision.LINK),
        (replace(CAMERA, price=100.0), replace(NAMED_MORE, name=f"{SAME.name} 2", price=100.0), LinkDecision.LINK),
        (replace(CAMERA, price=100.0), replace(SAME, price=160.0), LinkDecision.REVIEW),
        (replace(CAMERA, mpn="DSC-W150"), replace(NAMED_MORE, mpn="DSC-W150", brand="Sony Corp"), LinkDecision.REVIEW),
        (replace(CAMERA, price=100.0), replace(SAME, name=f"{SAME.name} refurbished", price=90.0), LinkDecision.REVIEW),
        (CAMERA, replace(SAME, name=f"{SAME.name} kit"), LinkDecision.REVIEW),
        (CAMERA, replace(SAME, name=f"{SAME.name} set of 12"), LinkDecision.REVIEW),
    ):
        (link,) = Matcher(EAGER, _index(left, right)).link(["a/1"]).links
        assert (link.kind, link.decision) == ("likeness", decision), left


def test_each_naming_a_number_of_its_own_waits_whatever_was_learned() -> None:
    for left, right, decision in (
        (
            "Korva Trail running shoe generation 7 grey",
            "Korva Trail running shoe generation 8 grey",
            LinkDecision.REVIEW,
        ),
        ("Korva walnut reading lamp 85 diagonal", "Korva walnut reading lamp 96 diagonal", LinkDecision.REVIEW),
        ("Korva reading lamp KV-100A walnut", "Korva reading lamp KV-220A walnut", LinkDecision.REVIEW),
        ("Korva reading lamp KV-100A walnut 2019", "Korva reading lamp KV-100A walnut 60 cm", LinkDecision.LINK),
        ("Korva walnut reading lamp 85 diagonal", "Korva walnut reading lamp", LinkDecision.LINK),
    ):
        learned = EAGER.with_bounds(link=1.0, link_coded=1.0, review=0.0, link_learned=0.0)
        index = _index(replace(CAMERA, name=left, brand="Korva"), replace(SAME, name=right, brand="Korva"))
        (link,) = Matcher(learned, index).link(["a/1"]).links
        assert link.decision == decision, left
        assert ("number" in {one.field for one in link.evidence}) == (decision == LinkDecision.REVIEW), left


def test_a_model_number_that_both_have_lowers_the_bound() -> None:
    model = EAGER.with_bounds(link=1.0, link_coded=0.35, review=0.35)
    uncoded = [replace(one, name="Korva walnut reading lamp", brand="Korva") for one in (CAMERA, SAME)]
    (link,) = Matcher(model, _index(CAMERA, SAME)).link(["a/1"]).links
    (other,) = Matcher(model, _index(*uncoded)).link(["a/1"]).links
    assert (link.decision, other.decision) == (LinkDecision.LINK, LinkDecision.REVIEW)
