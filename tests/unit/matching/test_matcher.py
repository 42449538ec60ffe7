"""The matcher over an index: what is linked, what waits, what is kept."""

from dataclasses import replace
from pathlib import Path

from workers.matching.index import MatchIndex
from workers.matching.matcher import Matcher
from workers.matching.model import Model
from workers.matching.records import Decision, Evidence, Record


def _index(*records: Record) -> MatchIndex:
    index = MatchIndex()
    index.add(records)
    return index


CAMERA = Record("a/1", "a", "Sony Cyber-shot DSC-W150 digital camera gold", brand="Sony")
SAME = Record("b/1", "b", "Sony Cyber-shot DSC-W150 digital camera gold", brand="Sony")
OTHER = Record("b/2", "b", "Netgear ProSafe GS105 ethernet switch", brand="Netgear")


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
    model = replace(Model.shipped(), link=Model.shipped().review)
    (link,) = Matcher(model, _index(left, replace(SAME, mpn="DSC-W155"))).link(["a/1"]).links
    assert (link.kind, link.decision) == ("likeness", Decision.REVIEW)
    assert Evidence("mpn", "DSC-W150/N", "DSC-W155", agrees=False) in link.evidence
