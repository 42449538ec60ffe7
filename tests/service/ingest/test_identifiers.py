"""Identifiers of a load become rows in one form, follow undo, and a wrong one costs nothing but itself."""

from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.index.identifiers import LAYOUT
from shared.settings.settings import Settings
from tests.service.ingest.test_values import put, rejected
from tests.support.database import execute
from tests.support.servers import begins_with
from tests.support.shop import undone
from workers.provenance import identifiers, standing

MAPPING_IDENTIFIERS = """
source = "{source}"
title = "T"
license = "CC0-1.0"
[item]
id = "id"
name = "id"
brand = "brand"
[item.identifiers]
ean = "ean"
isbn = "isbn"
mpn = "mpn"
sku = "sku"
url = "url"
style_code = "style"
"""

HEADER = "id,brand,ean,isbn,mpn,sku,url,style\n"

ROWS = """SELECT i.name, t.scheme, t.value, t.brand, s.name, t.load_no FROM item_identifiers t
JOIN items i ON i.id = t.item_id JOIN sources s ON s.id = t.source_id ORDER BY 1, 2, 3, 5"""


def load_rows_identifiers(settings: Settings, folder: Path, rows: str, source: str = "shop") -> None:
    put(settings, folder, MAPPING_IDENTIFIERS.replace("{source}", source), HEADER + rows, f"{source}.csv")


def identified(settings: Settings, folder: Path) -> None:
    """Load an item with identifiers of all kinds, two with a wrong one each, and one that has one number twice."""
    whole = "whole,Sony Corp.,4006381333931,0-306-40615-2,WH-1000/XM4,A 1,https://S.test/a/?utm_source=x,zz\n"
    wrong = "a,,4006381333932,,,,,\nb,,,0306406152,,,ftp://x,\n"
    load_rows_identifiers(settings, folder, f"{whole}{wrong}twice,,9780306406157,0306406152,,,,\n")


@begins_with(identified)
def test_each_identifier_of_an_item_is_a_row_in_the_form_in_which_it_is_compared(settings: Settings) -> None:
    assert [row[1:] for row in execute(settings, ROWS) if row[0] == "whole"] == [
        ("gtin", "04006381333931", "", "shop", 1),
        ("gtin", "09780306406157", "", "shop", 1),
        ("mpn", "WH1000XM4", "sony", "shop", 1),
        ("sku", "A 1", "", "shop", 1),
        ("url", "s.test/a", "", "shop", 1),
    ]


@begins_with(identified)
def test_a_wrong_check_digit_costs_neither_the_row_nor_the_text(settings: Settings) -> None:
    assert rejected(settings) == [
        ("shop.csv", 3, "ean", "4006381333932", "its ean has a wrong check digit; the correct one is 1", "field"),
        ("shop.csv", 4, "url", "ftp://x", "its url must be an absolute http or https address", "field"),
    ]
    assert execute(settings, "SELECT name, identifiers FROM items WHERE name IN ('a', 'b') ORDER BY 1") == [
        ("a", [{"scheme": "ean", "value": "4006381333932"}]),
        ("b", [{"scheme": "isbn", "value": "0306406152"}, {"scheme": "url", "value": "ftp://x"}]),
    ]
    found = [row for row in execute(settings, ROWS) if row[0] in ("a", "b")]
    assert found == [("b", "gtin", "09780306406157", "", "shop", 1)]


@begins_with(identified)
def test_an_ean_and_an_isbn_that_are_one_number_are_one_row(settings: Settings) -> None:
    found = [row[1:3] for row in execute(settings, ROWS) if row[0] == "twice"]
    assert found == [("gtin", "09780306406157")]


def test_the_newest_value_of_a_source_counts_and_undo_gives_the_former_back(settings: Settings, tmp_path: Path) -> None:
    load_rows_identifiers(settings, tmp_path, "a,,4006381333931,,,,,\n")
    load_rows_identifiers(settings, tmp_path, "a,,4006381333931,,,s1,,\n")
    load_rows_identifiers(settings, tmp_path, "a,,96385074,,,,,\nb,,4006381333931,,,,,\n")
    assert execute(settings, ROWS) == [
        ("a", "gtin", "00000096385074", "", "shop", 3),
        ("a", "sku", "s1", "", "shop", 2),
        ("b", "gtin", "04006381333931", "", "shop", 3),
    ]
    for left in ([("a", "gtin", 1), ("a", "sku", 2)], [("a", "gtin", 1)], []):
        undone(settings)
        assert [(row[0], row[1], row[5]) for row in execute(settings, ROWS)] == left


def test_two_sources_of_one_identifier_have_a_row_each(settings: Settings, tmp_path: Path) -> None:
    load_rows_identifiers(settings, tmp_path, "a,,4006381333931,,,,,\n")
    load_rows_identifiers(settings, tmp_path, "b,,04006381333931,,,,,\n", source="other")
    assert [(row[0], row[4]) for row in execute(settings, ROWS)] == [("a", "shop"), ("b", "other")]


def two_loads(settings: Settings, folder: Path) -> None:
    load_rows_identifiers(settings, folder, "a,,4006381333931,,,,,\n")
    load_rows_identifiers(settings, folder, "b,,96385074,,,,,\n")


@begins_with(two_loads)
@pytest.mark.parametrize(
    "forget",
    [
        "DELETE FROM identifiers_derived",  # an index that was loaded before these rows were kept
        "UPDATE identifiers_derived SET layout = 0",  # rows in another form
        "UPDATE identifiers_derived SET event_no = 1",  # a later load by code that does not know of them
    ],
)
def test_rows_that_are_missing_are_derived_before_anything_else_changes(settings: Settings, forget: str) -> None:
    before = execute(settings, ROWS)
    with connect(settings.database_url, application="test") as connection:
        connection.execute(forget.encode())
        connection.execute("DELETE FROM item_identifiers WHERE value = '00000096385074'")
        connection.commit()
        standing.lock(connection)
    assert execute(settings, ROWS) == before
    with connect(settings.database_url, application="test") as connection:
        assert connection.execute(identifiers.SQL.progress).fetchone() == (LAYOUT, 2, False)
