"""The identifier rule and its guards."""

import pytest

from workers.articles.matching.identifiers import identifier_keys, identifier_links
from workers.articles.matching.records import Decision, Kind, Link, Record

GTIN = "04006381333931"


def _links(*records: Record) -> list[Link]:
    identifiers = (identifier for record in records for identifier in identifier_keys(record))
    return identifier_links(identifiers, lambda key: [one for one in records if key in identifier_keys(one)])


def _pen(source: str, name: str = "Stabilo pen 88", **said: object) -> Record:
    return Record(f"{source}/1", source, name, **({"gtins": (GTIN,)} | said))  # type: ignore[arg-type]


def test_equal_gtins_of_two_sources_make_a_link() -> None:
    (link,) = _links(_pen("a"), _pen("b"))
    assert (link.pair, link.kind, link.decision) == (("a/1", "b/1"), Kind.IDENTIFIER, Decision.LINK)
    assert [(one.field, one.left, one.agrees) for one in link.evidence] == [("gtin", GTIN, True)]


def test_a_different_pack_size_waits_for_a_person() -> None:
    (link,) = _links(_pen("a", "Stabilo pen 88, pack of 10"), _pen("b", "Stabilo pen 88, 20 pcs"))
    assert link.decision is Decision.REVIEW
    assert [one.field for one in link.evidence if not one.agrees] == ["pack"]


@pytest.mark.parametrize(("written", "decision"), [("5 LİTRE", Decision.LINK), ("6 lıtre", Decision.REVIEW)])
def test_a_unit_in_turkish_letters_is_that_unit(written: str, decision: Decision) -> None:
    (link,) = _links(_pen("a", f"Hayat su {written}"), _pen("b", "Hayat su 5 l"))
    assert link.decision is decision


def test_a_unit_with_a_long_s_is_that_unit() -> None:
    (link,) = _links(_pen("a", "Stabilo pen, 12 pageſ"), _pen("b", "Stabilo pen, 14 pages"))
    assert link.decision is Decision.REVIEW


def test_a_size_or_colour_that_only_one_side_states_contradicts_nothing() -> None:
    (link,) = _links(_pen("a", "Stabilo pen 88 blue 0.4 mm"), _pen("b"))
    assert link.decision is Decision.LINK


def test_a_different_colour_waits_for_a_person() -> None:
    (link,) = _links(_pen("a", "Stabilo pen 88 blue"), _pen("b", "Stabilo pen 88 red"))
    assert link.decision is Decision.REVIEW


def test_equal_sizes_in_different_units_agree() -> None:
    (link,) = _links(_pen("a", "Stabilo ink 1 l"), _pen("b", "Stabilo ink 1000ml"))
    assert link.decision is Decision.LINK


def test_brand_and_part_number_make_a_link_however_they_are_written() -> None:
    (link,) = _links(
        _pen("a", gtins=(), brand="Hewlett-Packard", mpn="Q-1989A"),
        _pen("b", gtins=(), brand="hewlett packard", mpn="q1989 a"),
    )
    assert (link.decision, link.evidence[0].field) == (Decision.LINK, "mpn")


def test_a_part_number_without_a_brand_identifies_nothing() -> None:
    assert _links(_pen("a", gtins=(), mpn="Q1989A"), _pen("b", gtins=(), mpn="Q1989A", brand="HP")) == []


def test_a_code_of_three_different_names_is_no_identifier() -> None:
    names = ("Stabilo pen", "Garden hose", "Olive oil")
    assert _links(*(_pen(source, name) for source, name in zip("abc", names, strict=True))) == []


def test_two_records_of_one_source_are_never_linked() -> None:
    assert _links(_pen("a"), Record("a/2", "a", "Stabilo pen 88", gtins=(GTIN,))) == []


def test_a_record_that_is_kept_separate_is_never_linked() -> None:
    assert _links(_pen("a"), _pen("b", separate=True)) == []


def test_codes_for_circulation_inside_one_company_never_identify() -> None:
    for shop_made in ("02012345678903", "00212345678906", "00412345678904"):
        assert _links(_pen("a", gtins=(shop_made,)), _pen("b", gtins=(shop_made,))) == []
