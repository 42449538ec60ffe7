"""`itemindex matches evaluate`: the figures, the forms of files that it reads, and what it refuses."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.ctl.match_models import evaluate
from tests.support.world_files import write_rows, write_world
from tests.support.worlds import World
from workers.articles.matching.evaluation import evaluate as measure
from workers.articles.matching.evaluation_files import UnusableFile, read_pairs, read_records
from workers.articles.matching.model import Model


def test_the_command_prints_figures_that_agree_with_one_another(tmp_path: Path, world: World) -> None:
    pairs = write_world(world, tmp_path)
    left, right = tmp_path / "left.csv", tmp_path / "right.csv"
    asked = write_rows(tmp_path / "pairs.csv", pairs)
    arguments = ["--left", str(left), "--right", str(right), "--pairs", str(asked), "--end-to-end", "--json"]
    printed = CliRunner().invoke(evaluate, arguments, catch_exceptions=False)
    found = json.loads(printed.stdout)
    assert found["pairs"] == len(pairs)
    assert found["matches"] == len(world.matches)
    right_ones = round(found["recall"] * found["matches"])
    assert found["precision"] == pytest.approx(right_ones / found["found"], abs=1e-3)
    assert found["f1"] == pytest.approx(2 * right_ones / (found["found"] + found["matches"]), abs=1e-3)
    assert found["f1"] > 0.6


def test_a_person_is_not_asked_about_a_pair_whose_records_both_have_a_better_one(tmp_path: Path, world: World) -> None:
    pairs = write_world(world, tmp_path)
    left, right = tmp_path / "left.csv", tmp_path / "right.csv"
    asked = write_rows(tmp_path / "pairs.csv", pairs)
    asking_always = Model.shipped().with_bounds(link=1.0, link_coded=1.0, review=0.0)
    found = measure(left, right, asked, asking_always, end_to_end=False)
    assert found.all.pairs > 1.9 * found.all.matches
    assert found.all.precision > 0.9
    assert found.all.recall > 0.9


def test_pairs_of_unknown_ids_are_counted_and_left_out(tmp_path: Path, world: World) -> None:
    pairs = write_world(world, tmp_path)
    left, right = tmp_path / "left.csv", tmp_path / "right.csv"
    strange: list[dict[str, object]] = [{"left_id": "nowhere", "right_id": "neither", "label": 1}]
    asked = write_rows(tmp_path / "pairs.csv", pairs + strange)
    found = measure(left, right, asked, Model.shipped(), end_to_end=False)
    assert (found.unknown_ids, found.all.pairs) == (1, len(pairs))


def test_a_file_without_labels_lists_every_match(tmp_path: Path, world: World) -> None:
    pairs = write_world(world, tmp_path)
    left, right = tmp_path / "left.csv", tmp_path / "right.csv"
    only = [{name: row[name] for name in ("left_id", "right_id")} for row in pairs if row["label"]][:5]
    found = measure(left, right, write_rows(tmp_path / "pairs.csv", only), Model.shipped(), end_to_end=True)
    assert found.all.found - found.unlisted <= 5
    assert found.unlisted > 5
    assert found.all.precision < 0.5


def test_prices_take_no_part_as_in_loads(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "left.csv", [{"ID": "1", "Name": "lamp", "Price": "$9.50"}])
    assert read_records(path, "left")["1"].price is None


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": "", "name": "lamp"}], "needs an id"),
        ([{"id": "1", "name": "lamp"}, {"id": "1", "name": "vase"}], "occurs twice"),
        ([{"id": "1", "colour": "red"}], "no name"),
    ],
)
def test_record_files_that_cannot_be_used_are_refused(tmp_path: Path, rows: list[dict[str, object]], said: str) -> None:
    with pytest.raises(UnusableFile, match=said):
        read_records(write_rows(tmp_path / "left.csv", rows), "left")


def test_a_label_that_is_neither_yes_nor_no_is_refused(tmp_path: Path) -> None:
    records = read_records(write_rows(tmp_path / "left.csv", [{"id": "1", "name": "lamp"}]), "left")
    pairs = write_rows(tmp_path / "pairs.csv", [{"ltable_id": "1", "rtable_id": "1", "label": "perhaps"}])
    with pytest.raises(UnusableFile, match="neither 1 nor 0"):
        read_pairs(pairs, records, records)


def test_a_row_that_ends_before_its_label_is_refused_by_the_number_of_its_line(tmp_path: Path) -> None:
    records = read_records(write_rows(tmp_path / "left.csv", [{"id": "1", "name": "lamp,\nwhite"}]), "left")
    assert records["1"].name == "lamp,\nwhite"
    pairs = tmp_path / "pairs.csv"
    pairs.write_text('note,left_id,right_id,label\n"two\nlines",1,1,TRUE\n,1,1\n')
    with pytest.raises(UnusableFile, match=r"line 4: the label '' is neither"):
        read_pairs(pairs, records, records)


def test_files_are_read_with_a_byte_order_mark_and_labels_in_words(tmp_path: Path) -> None:
    (tmp_path / "left.csv").write_bytes(b"\xef\xbb\xbfid,title\r\nB-07/x,lamp\r\n")
    records = read_records(tmp_path / "left.csv", "left")
    pairs = tmp_path / "pairs.csv"
    pairs.write_bytes(b"\xef\xbb\xbfleft_id,right_id,label\r\nB-07/x,B-07/x,True\r\nB-07/x,B-07/x,false\r\n")
    found = read_pairs(pairs, records, records)
    assert (found.pairs[0], found.labels, found.labelled) == (("B-07/x", "B-07/x"), (True, False), True)
