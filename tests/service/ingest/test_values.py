"""A value is loaded exactly, or it is a reject with its file, line, column, value and reason."""

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from shared.analytics.footprint import INDICATORS
from shared.errors import LoadRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.database import execute
from tests.support.shop import MAPPING, MEASURED, PRICED, ROWS, load_rows, mapping
from workers.ingest.batches import LoadBuffers
from workers.ingest.load.load import load
from workers.ingest.load.summary import Summary
from workers.ingest.mapping import read
from workers.ingest.observations import currency_bits
from workers.ingest.read_amounts import NO_FIGURE

PROJECT = Path(__file__).parents[3]


def put(settings: Settings, folder: Path, text: str, content: str, name: str = "a.csv", **options: Any) -> Summary:
    """Load a file of any content through a mapping."""
    path = folder / name
    path.write_text(content)
    return load(settings, mapping(folder, text), [path], **options)


def rejected(settings: Settings) -> list[tuple[Any, ...]]:
    """Return what the rejects of all loads name, in the order of lines."""
    return execute(
        settings, "SELECT file, line, column_name, value, reason, scope FROM rejects ORDER BY line, column_name"
    )


def test_a_number_of_any_length_is_loaded_digit_for_digit(settings: Settings, tmp_path: Path) -> None:
    figures = (
        "0.123456789012345",
        "0.1234567890123456",
        "12.12345678901234567",
        "123456789012345678",
        "1.5e-3",
        "0",
        "9" * 60 + "." + "7" * 90,
        ".5",
        "1E+3",
        "000.10",
    )
    rows = "".join(f"{number},{figure}\n" for number, figure in enumerate(figures))
    put(settings, tmp_path, MEASURED, f"id,co2\n{rows}")
    judge = "SELECT per_unit = $1::numeric FROM impacts WHERE item_id = $2"
    for number, figure in enumerate(figures):
        assert execute(settings, judge, figure, mint("lab", str(number)).key) == [(True,)], figure
    assert rejected(settings) == []


def test_a_mapping_may_let_an_error_cost_only_its_field(settings: Settings, tmp_path: Path) -> None:
    text = MEASURED.replace('value = "co2"', 'value = { column = "co2", on_error = "field" }')
    summary = put(settings, tmp_path, text, "id,co2\na,about 5\nb,1\n")
    assert (summary.counts["rejected"], summary.counts["items_new"]) == (0, 2)
    assert execute(settings, "SELECT count(*) FROM impacts") == [(1,)]
    assert rejected(settings) == [("a.csv", 2, "co2", "about 5", NO_FIGURE, "field")]
    assert dict(summary.field_rejects) == {NO_FIGURE: 1}


