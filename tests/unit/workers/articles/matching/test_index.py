"""The index of candidates: what it finds, keeps and forgets."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.worlds import worlds
from workers.articles.matching.index import MatchIndex, Nearest
from workers.articles.matching.matcher import CandidateSearch
from workers.articles.matching.records import MatchRecord
from workers.articles.matching.text import normalize, words

_WORDS_INDEX = ("lamp", "chair", "table", "kettle", "mirror", "carpet", "vase", "clock")


def _record(number: int, source: str) -> MatchRecord:
    name = f"brand{number % 7} {_WORDS_INDEX[number % 8]} model x{number}00"
    return MatchRecord(f"{source}/{number}", source, name, gtins=(f"0400{number:010d}",) if number % 2 else ())


def _nearest_keys(index: MatchIndex, key: str) -> list[str]:
    row = index.rows_of([key])[key]
    return [index.record(int(other)).key for other in index.nearest(np.array([row])).other]


def test_the_nearest_of_a_record_is_its_twin_and_none_is_of_its_own_source() -> None:
    index = MatchIndex.of_all([_record(number, source) for number in range(50) for source in ("a", "b")])
    found = _nearest_keys(index, "a/17")
    assert found[0] == "b/17"
    assert all(key.startswith("b/") for key in found)


def test_records_are_compared_with_others_of_their_source_where_it_does_not_list_each_product_once() -> None:
    records = [replace(_record(number, "a"), key=f"a/{number}{at}") for number in range(50) for at in "xy"]
    assert _nearest_keys(MatchIndex.of_all(records), "a/17x") == []
    several = MatchIndex.of_all(replace(one, one_per_source=False) for one in records)
    found = _nearest_keys(several, "a/17x")
    assert found[0] == "a/17y"
    assert "a/17x" not in found


def test_copies_of_a_record_do_not_keep_other_candidates_away() -> None:
    copies = [replace(_record(17, "b"), key=f"b/copy{at}") for at in range(12)]
    index = MatchIndex.of_all([_record(17, "a"), *copies, *(_record(number, "b") for number in range(24, 50))])
    found = _nearest_keys(index, "a/17")
    assert sum(key.startswith("b/copy") for key in found) == 8
    assert not found[-1].startswith("b/copy")


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
        index.add([_record(number, "a"), MatchRecord("b/0", "b", f"thing of step {number}")])
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
        index.add([MatchRecord(key, "shop", f"thing {key}") for key in keys])
    for keys in (["buckeroo", "none", "a", "plumless"], ["c", "plumless", "b"]):
        rows = index.rows_of(keys)
        assert set(keys) - rows.keys() <= {"none"}
        assert [record.key for record in index.records(np.array([rows[key] for key in keys if key in rows]))] == [
            key for key in keys if key in rows
        ]
    assert index.rows_of(["none"]) == {}
    index.add([MatchRecord("buckeroo", "shop", "its twin"), MatchRecord("plumless", "shop", "the other")])
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


def test_an_index_is_saved_whole_where_another_process_has_replaced_the_one_that_it_was_opened_from(
    tmp_path: Path,
) -> None:
    MatchIndex.of_all([_record(number, "a") for number in range(20)]).save(tmp_path)
    loading = MatchIndex.open(tmp_path)
    loading.add([_record(1, "b")])
    MatchIndex.of_all([_record(number, "a") for number in range(15)]).save(tmp_path)
    loading.save(tmp_path)
    again = MatchIndex.open(tmp_path)
    assert len(again) == 21
    assert _nearest_keys(again, "b/1") == _nearest_keys(loading, "b/1") != []


def test_chinese_names_without_blanks_find_each_other() -> None:
    others = [MatchRecord(f"b/{number}", "b", f"清風紙巾第{number}款") for number in range(20)]
    index = MatchIndex.of_all(
        [MatchRecord("a/1", "a", "維他奶低糖豆奶"), MatchRecord("b/x", "b", "維他奶 低糖豆奶 1公升"), *others]
    )
    assert _nearest_keys(index, "a/1")[0] == "b/x"


def test_a_model_number_within_a_chinese_name_is_a_word_of_its_own() -> None:
    assert words(normalize("索尼WH1000XM5耳机")) == ["wh1000xm5", "索尼", "耳机"]
    siblings = [MatchRecord(f"b/{number}", "b", f"新款索尼WH100{number}耳机黑色") for number in range(9)]
    index = MatchIndex.of_all([MatchRecord("a/1", "a", "索尼WH1004耳机"), *siblings])
    assert _nearest_keys(index, "a/1")[0] == "b/4"


def _listed(found: Nearest) -> set[tuple[int, int, float]]:
    return set(zip(found.row.tolist(), found.other.tolist(), found.score.tolist(), strict=True))


def test_answers_are_those_of_the_index_whatever_was_asked_before() -> None:
    world = next(worlds(1, seed=3, articles=80))
    index = MatchIndex.of_all([*world.left, *world.right])
    rows = index.rows()
    search = CandidateSearch(index)
    assert _listed(search.unpruned_candidates(rows[:30])) == _listed(index.nearest(rows[:30], least_of_best=0.0))
    for asked in (rows[20:50], rows[:10], rows[::-1], rows[:0]):
        assert _listed(search.nearest(asked)) == _listed(index.nearest(asked))
