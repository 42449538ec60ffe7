"""The index of candidates: what it finds, keeps and forgets."""

from pathlib import Path

import numpy as np
import pytest

from workers.articles.matching.index import MatchIndex
from workers.articles.matching.records import Record
from workers.articles.matching.text import normalize, words

_WORDS = ("lamp", "chair", "table", "kettle", "mirror", "carpet", "vase", "clock")


def _record(number: int, source: str) -> Record:
    name = f"brand{number % 7} {_WORDS[number % 8]} model x{number}00"
    return Record(f"{source}/{number}", source, name, gtins=(f"0400{number:010d}",) if number % 2 else ())


def _nearest_keys(index: MatchIndex, key: str) -> list[str]:
    row = index.row(key)
    assert row is not None
    return [index.record(int(other)).key for other in index.nearest(np.array([row])).other]


def test_the_nearest_of_a_record_is_its_twin_and_none_is_of_its_own_source() -> None:
    index = MatchIndex.build([_record(number, source) for number in range(50) for source in ("a", "b")])
    found = _nearest_keys(index, "a/17")
    assert found[0] == "b/17"
    assert all(key.startswith("b/") for key in found)


def test_a_saved_index_gives_the_same_candidates_and_records(tmp_path: Path) -> None:
    index = MatchIndex.build([_record(number, source) for number in range(30) for source in ("a", "b")])
    index.remove(["b/3"])
    index.save(tmp_path)
    again = MatchIndex.open(tmp_path)
    assert len(again) == len(index) == 59
    assert "b/3" not in again
    for number in range(30):
        assert _nearest_keys(again, f"a/{number}") == _nearest_keys(index, f"a/{number}")
    assert again.by_identifier("gtin:04000000000005") == index.by_identifier("gtin:04000000000005") != []


def test_an_index_grown_in_many_steps_holds_the_newest_of_every_key(tmp_path: Path) -> None:
    index = MatchIndex()
    for number in range(40):
        index.add([_record(number, "a"), Record("b/0", "b", f"thing of step {number}")])
        index.save(tmp_path)
        index = MatchIndex.open(tmp_path)
    assert len(index) == 41
    row = index.row("b/0")
    assert row is not None
    assert index.record(row).name == "thing of step 39"
    assert {index.record(int(one)).key for one in index.rows()} == {"b/0", *(f"a/{number}" for number in range(40))}
    assert len(list(tmp_path.glob("segment-*"))) <= 10


def test_a_broken_save_leaves_the_former_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = MatchIndex.build([_record(number, "a") for number in range(5)])
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
    index = MatchIndex.build(
        [Record("a/1", "a", "維他奶低糖豆奶"), Record("b/x", "b", "維他奶 低糖豆奶 1公升"), *others]
    )
    assert _nearest_keys(index, "a/1")[0] == "b/x"


def test_a_model_number_within_a_chinese_name_is_a_word_of_its_own() -> None:
    assert words(normalize("索尼WH1000XM5耳机")) == ["wh1000xm5", "索尼", "耳机"]
    siblings = [Record(f"b/{number}", "b", f"新款索尼WH100{number}耳机黑色") for number in range(9)]
    index = MatchIndex.build([Record("a/1", "a", "索尼WH1004耳机"), *siblings])
    assert _nearest_keys(index, "a/1")[0] == "b/4"
