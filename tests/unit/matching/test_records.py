"""Records as the matcher compares them: identifiers, model numbers, quantities, and the index of candidates."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.worlds import worlds
from workers.articles.matching import features
from workers.articles.matching.identifiers import identifier_keys, identifier_links
from workers.articles.matching.index import MatchIndex, Nearest
from workers.articles.matching.matcher import Search
from workers.articles.matching.profiles import Profile
from workers.articles.matching.quantities import amounts, contradictions
from workers.articles.matching.records import Decision, Kind, Link, Record
from workers.articles.matching.text import digit_runs, normalize, words
from workers.articles.matching.vocabulary import Vocabulary

# What is compared of model numbers that shops spell differently.


_WORDS = Vocabulary()


def _features(left: str, right: str) -> dict[str, float]:
    """Compare two mice with these part numbers."""
    made = tuple(Profile(Record(name, name, "Razer mouse pink", mpn=name), _WORDS) for name in (left, right))
    return {**features.codes(*made), **features.fields(*made)}


def test_part_numbers_of_one_article_are_alike_though_neither_contains_the_other() -> None:
    same, other = _features("rp01-050106r1m1", "rp01-00050106-r1m1"), _features("rp01-050106r1m1", "zx9-7714")
    assert same["mpn_left_found"] == same["mpn_right_found"] == 0
    assert same["code_likeness"] > 0.75
    assert other["code_likeness"] == 0


def test_the_digits_of_part_numbers_are_compared_without_the_letters_around_them() -> None:
    same, inside = _features("pe209780", "edgdm-0209780-pe"), _features("pe209780", "edgdm-1209780-pe")
    assert same["code_digits_shared"] == 6
    assert inside["code_digits_shared"] == 0
    assert (inside["code_digits_left_found"], inside["code_digits_right_found"]) == (6, 0)


def test_records_without_model_numbers_have_none_that_are_alike() -> None:
    assert _features("", "zx9-7714")["code_likeness"] == -1


def test_runs_of_digits_do_not_begin_with_zeros_and_have_two_digits() -> None:
    assert digit_runs(["rp01", "x00050106r1", "a7"]) == {"50106"}


def test_the_generation_of_a_network_is_no_weight_that_contradicts_another() -> None:
    left, right = (Profile(Record(name, name, name), _WORDS) for name in ("Galaxy A52 5G", "Galaxy A52 189 g"))
    assert features.amounts(left, right)["amounts_against"] == 0


def test_an_amount_is_read_in_whatever_width_its_letters_are_written() -> None:
    left, right = (Profile(Record(name, name, name), _WORDS) for name in ("Juice ５００ｍｌ", "JUICE 500 ML"))
    assert features.amounts(left, right)["amounts_agree"] == 1


# The identifier rule and its guards.


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
        assert link.decision is (Decision.REVIEW if against else Decision.LINK), left
        assert [one.field for one in link.evidence if not one.agrees] == against, left


def test_brand_and_part_number_make_a_link_however_they_are_written() -> None:
    (link,) = _links(
        _pen("a", gtins=(), brand="Hewlett-Packard", mpn="Q-1989A"),
        _pen("b", gtins=(), brand="hewlett packard", mpn="q1989 a"),
    )
    assert (link.decision, link.evidence[0].field) == (Decision.LINK, "mpn")


def test_a_part_number_without_a_brand_identifies_nothing() -> None:
    assert _links(_pen("a", gtins=(), mpn="Q1989A"), _pen("b", gtins=(), mpn="Q1989A", brand="HP")) == []


def test_names_in_two_languages_need_something_else_that_agrees() -> None:
    for names, brands, decision in (
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
    ):
        (link,) = _links(_pen("a", names[0], brand=brands[0]), _pen("b", names[1], brand=brands[1]))
        assert link.decision is decision, names


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


def test_codes_for_circulation_inside_one_company_never_identify() -> None:
    for shop_made in ("02012345678903", "00212345678906", "00412345678904"):
        assert _links(_pen("a", gtins=(shop_made,)), _pen("b", gtins=(shop_made,))) == []


# Amounts that names state are read for matching as their sellers mean them.


def test_numbers_are_read_as_sellers_write_them() -> None:
    for text, measures, packs in (
        ("paper 10 000 sheets", {"sheet": {10_000}}, set()),
        ("power bank 10,000 mAh", {"mAh": {10_000}}, set()),
        ("Powerbank 10.000mAh", {"mAh": {10_000}}, set()),
        ("flour 1,234.5 g", {"g": {1234.5}}, set()),
        ("Mehl 1.234,5 g", {"g": {1234.5}}, set()),
        ("salt 1.000.000 g", {"g": {1_000_000}}, set()),
        ("water 1,5 l", {"ml": {1500}}, set()),
        ("screws 1,500 pcs", {}, {1500}),
        ("diamond 1.250 ct", {"g": {0.25}}, set()),
        ("board 1,220 x 2,440 mm", {"mm": {1220, 2440}}, set()),
        ("牛奶250ml装x6盒", {"ml": {250}}, {6}),
        ("湿巾20pcs装", {}, {20}),
        ("model 3ml5", {}, set()),
        ("Galaxy A52 5G 189 g", {"g": {189}}, set()),
        ("iPhone 128G", {"MB": {128_000}}, set()),
        ("SUGAR 500G", {"g": {500}}, set()),
        ("sugar 5g", {"g": {5}}, set()),
        ("3M tape 5 m", {"mm": {5000}}, set()),
        ("HDMI cable 3M", {"mm": {3000}}, set()),
        ("labels 3.5 x 5 inches", {"mm": {88.9, 127}}, set()),
        ("paper 8.5 x 11, letter", {}, set()),
    ):
        read = amounts(text)
        assert (read.measures, read.packs) == (measures, packs), text


def test_three_digits_behind_a_comma_of_kilograms_contradict_neither_meaning() -> None:
    for other in ("rice 1250 g", "rice 1250 kg"):
        assert contradictions(amounts("rice 1,250 kg"), amounts(other)) == [], other


def test_packs_of_a_thousand_and_of_one_contradict_each_other() -> None:
    assert contradictions(amounts("labels 1,000 sheets"), amounts("labels 1 sheet")) == ["sheet"]


def test_so_many_packed_together_contradict_one_alone() -> None:
    for left, right, against in (
        ("Cola 330 ml can", "Cola 24 x 330 ml cans", ["pack"]),
        ("Cola 330 ml", "Cola 330 ml, pack of 24", ["pack"]),
        ("Cola 12 x 330 ml", "Cola 24 x 330 ml", ["pack"]),
        ("Cola 24 x 330 ml", "Cola cans 330ml (24 pack)", []),
        ("Cola 24 x 330 ml", "Cola 7.92 l", []),
        ("Cola", "Cola 24 x 330 ml", []),
        ("memory kit 16GB (2x8GB)", "memory kit 16 GB", []),
        ("memory 8GB", "memory kit 2x8GB", ["pack"]),
        ("tea 20 bags 40 g", "tea 40 g", []),
        ("raisins 9 bags 125 g", "raisins 9包裝 125克", []),
        ("vitamin C 60 tablets", "vitamin C 90 capsules", ["pack"]),
    ):
        assert (
            contradictions(amounts(left), amounts(right)) == contradictions(amounts(right), amounts(left)) == against
        ), left


def test_what_an_attribute_states_of_one_of_a_pack_does_not_make_the_pack_a_single() -> None:
    pack = amounts("Cola 24 x 330 ml", "330 ml")
    assert contradictions(pack, amounts("Cola 330 ml")) == ["pack"]
    assert contradictions(amounts("Cola 330 ml", "24 cans"), amounts("Cola 330 ml")) == ["pack"]


# The index of candidates: what it finds, keeps and forgets.


_WORDS_INDEX = ("lamp", "chair", "table", "kettle", "mirror", "carpet", "vase", "clock")


def _record(number: int, source: str) -> Record:
    name = f"brand{number % 7} {_WORDS_INDEX[number % 8]} model x{number}00"
    return Record(f"{source}/{number}", source, name, gtins=(f"0400{number:010d}",) if number % 2 else ())


def _nearest_keys(index: MatchIndex, key: str) -> list[str]:
    row = index.rows_of([key])[key]
    return [index.record(int(other)).key for other in index.nearest(np.array([row])).other]


def test_the_nearest_of_a_record_is_its_twin_and_none_is_of_its_own_source() -> None:
    index = MatchIndex.of_all([_record(number, source) for number in range(50) for source in ("a", "b")])
    found = _nearest_keys(index, "a/17")
    assert found[0] == "b/17"
    assert all(key.startswith("b/") for key in found)


def test_a_saved_index_gives_the_same_candidates_and_records(tmp_path: Path) -> None:
    index = MatchIndex.of_all([_record(number, source) for number in range(30) for source in ("a", "b")])
    index.remove(["b/3"])
    index.save(tmp_path)
    again = MatchIndex.open(tmp_path)
    assert len(again) == len(index) == 59
    assert not again.rows_of(["b/3"])
    for number in range(30):
        assert _nearest_keys(again, f"a/{number}") == _nearest_keys(index, f"a/{number}")
    assert again.by_identifier("gtin:04000000000005") == index.by_identifier("gtin:04000000000005") != []


def test_an_index_grown_in_many_steps_holds_the_newest_of_every_key(tmp_path: Path) -> None:
    index = MatchIndex()
    for number in range(20):
        index.add([_record(number, "a"), Record("b/0", "b", f"thing of step {number}")])
        index.save(tmp_path)
        index = MatchIndex.open(tmp_path)
    assert len(index) == 21
    assert index.record(index.rows_of(["b/0"])["b/0"]).name == "thing of step 19"
    assert {index.record(int(one)).key for one in index.rows()} == {"b/0", *(f"a/{number}" for number in range(20))}
    assert len(list(tmp_path.glob("segment-*"))) <= 10


def test_keys_with_one_hash_are_told_apart_and_records_of_several_segments_come_in_the_order_asked_for() -> None:
    index = MatchIndex()
    # Those of the first two segments have the same CRC-32; more than six records would become one segment.
    for keys in (("plumless", "a", "d"), ("buckeroo", "b"), ("c",)):
        index.add([Record(key, "shop", f"thing {key}") for key in keys])
    for keys in (["buckeroo", "none", "a", "plumless"], ["c", "plumless", "b"]):
        rows = index.rows_of(keys)
        assert set(keys) - rows.keys() <= {"none"}
        assert [record.key for record in index.records(np.array([rows[key] for key in keys if key in rows]))] == [
            key for key in keys if key in rows
        ]
    assert index.rows_of(["none"]) == {}
    index.add([Record("buckeroo", "shop", "its twin"), Record("plumless", "shop", "the other")])
    assert [index.record(index.rows_of([key])[key]).name for key in ("plumless", "buckeroo")] == [
        "the other",
        "its twin",
    ]


def test_an_index_made_of_all_records_finds_what_one_grown_with_them_does() -> None:
    records = [_record(number, source) for number in range(30) for source in ("a", "b")]
    streamed, grown = MatchIndex.of_all(iter(records)), MatchIndex()
    grown.add(records)
    assert len(streamed) == len(grown) == 60
    for number in range(30):
        assert _nearest_keys(streamed, f"a/{number}") == _nearest_keys(grown, f"a/{number}")
    assert streamed.by_identifier("gtin:04000000000005") == grown.by_identifier("gtin:04000000000005") != []
    empty = MatchIndex.of_all(())
    assert len(empty) == 0
    empty.add(records[:1])
    assert len(empty) == 1


def test_a_broken_save_leaves_the_former_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = MatchIndex.of_all([_record(number, "a") for number in range(5)])
    index.save(tmp_path)
    index.add([_record(7, "b")])

    def full(*arguments: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="no space"):
        index.save(tmp_path)
    monkeypatch.undo()
    assert len(MatchIndex.open(tmp_path)) == 5


def test_chinese_names_without_blanks_find_each_other() -> None:
    others = [Record(f"b/{number}", "b", f"清風紙巾第{number}款") for number in range(20)]
    index = MatchIndex.of_all(
        [Record("a/1", "a", "維他奶低糖豆奶"), Record("b/x", "b", "維他奶 低糖豆奶 1公升"), *others]
    )
    assert _nearest_keys(index, "a/1")[0] == "b/x"


def test_a_model_number_within_a_chinese_name_is_a_word_of_its_own() -> None:
    assert words(normalize("索尼WH1000XM5耳机")) == ["wh1000xm5", "索尼", "耳机"]
    siblings = [Record(f"b/{number}", "b", f"新款索尼WH100{number}耳机黑色") for number in range(9)]
    index = MatchIndex.of_all([Record("a/1", "a", "索尼WH1004耳机"), *siblings])
    assert _nearest_keys(index, "a/1")[0] == "b/4"


# The search of one load gives what the index gives.


def _listed(found: Nearest) -> set[tuple[int, int, float]]:
    return set(zip(found.row.tolist(), found.other.tolist(), found.score.tolist(), strict=True))


def test_answers_are_those_of_the_index_whatever_was_asked_before() -> None:
    world = next(worlds(1, seed=3, articles=80))
    index = MatchIndex.of_all([*world.left, *world.right])
    rows = index.rows()
    search = Search(index)
    assert _listed(search.unpruned_candidates(rows[:30])) == _listed(index.nearest(rows[:30], least_of_best=0.0))
    for asked in (rows[20:50], rows[:10], rows[::-1], rows[:0]):
        assert _listed(search.nearest(asked)) == _listed(index.nearest(asked))
