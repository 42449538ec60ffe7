"""A value is loaded exactly, or it is a reject with its file, line, column, value and reason."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from shared.db.connect import connect
from shared.errors import LoadRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.ingest.contents import ask
from tests.support.shop import MAPPING, ROWS, load_rows, mapping
from workers.ingest.batches import LoadBuffers
from workers.ingest.clean import NO_FIGURE
from workers.ingest.load import Summary, load
from workers.ingest.mapping import read
from workers.ingest.observations import currency_bits

PROJECT = Path(__file__).parents[3]
FIGURES = """
source = "lab"
title = "L"
license = "CC0-1.0"
[item]
id = "id"
name = { constant = "Thing" }
[[impacts]]
indicator = "co2e_kg"
value = "co2"
basis = "measured"
method = "m"
"""
PRICES = """
source = "shop"
title = "S"
license = "CC0-1.0"
[item]
id = "id"
name = "name"
[observation]
day = "day"
channel = "shop"
price = "price"
currency = "cur"
"""


def put(settings: Settings, folder: Path, text: str, content: str, name: str = "a.csv", **options: Any) -> Summary:
    """Load a file of any content through a mapping."""
    path = folder / name
    path.write_text(content)
    return load(settings, mapping(folder, text), [path], **options)


def rejected(settings: Settings) -> list[tuple[Any, ...]]:
    """Return what the rejects of all loads name, in the order of lines."""
    return ask(settings, "SELECT file, line, column_name, value, reason, scope FROM rejects ORDER BY line, column_name")


@pytest.mark.parametrize(
    "figure",
    [
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
    ],
)
def test_a_number_of_any_length_is_loaded_digit_for_digit(settings: Settings, tmp_path: Path, figure: str) -> None:
    put(settings, tmp_path, FIGURES, f"id,co2\na,{figure}\n")
    judge = "SELECT per_unit = $1::numeric FROM impacts"
    assert ask(settings, judge, figure) == [(True,)]
    assert rejected(settings) == []


@pytest.mark.parametrize(
    "figure",
    ["1,234.5", "-5", "about 5", "NaN", "inf", "0x1", "1_0", "٣", "1 2", "9" * 1001, "1e9999", "1e400", "1e-400"],
)
def test_a_text_that_is_no_number_rejects_its_row_with_column_and_value(
    settings: Settings, tmp_path: Path, figure: str
) -> None:
    summary = put(settings, tmp_path, FIGURES, f'id,co2\na,"{figure}"\nb,1\n')
    [(file, line, column, value, reason, scope)] = rejected(settings)
    assert (file, line, column, scope) == ("a.csv", 2, "co2", "row")
    assert value == figure[:300]
    assert "no number" in reason
    assert (summary.counts["rejected"], summary.counts["items_new"]) == (1, 1)


def test_a_mapping_may_let_an_error_cost_only_its_field(settings: Settings, tmp_path: Path) -> None:
    text = FIGURES.replace('value = "co2"', 'value = { column = "co2", on_error = "field" }')
    summary = put(settings, tmp_path, text, "id,co2\na,about 5\nb,1\n")
    assert (summary.counts["rejected"], summary.counts["items_new"]) == (0, 2)
    assert ask(settings, "SELECT count(*) FROM impacts") == [(1,)]
    assert rejected(settings) == [("a.csv", 2, "co2", "about 5", NO_FIGURE, "field")]
    assert dict(summary.field_rejects) == {NO_FIGURE: 1}


def test_factors_are_the_exact_means_of_their_groups(settings: Settings) -> None:
    """The judge is DuckDB with 38 digits, over the file that the project ships."""
    file = PROJECT / "deploy/demo/data/rivm_food_footprints.csv"
    load(settings, read(PROJECT / "deploy/mappings/rivm_food_footprints.toml"), [file])
    crosswalk = read(PROJECT / "deploy/mappings/rivm_food_footprints.toml").factors.code.crosswalk  # type: ignore[union-attr]
    codes = {group: listed.split() for group, listed in crosswalk or ()}
    columns = {
        "co2e_kg": ("gwp_kg_co2e", 1),
        "water_l": ("water_m3", 1000),
        "land_use_m2a": ("land_use_m2a", 1),
        "acidification_kg_so2e": ("acidification_kg_so2e", 1),
    }
    for indicator, (column, factor) in columns.items():
        figure = f"TRY_CAST({column} AS DECIMAL(38, 24))"
        rows = duckdb.sql(f"""SELECT product_group_nl, count({figure}), CAST(sum({figure}) AS VARCHAR)
            FROM read_csv('{file}', all_varchar = true) WHERE product_group_nl IS NOT NULL GROUP BY 1""").fetchall()
        expected = {(code, count, total) for group, count, total in rows if count for code in codes.get(group, ())}
        assert len(expected) > 10
        judge = "SELECT abs(per_kg - $1::numeric * $2 / $3) < 1e-18, samples FROM impact_factors WHERE code = $4 AND indicator = $5"
        for code, count, total in expected:
            assert ask(settings, judge, total, factor, count, code, indicator) == [(True, count)], (code, indicator)
    drinks = "SELECT round(per_kg, 3)::text FROM impact_factors WHERE code = 'drinks' AND indicator = 'water_l'"
    assert ask(settings, drinks) == [("65.597",)]


def test_an_impossible_day_is_no_other_day(settings: Settings, tmp_path: Path) -> None:
    text = MAPPING.replace('day = "day"', 'day = { column = "day", format = "%d.%m.%Y" }')
    rows = ROWS.splitlines()[0].replace("2026-07-01", "31.02.2026") + "\n"
    with pytest.raises(LoadRefused, match=r"none of them can be used.*\n.*has no day"):
        load_rows(settings, tmp_path, rows, text=text)
    [(_, line, column, value, reason, _)] = rejected(settings)
    assert (line, column, value) == (2, "day", "31.02.2026")
    assert reason == "has no day of the form %d.%m.%Y"
    assert ask(settings, "SELECT count(*) FROM observations") == [(0,)]


def test_a_day_beyond_tomorrow_is_rejected_unless_the_mapping_allows_it(settings: Settings, tmp_path: Path) -> None:
    rows = ROWS.splitlines()[0].replace("2026-07-01", "2099-02-01") + "\n"
    with pytest.raises(LoadRefused, match="none of them can be used"):
        load_rows(settings, tmp_path, rows)
    assert [(row[2], row[3]) for row in rejected(settings)] == [("day", "2099-02-01")]
    text = MAPPING.replace('day = "day"', 'day = { column = "day", max = "2099-12-31" }')
    assert load_rows(settings, tmp_path, rows, text=text).counts["observations_new"] == 1


def test_no_day_is_put_in_the_place_of_one_that_cannot_be_read(settings: Settings, tmp_path: Path) -> None:
    text = FIGURES.replace(
        "[[impacts]]", 'first_seen_on = { column = "since", format = ["%Y-%m-%d", "%B %d %Y", "%Y"] }\n[[impacts]]'
    )
    content = "id,co2,since\na,1,2020-05-06\nb,1,January 17 2023\nc,1,2013\nd,1,2022-2-6\ne,1,\nf,1,soon\n"
    put(settings, tmp_path, text, content)
    days = ask(settings, "SELECT first_seen_on::text FROM items ORDER BY 1")
    assert days == [("2013-12-31",), ("2020-05-06",), ("2023-01-17",)]
    assert ask(settings, "SELECT as_of::text FROM impacts ORDER BY 1") == days
    assert [(row[1], row[2], row[3]) for row in rejected(settings)] == [
        (5, "since", "2022-2-6"),
        (6, "since", ""),
        (7, "since", "soon"),
    ]


def test_two_ids_that_claim_one_iid_are_a_reject_and_no_merge(settings: Settings, tmp_path: Path) -> None:
    text = PRICES.partition("[observation]")[0] + 'iid = "iid"\n'
    taken = mint("shop", "i5").iid
    content = (
        f"id,iid,name\ni1,IID-ABC-123,First\ni2,iid-abc-124,Second\ni3,IID-ABC-123,Same as the first\ni4,BAD,Bad\n"
        f"i5,,Minted\ni6,{taken},Claims the minted one\ni1,IID-ABC-999,Another of the first\n"
    )
    put(settings, tmp_path, text, content)
    assert ask(settings, "SELECT name FROM items ORDER BY name") == [("First",), ("Minted",), ("Second",)]
    assert [(row[1], row[2], row[3]) for row in rejected(settings)] == [
        (4, "iid", "IID-ABC-123"),
        (5, "iid", "BAD"),
        (7, "iid", taken),
        (8, "iid", "IID-ABC-999"),
    ]


def test_text_and_price_of_an_item_come_from_the_same_newest_row(settings: Settings, tmp_path: Path) -> None:
    content = (
        "id,name,day,shop,price,cur\n"
        + "".join(f"a,Title of day {day},2026-07-{day:02d},S1,{day}.00,USD\n" for day in (3, 9, 5, 1))
        + "a,Last title of day 9,2026-07-09,S2,9.50,USD\n"
        + "a,Title of day 2,2026-07-02,S1,2.00,USD\n" * 40
    )
    put(settings, tmp_path, PRICES, content, buffers=LoadBuffers(block_bytes=100))
    assert ask(settings, "SELECT name FROM items") == [("Last title of day 9",)]


def test_currencies_of_one_day_and_channel_do_not_replace_each_other(settings: Settings, tmp_path: Path) -> None:
    content = "id,name,day,shop,price,cur\na,A,2026-07-01,S1,100.00,USD\na,A,2026-07-01,S1,90.00,EUR\n"
    assert put(settings, tmp_path, PRICES, content).counts["observations_new"] == 2
    prices = ask(settings, "SELECT currency, price_minor FROM observations ORDER BY 1")
    assert prices == [("EUR", 9000), ("USD", 10000)]


def test_spellings_that_fold_to_the_same_text_are_one_channel(settings: Settings, tmp_path: Path) -> None:
    header = "id,name,day,shop,price,cur\n"
    put(settings, tmp_path, PRICES, header + "a,A,2026-07-01,S1,1.00,USD\na,A,2026-07-02,s1,2.00,USD\n")
    put(settings, tmp_path, PRICES, header + "a,A,2026-07-02,ｓ1,2.00,USD\na,A,2026-07-01,s1,3.00,USD\n", "b.csv")
    assert ask(settings, "SELECT code FROM channels") == [("S1",)]
    assert ask(settings, "SELECT day::text, price_minor FROM observations ORDER BY 1") == [
        ("2026-07-01", 300),
        ("2026-07-02", 200),
    ]


def test_a_row_without_a_price_keeps_its_item(settings: Settings, tmp_path: Path) -> None:
    content = "id,name,day,shop,price,cur\na,A,,,,\nb,B,2026-07-01,S1,1.00,USD\nc,C,2026-07-01,S1,ask us,USD\n"
    summary = put(settings, tmp_path, PRICES, content)
    assert ask(settings, "SELECT name FROM items ORDER BY 1") == [("A",), ("B",)]
    assert summary.counts["observations_new"] == 1
    assert [(row[1], row[2], row[3]) for row in rejected(settings)] == [(4, "price", "ask us")]


def test_an_unreadable_list_price_is_no_silent_null(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, ROWS.replace("NORTH,10.90,12", "NORTH,10.90,about 12"))
    assert [(row[1], row[2], row[3]) for row in rejected(settings)] == [(2, "list", "about 12")]


def test_migration_adds_to_marks_what_a_load_adds(settings: Settings, tmp_path: Path) -> None:
    content = (
        "id,name,day,shop,price,cur\na,A,2026-07-01,S1,1.00,USD\nb,B,2026-07-01,S1,2.00,EUR\nc,C,2026-07-01,S1,3,JPY\n"
    )
    put(settings, tmp_path, PRICES, content)
    query = "SELECT currency, mark FROM observations ORDER BY currency"
    before = ask(settings, query)
    [step] = list((PROJECT / "shared/db/migrations").glob("0017_*.sql"))
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute(step.read_bytes())
    bits = currency_bits(np.array([currency for currency, _ in before], "S3")).tolist()
    assert len(set(bits)) == 3
    assert ask(settings, query) == [(row[0], row[1] ^ added) for row, added in zip(before, bits, strict=True)]
