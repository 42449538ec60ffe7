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


def _spreads(*names: str, **said: object) -> dict[tuple[str, str], Decision]:
    records = [_pen(source, name, **said) for source, name in zip("abcdef", names, strict=False)]
    return {(link.left[0], link.right[0]): link.decision for link in _links(*records)}


def test_a_link_stays_whatever_else_the_identifier_is_given_to() -> None:
    spreads = ["Nutella hazelnut spread 400 g", "Nutella hazelnut spread jar 400 g"]
    others = ["Haselnusscreme Brotaufstrich Glas", "Pâte à tartiner aux noisettes", "Garden hose", "Olive oil"]
    for known in range(len(others) + 1):
        assert _spreads(*spreads, *others[:known])["a", "b"] is Decision.LINK
    assert set(_spreads(*spreads, *others).values()) == {Decision.LINK, Decision.REVIEW}


@pytest.mark.parametrize(
    ("names", "brands", "decision"),
    [
        (("Peanut butter 340g", "花生醬 340克"), ("", ""), Decision.LINK),
        (("Hazelnut spread 400 g", "Haselnusscreme 0,4 kg"), ("", ""), Decision.LINK),
        (("Hazelnut spread", "Haselnusscreme"), ("Nutella", "NUTELLA"), Decision.LINK),
        (("Nutella spread", "Haselnusscreme"), ("", "Nutella"), Decision.LINK),
        (("Hazelnut spread", "Haselnusscreme"), ("Ferrero", "费列罗"), Decision.REVIEW),
        (("Hazelnut spread", "Haselnusscreme"), ("", ""), Decision.REVIEW),
        (("Hazelnut spread 400 g", "Garden hose 15 m"), ("", ""), Decision.REVIEW),
        (("Hazelnut spread 400 g", "Haselnusscreme 750 g"), ("Nutella", "Nutella"), Decision.REVIEW),
        (("Hazelnut spread 400 g", "Hazelnut spread 400 g"), ("Nutella", "Milka"), Decision.REVIEW),
        (("Ink 305 black", "Ink 305 black"), ("HP", "Hewlett-Packard"), Decision.LINK),
        (("Final Cut", "Final Cut"), ("Apple Computer", "Apple Software"), Decision.LINK),
        (("Hazelnut spread 400 g", "榛子醬 400克"), ("Ferrero", "费列罗"), Decision.LINK),
    ],
)
def test_names_in_two_languages_need_something_else_that_agrees(
    names: tuple[str, str], brands: tuple[str, str], decision: Decision
) -> None:
    (link,) = _links(_pen("a", names[0], brand=brands[0]), _pen("b", names[1], brand=brands[1]))
    assert link.decision is decision


def test_a_pack_and_a_single_one_wait_for_a_person() -> None:
    (link,) = _links(_pen("a", "Cola 330 ml can"), _pen("b", "Cola 24 x 330 ml cans"))
    assert link.decision is Decision.REVIEW
    assert [one.field for one in link.evidence if not one.agrees] == ["pack"]


def test_different_part_numbers_contradict_an_equal_gtin() -> None:
    (link,) = _links(_pen("a", brand="HP", mpn="N9K06AE"), _pen("b", brand="HP", mpn="N9K08AE"))
    assert [one.field for one in link.evidence if not one.agrees] == ["mpn"]
    (link,) = _links(_pen("a", brand="HP", mpn="N9K06AE"), _pen("b", brand="HP", mpn="N9K06AE#ABD"))
    assert link.decision is Decision.LINK


def test_a_source_that_fills_a_column_with_an_identifier_links_nothing_and_takes_no_link_of_others_away() -> None:
    filled = [Record(f"z/{at}", "z", "Stabilo pen 88", gtins=(GTIN,)) for at in range(101)]
    assert [link.pair for link in _links(_pen("a"), _pen("b"), *filled)] == [("a/1", "b/1")]


def test_pairs_of_very_many_sources_are_linked_and_those_that_contradict_each_other_are_left_out() -> None:
    names = ["Stabilo pen 88 red" if at % 2 else "Stabilo pen 88 blue" for at in range(102)]
    records = [_pen(f"s{at}", name) for at, name in enumerate(names)]
    links = _links(*records)
    assert {link.decision for link in links} == {Decision.LINK}
    assert len(links) == 2 * 51 * 50 // 2


def test_two_records_of_one_source_are_never_linked() -> None:
    assert _links(_pen("a"), Record("a/2", "a", "Stabilo pen 88", gtins=(GTIN,))) == []


def test_a_record_that_is_kept_separate_is_never_linked() -> None:
    assert _links(_pen("a"), _pen("b", separate=True)) == []


def test_codes_for_circulation_inside_one_company_never_identify() -> None:
    for shop_made in ("02012345678903", "00212345678906", "00412345678904"):
        assert _links(_pen("a", gtins=(shop_made,)), _pen("b", gtins=(shop_made,))) == []
