"""Menus above the columns of a file write its mapping, and read it."""

import tomllib

import pytest

from shared.mapping_columns import ATTRIBUTE, FIELDS, assign_columns, fields_of_columns, set_top, top_of
from tests.support.shop import MAPPING
from workers.ingest.mapping import parse

BARE = 'source = "s"\ntitle = "S"\nlicense = "unknown"\n[item]\nid = "a"\nname = "b"\n'


def test_each_column_is_shown_with_the_fields_that_it_becomes() -> None:
    assert fields_of_columns(MAPPING) == {
        "sku": ["item.id", "item.identifiers.sku"],
        "name": ["item.name"],
        "brand": ["item.brand"],
        "group": ["item.category"],
        "kind": ["item.category", "item.product_type"],
        "weight": ["item.attributes.weight_kg"],
        "day": ["observation.day"],
        "store": ["observation.channel"],
        "price": ["observation.price"],
        "list": ["observation.list_price"],
    }
    assert fields_of_columns("no = toml = at all") == {}


@pytest.mark.parametrize("key", FIELDS)
def test_a_column_becomes_any_field_and_the_mapping_can_be_read(key: str) -> None:
    text = assign_columns(MAPPING, {"maker": key})
    assert key in fields_of_columns(text)["maker"]
    assert "maker" in parse(text).columns


def test_a_column_that_is_not_used_any_more_leaves_a_needed_field_open_and_others_out() -> None:
    text = tomllib.loads(assign_columns(MAPPING, {"brand": "", "price": "", "weight": ""}))
    assert "brand" not in text["item"] and "weight_kg" not in text["item"]["attributes"]
    assert text["observation"]["price"] == "?"


def test_levels_of_a_category_are_added_and_taken_away() -> None:
    text = assign_columns(MAPPING, {"shelf": "item.category"})
    assert tomllib.loads(text)["item"]["category"] == ["group", "kind", "shelf"]
    assert tomllib.loads(assign_columns(text, {"group": "", "kind": ""}))["item"]["category"] == "shelf"


def test_a_first_price_opens_what_a_price_needs() -> None:
    table = tomllib.loads(assign_columns(BARE, {"c": "observation.price"}))["observation"]
    assert table == {"price": "c", "day": "?", "channel": "?", "currency": "?"}


def test_two_columns_change_places() -> None:
    item = tomllib.loads(assign_columns(BARE, {"a": "item.name", "b": "item.id"}))["item"]
    assert item == {"id": "b", "name": "a"}


@pytest.mark.parametrize("column", ['the "maker"', "tab\there", "a\\b", "Größe", "1"])
def test_any_name_of_a_column_can_be_written(column: str) -> None:
    text = assign_columns(MAPPING, {column: ATTRIBUTE})
    [key] = fields_of_columns(text)[column]
    assert key.startswith("item.attributes.")
    assert column in parse(text).columns


def test_what_a_line_cannot_change_is_refused() -> None:
    text = MAPPING.replace('brand = "brand"\n', "") + '[item.brand]\ncolumn = "brand"\n'
    with pytest.raises(LookupError):
        assign_columns(text, {"brand": ""})
    with pytest.raises(LookupError):
        assign_columns("no = toml = at all", {"a": "item.name"})


def test_the_licence_is_written_outside_of_the_tables() -> None:
    text = set_top(MAPPING, "license", 'CC "BY" 4.0')
    assert top_of(text, "license") == 'CC "BY" 4.0' and parse(text).license == 'CC "BY" 4.0'
    assert top_of("", "license") == ""