def test_cells_without_a_value_are_rejects_of_a_load_whose_counts_add_up(settings: Settings, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (
        ["id", "name", "day", "shop", "price", "cur", "was"],
        ["A", "Milk", "2026-10-01", "S", "=1+1", "EUR", 3],
        ["B", "Bread", "2026-10-01", "S", 2, "EUR", "#N/A"],
        ["C", "#REF!", "2026-10-01", "S", 2, "EUR", 3],
        ["D", "Oil", "2026-10-01", "S", 2, "EUR", 3],
    ):
        book.active.append(row)
    book.save(tmp_path / "f.xlsx")
    (tmp_path / "m.toml").write_text(PRICED + 'list_price = { column = "was", on_error = "field" }\n')
    summary = load(settings, read(tmp_path / "m.toml"), [tmp_path / "f.xlsx"])
    assert (summary.counts["rows"], summary.counts["items_new"], summary.counts["observations_new"]) == (4, 2, 2)
    assert [(line, column, value, scope) for _, line, column, value, _, scope in rejected(settings)] == [
        (2, "price", "E2: =1+1", "row"),
        (3, "was", "G3: #N/A", "field"),
        (4, "name", "B4: #REF!", "row"),
    ]


def test_a_day_beyond_tomorrow_is_rejected_unless_the_mapping_allows_it(settings: Settings, tmp_path: Path) -> None:
    rows = ROWS.splitlines()[0].replace("2026-07-01", "2099-02-01") + "\n"
    with pytest.raises(LoadRefused, match="be used; nothing is loaded"):
        load_rows(settings, tmp_path, rows)
    assert [(row[2], row[3]) for row in rejected(settings)] == [("day", "2099-02-01")]
    text = MAPPING.replace('day = "day"', 'day = { column = "day", max = "2099-12-31" }')
    assert load_rows(settings, tmp_path, rows, text=text).counts["observations_new"] == 1


def test_no_day_is_put_in_the_place_of_one_that_cannot_be_read(settings: Settings, tmp_path: Path) -> None:
    text = MEASURED.replace(
        "[[impacts]]", 'first_seen_on = { column = "since", format = ["%Y-%m-%d", "%B %d %Y", "%Y"] }\n[[impacts]]'
    )
    content = "id,co2,since\na,1,2020-05-06\nb,1,January 17 2023\nc,1,2013\nd,1,2022-2-6\ne,1,\nf,1,soon\n"
    put(settings, tmp_path, text, content)
    days = execute(settings, "SELECT first_seen_on::text FROM items ORDER BY 1")
    assert days == [("2013-12-31",), ("2020-05-06",), ("2023-01-17",)]
    assert execute(settings, "SELECT as_of::text FROM impacts ORDER BY 1") == days
    assert [(row[1], row[2], row[3]) for row in rejected(settings)] == [
        (5, "since", "2022-2-6"),
        (6, "since", ""),
        (7, "since", "soon"),
    ]


def test_text_and_price_of_an_item_come_from_the_same_newest_row(settings: Settings, tmp_path: Path) -> None:
    content = (
        "id,name,day,shop,price,cur\n"
        + "".join(f"a,Title of day {day},2026-07-{day:02d},S1,{day}.00,USD\n" for day in (3, 9, 5, 1))
        + "a,Last title of day 9,2026-07-09,S2,9.50,USD\n"
        + "a,Title of day 2,2026-07-02,S1,2.00,USD\n" * 40
    )
    put(settings, tmp_path, PRICED, content, buffers=LoadBuffers(block_bytes=100))
    assert execute(settings, "SELECT name FROM items") == [("Last title of day 9",)]
    # Rows of all lengths in many batches leave room on many pages of the staged tables: the last row counts all the same.
    names = [f"Title {n} {'x' * (n * 37 % 900)}" for n in range(600)]
    rows = "".join(f"{n % 20},{name},2026-07-09,S1,{n}.00,USD\n" for n, name in enumerate(names))
    more = "id,name,day,shop,price,cur\n" + rows
    put(settings, tmp_path, PRICED, more, "more.csv", buffers=LoadBuffers(block_bytes=5_000, kept_bytes=3_000))
    last = "SELECT i.name, o.price_minor / 100 FROM items i JOIN observations o ON o.item_id = i.id WHERE i.name ~ 'x$' ORDER BY 2"
    assert execute(settings, last) == list(zip(names[-20:], range(580, 600), strict=True))


def test_what_the_names_of_files_say_of_an_item_is_that_of_its_newest_row(settings: Settings, tmp_path: Path) -> None:
    header, paths = "id,name,day,shop,price,cur\n", []
    for name, day in (("alpha-1.csv", 3), ("beta-2.csv", 9), ("gamma-3.csv", 1)):
        paths.append(tmp_path / name)
        paths[-1].write_text(f"{header}a,Tea,2026-07-{day:02d},S1,2.00,USD\n")
    branded = PRICED.replace('name = "name"', 'name = "name"\nbrand = { file_name = "([a-z]+)-" }')
    load(settings, mapping(tmp_path, branded), paths)
    assert execute(settings, "SELECT b.name FROM items i JOIN brands b ON b.id = i.brand_id") == [("beta",)]


def test_currencies_of_one_day_and_channel_do_not_replace_each_other(settings: Settings, tmp_path: Path) -> None:
    content = "id,name,day,shop,price,cur\na,A,2026-07-01,S1,100.00,USD\na,A,2026-07-01,S1,90.00,EUR\n"
    assert put(settings, tmp_path, PRICED, content).counts["observations_new"] == 2
    prices = execute(settings, "SELECT currency, price_minor FROM observations ORDER BY 1")
    assert prices == [("EUR", 9000), ("USD", 10000)]


def test_spellings_that_fold_to_the_same_text_are_one_channel(settings: Settings, tmp_path: Path) -> None:
    header = "id,name,day,shop,price,cur\n"
    put(settings, tmp_path, PRICED, header + "a,A,2026-07-01,S1,1.00,USD\na,A,2026-07-02,s1,2.00,USD\n")
    put(settings, tmp_path, PRICED, header + "a,A,2026-07-02,ｓ1,2.00,USD\na,A,2026-07-01,s1,3.00,USD\n", "b.csv")
    assert execute(settings, "SELECT code FROM channels") == [("S1",)]
    assert execute(settings, "SELECT day::text, price_minor FROM observations ORDER BY 1") == [
        ("2026-07-01", 300),
        ("2026-07-02", 200),
    ]


def test_migration_adds_to_marks_what_a_load_adds(settings: Settings, tmp_path: Path) -> None:
    content = (
        "id,name,day,shop,price,cur\na,A,2026-07-01,S1,1.00,USD\nb,B,2026-07-01,S1,2.00,EUR\nc,C,2026-07-01,S1,3,JPY\n"
    )
    put(settings, tmp_path, PRICED, content)
    query = "SELECT currency, mark FROM observations ORDER BY currency"
    before = execute(settings, query)
    [step] = list((PROJECT / "shared/db/migrations").glob("0017_*.sql"))
    execute(settings, step.read_bytes())
    bits = currency_bits(np.array([currency for currency, _ in before], "S3")).tolist()
    assert len(set(bits)) == 3
    assert execute(settings, query) == [(row[0], row[1] ^ added) for row, added in zip(before, bits, strict=True)]


def test_code_and_table_name_the_same_indicators(settings: Settings) -> None:
    rows = execute(settings, "SELECT code, unit, title FROM indicators ORDER BY place")
    assert rows == list(map(tuple, INDICATORS))
