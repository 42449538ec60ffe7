"""The matcher over an index: what is linked, what waits, what is kept."""

from dataclasses import replace
from pathlib import Path

import pytest

from workers.articles.matching.index import MatchIndex
from workers.articles.matching.matcher import Matcher
from workers.articles.matching.model import Model
from workers.articles.matching.records import Decision, Evidence, Record


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


def test_a_saved_index_opens_with_the_same_links(tmp_path: Path) -> None:
    index = _index(CAMERA, SAME, OTHER)
    index.save(tmp_path)
    again = Matcher(Model.shipped(), MatchIndex.open(tmp_path))
    assert again.link(["a/1"]) == Matcher(Model.shipped(), index).link(["a/1"])


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


@pytest.mark.parametrize(
    ("left", "right", "decision"),
    [
        (CAMERA, SAME, Decision.LINK),
        (CAMERA, NAMED_MORE, Decision.REVIEW),
        (replace(CAMERA, price=100.0), replace(NAMED_MORE, price=140.0), Decision.LINK),
        (replace(CAMERA, price=100.0), replace(NAMED_MORE, name=f"{SAME.name} kit 2", price=100.0), Decision.REVIEW),
        (replace(CAMERA, price=100.0), replace(SAME, price=160.0), Decision.REVIEW),
        # Other brands, so that the part number is evidence and no identifier.
        (replace(CAMERA, mpn="DSC-W150"), replace(NAMED_MORE, mpn="DSC-W150", brand="Sony Corp"), Decision.LINK),
        (replace(CAMERA, price=100.0), replace(SAME, name=f"{SAME.name} refurbished", price=90.0), Decision.REVIEW),
    ],
    ids=(
        "equal names",
        "one name says more",
        "prices confirm",
        "a number that only one has",
        "prices oppose",
        "part numbers",
        "made again",
    ),
)
def test_a_likeness_is_linked_without_a_person_only_where_something_confirms_it(
    left: Record, right: Record, decision: Decision
) -> None:
    (link,) = Matcher(EAGER, _index(left, right)).link(["a/1"]).links
    assert (link.kind, link.decision) == ("likeness", decision)


def test_a_model_number_that_both_have_lowers_the_bound() -> None:
    model = EAGER.with_bounds(link=1.0, link_coded=0.35, review=0.35)
    uncoded = [replace(one, name="Korva walnut reading lamp", brand="Korva") for one in (CAMERA, SAME)]
    (link,) = Matcher(model, _index(CAMERA, SAME)).link(["a/1"]).links
    (other,) = Matcher(model, _index(*uncoded)).link(["a/1"]).links
    assert (link.decision, other.decision) == (Decision.LINK, Decision.REVIEW)


def test_prices_in_two_currencies_are_not_compared() -> None:
    left, right = replace(CAMERA, price=100.0, currency="EUR"), replace(SAME, price=780.0, currency="HKD")
    (link,) = Matcher(EAGER, _index(left, right)).link(["a/1"]).links
    assert link.decision == Decision.LINK
    assert "price" not in {one.field for one in link.evidence}
