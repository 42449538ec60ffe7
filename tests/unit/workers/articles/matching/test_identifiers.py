"""The identifier rule and its guards."""

from dataclasses import replace

from workers.articles.matching.identifiers import identifier_keys, identifier_links
from workers.articles.matching.records import LinkDecision, LinkKind, MatchRecord, RecordLink

GTIN = "04006381333931"


def _links(*records: MatchRecord) -> list[RecordLink]:
    identifiers = (identifier for record in records for identifier in identifier_keys(record))
    return identifier_links(identifiers, lambda key: [one for one in records if key in identifier_keys(one)])


def _pen(source: str, name: str = "Stabilo pen 88", **said: object) -> MatchRecord:
    return MatchRecord(f"{source}/1", source, name, **({"gtins": (GTIN,)} | said))  # type: ignore[arg-type]


def test_equal_gtins_of_two_sources_make_a_link() -> None:
    (link,) = _links(_pen("a"), _pen("b"))
    assert (link.pair, link.kind, link.decision) == (("a/1", "b/1"), LinkKind.IDENTIFIER, LinkDecision.LINK)
    assert [(one.field, one.left, one.agrees) for one in link.evidence] == [("gtin", GTIN, True)]


def test_a_pack_a_size_or_a_colour_that_differs_waits_for_a_person() -> None:
    for left, right, against in (
        ("Stabilo pen 88, pack of 10", "Stabilo pen 88, 20 pcs", ["pack"]),
        ("Cola 330 ml can", "Cola 24 x 330 ml cans", ["pack"]),
        ("Stabilo pen 88 blue", "Stabilo pen 88 red", ["colour"]),
        ("Stabilo pen, 12 pageſ", "Stabilo pen, 14 pages", ["page"]),
        ("Hayat su 6 lıtre", "Hayat su 5 l", ["ml"]),
        ("Hayat su 5 LİTRE", "Hayat su 5 l", []),
        ("Stabilo ink 1 l", "Stabilo ink 1000ml", []),
        ("Stabilo pen 88 blue 0.4 mm", "Stabilo pen 88", []),
    ):
        (link,) = _links(_pen("a", left), _pen("b", right))
        assert link.decision is (LinkDecision.REVIEW if against else LinkDecision.LINK), left
        assert [one.field for one in link.evidence if not one.agrees] == against, left


def test_brand_and_part_number_make_a_link_however_they_are_written() -> None:
    (link,) = _links(
        _pen("a", gtins=(), brand="Hewlett-Packard", mpn="Q-1989A"),
        _pen("b", gtins=(), brand="hewlett packard", mpn="q1989 a"),
    )
    assert (link.decision, link.evidence[0].field) == (LinkDecision.LINK, "mpn")


def test_a_part_number_without_a_brand_identifies_nothing() -> None:
    assert _links(_pen("a", gtins=(), mpn="Q1989A"), _pen("b", gtins=(), mpn="Q1989A", brand="HP")) == []


def test_names_in_two_languages_need_something_else_that_agrees() -> None:
    for names, brands, decision in (
        (("Peanut butter 340g", "花生醬 340克"), ("", ""), LinkDecision.LINK),
        (("Hazelnut spread 400 g", "Haselnusscreme 0,4 kg"), ("", ""), LinkDecision.LINK),
        (("Hazelnut spread", "Haselnusscreme"), ("Nutella", "NUTELLA"), LinkDecision.LINK),
        (("Nutella spread", "Haselnusscreme"), ("", "Nutella"), LinkDecision.LINK),
        (("Hazelnut spread", "Haselnusscreme"), ("Ferrero", "费列罗"), LinkDecision.REVIEW),
        (("Hazelnut spread", "Haselnusscreme"), ("", ""), LinkDecision.REVIEW),
        (("Hazelnut spread 400 g", "Garden hose 15 m"), ("", ""), LinkDecision.REVIEW),
        (("Hazelnut spread 400 g", "Haselnusscreme 750 g"), ("Nutella", "Nutella"), LinkDecision.REVIEW),
        (("Hazelnut spread 400 g", "Hazelnut spread 400 g"), ("Nutella", "Milka"), LinkDecision.REVIEW),
        (("Ink 305 black", "Ink 305 black"), ("HP", "Hewlett-Packard"), LinkDecision.LINK),
        (("Final Cut", "Final Cut"), ("Apple Computer", "Apple Software"), LinkDecision.LINK),
        (("Hazelnut spread 400 g", "榛子醬 400克"), ("Ferrero", "费列罗"), LinkDecision.LINK),
    ):
        (link,) = _links(_pen("a", names[0], brand=brands[0]), _pen("b", names[1], brand=brands[1]))
        assert link.decision is decision, names


def test_different_part_numbers_contradict_an_equal_gtin() -> None:
    (link,) = _links(_pen("a", brand="HP", mpn="N9K06AE"), _pen("b", brand="HP", mpn="N9K08AE"))
    assert [one.field for one in link.evidence if not one.agrees] == ["mpn"]
    (link,) = _links(_pen("a", brand="HP", mpn="N9K06AE"), _pen("b", brand="HP", mpn="N9K06AE#ABD"))
    assert link.decision is LinkDecision.LINK


def test_a_source_that_fills_a_column_with_an_identifier_links_nothing_and_takes_no_link_of_others_away() -> None:
    filled = [MatchRecord(f"z/{at}", "z", "Stabilo pen 88", gtins=(GTIN,)) for at in range(101)]
    assert [link.pair for link in _links(_pen("a"), _pen("b"), *filled)] == [("a/1", "b/1")]


def test_pairs_of_very_many_sources_are_linked_and_those_that_contradict_each_other_are_left_out() -> None:
    names = ["Stabilo pen 88 red" if at % 2 else "Stabilo pen 88 blue" for at in range(102)]
    records = [_pen(f"s{at}", name) for at, name in enumerate(names)]
    links = _links(*records)
    assert {link.decision for link in links} == {LinkDecision.LINK}
    assert len(links) == 2 * 51 * 50 // 2


def test_two_records_of_one_source_have_a_link_where_it_lists_products_several_times_or_where_they_contradict() -> None:
    blue, red = (MatchRecord(f"a/{at}", "a", f"Stabilo pen 88 {at}", gtins=(GTIN,)) for at in ("blue", "red"))
    plain = replace(blue, key="a/2", name="Stabilo pen 88")
    assert _links(blue, red) == _links(blue, plain) == []
    assert [link.pair for link in _links(blue, plain, _pen("b"))] == [("a/2", "b/1"), ("a/blue", "b/1")]
    decisions = {link.pair: link.decision for link in _links(blue, red, _pen("b"))}
    assert decisions[blue.key, red.key] is LinkDecision.REVIEW
    several = [replace(one, one_per_source=False) for one in (blue, red, plain)]
    decisions = {link.pair: link.decision for link in _links(*several)}
    assert decisions == {
        ("a/2", "a/blue"): LinkDecision.LINK,
        ("a/2", "a/red"): LinkDecision.LINK,
        ("a/blue", "a/red"): LinkDecision.REVIEW,
    }
    once = [replace(one, one_per_source=True) for one in (blue, red)]
    assert all("b/1" in link.pair for link in _links(*once, _pen("b")))


def test_codes_for_circulation_inside_one_company_never_identify() -> None:
    for shop_made in ("02012345678903", "00212345678906", "00412345678904"):
        assert _links(_pen("a", gtins=(shop_made,)), _pen("b", gtins=(shop_made,))) == []
