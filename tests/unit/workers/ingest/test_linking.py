"""Which identifiers are rejects because they cannot be followed."""

from workers.articles.matching.records import MatchRecord
from workers.ingest.load.linking import REPEATED, faults

GTIN = "04901777018686"


def record(key: str, *, separate: bool = False) -> MatchRecord:
    return MatchRecord(key, "shop", "Oat drink", gtins=(GTIN,), separate=separate)


def test_two_items_of_a_source_with_one_identifier_are_a_fault() -> None:
    records = [record("1"), record("2")]
    assert list(faults(records, lambda identifier: records)) == [(REPEATED, f"gtin:{GTIN}", ["1", "2"])]


def test_items_that_the_mapping_never_links_have_no_fault() -> None:
    records = [record("1", separate=True), record("2", separate=True)]
    assert list(faults(records, lambda identifier: records)) == []
