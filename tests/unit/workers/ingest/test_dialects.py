"""How a CSV is written is decided by whole records, however long their cells are; the judge is Python's csv module."""

import csv
import io
from pathlib import Path

import pytest

from tests.unit.workers.ingest.guessing import tried
from workers.ingest.guess.guess import guess
from workers.ingest.sampling.read_sample import sample
from workers.ingest.sampling.sample import SAMPLE_BYTES, SAMPLE_ROWS

HEADER = ["sku", "name", "description", "price", "currency"]


def written(path: Path, rows: list[list[str]], **form: str) -> Path:
    text = io.StringIO()
    csv.writer(text, **form).writerows([HEADER, *rows])  # type: ignore[arg-type]
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path


def long_text(n: int, lines: int) -> str:
    return "\n".join(f'<li>Point {line}, "as said", of article {n}; made with care,</li>' for line in range(lines))


@pytest.mark.parametrize("lines", [40, 4_000])
def test_quoted_cells_of_many_lines_are_cells(tmp_path: Path, lines: int) -> None:
    """The beginning that is looked at ends within a cell; the longer ones are beyond the bound of Python's reader."""
    rows = [[f"K{n}", f"Kettle {n}", long_text(n, lines), f"{n}.50", "EUR"] for n in range(1, 30)]
    read = tried(written(tmp_path / "shop.csv", rows), tmp_path)
    assert [price[:2] for price in read.prices] == [(f"Kettle {n}", f"{n}.50") for n in range(1, 30)]
    assert read.found.rejects == []


@pytest.mark.parametrize("delimiter", ["~", "^", "|", ";", "\x01"])
def test_rare_delimiters_are_found(tmp_path: Path, delimiter: str) -> None:
    """Each row has one of another delimiter too, as a cell with a unit price does."""
    rows = [[f"K{n}", f"Kettle {n}", f"| {n},20 per l, boxed", f"{n}.50", "EUR"] for n in range(1, 9)]
    if delimiter == "|":
        rows = [[*row[:2], row[2].replace("|", "~"), *row[3:]] for row in rows]
    read = tried(written(tmp_path / "shop.csv", rows, delimiter=delimiter), tmp_path)
    assert [price[1] for price in read.prices] == [f"{n}.50" for n in range(1, 9)]


def test_lines_within_a_cell_that_look_like_rows_are_asked(tmp_path: Path) -> None:
    text = "in a box:\n1,2,3,4,5\nand a lid"
    rows = [[f"K{n}", f"Kettle {n}", text if n == 3 else "plain", f"{n}.50", "EUR"] for n in range(1, 9)]
    path = written(tmp_path / "shop.csv", rows)
    made = guess(path)
    [doubt] = [doubt.sentence for doubt in made.doubts if doubt.of == "cells_span_lines"]
    assert "3 lines" in doubt and "cells_span_lines = true" in doubt and len(doubt) <= 300
    assert len(tried(path, tmp_path).found.rejects) == 3


def test_a_quotation_mark_that_is_not_closed_is_told(tmp_path: Path) -> None:
    lines = [f'K{n},Kettle {n},"plain, in a box",{n}.50,EUR\n' for n in range(1, 40)]
    lines[4] = 'K5,"Kettle 5,plain,5.50,EUR\n'
    path = tmp_path / "shop.csv"
    path.write_text(",".join(HEADER) + "\n" + "".join(lines))
    read = tried(path, tmp_path)
    assert "1 line, such as line 6" in read.doubts("quote")
    assert [reject["line"] for reject in read.found.rejects] == [6]
    assert len(read.prices) == 38


def test_a_mark_without_end_does_not_hide_the_rows_behind_it(tmp_path: Path) -> None:
    lines = [f"K{n},Kettle {n},plain and simple,{n}.50,EUR\n" for n in range(1, 40_000)]
    lines[3] = 'K4,"Kettle 4,plain,4.50,EUR\n'
    path = tmp_path / "shop.csv"
    path.write_text(",".join(HEADER) + "\n" + "".join(lines))
    assert path.stat().st_size > SAMPLE_BYTES
    assert len(sample(path).rows) == SAMPLE_ROWS
