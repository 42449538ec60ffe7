"""Menus above the columns of a file write its mapping, and read it."""

import re
import tomllib

import pytest

from shared.mapping_columns import (
    ATTRIBUTE,
    FIELDS,
    assign_columns,
    constant_of,
    fields_of_columns,
    set_constant,
    set_top,
    top_of,
)
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


# Each states the brand in another form; the columns are those of MAPPING.
FORMS = {
    "a table": '[item.brand]\ncolumn = "brand"\nstrip_suffix = " Ltd"\n',
    "a table with one below it": '[item.brand]  # 9 of 10\ncolumn = "brand"\n[item.brand.crosswalk]\nVita = "Vitasoy"\n',
    "a table on one line": '[item]\nbrand = { column = "brand" }\n',
    "several lines": '[item]\nbrand = {first_of = [\n  "brand",\n]}\n',
    "other spaces": '[item]\n  brand   =   "brand"\n',
}


def of_form(form: str) -> str:
    text = MAPPING.replace('brand = "brand"\n', "")
    return text.replace("[item]\n", form, 1) if form.startswith("[item]\n") else f"{text}\n{form}"


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_field_in_any_form_is_taken_away_given_to_another_column_and_exchanged(form: str) -> None:
    text = of_form(form)
    assert fields_of_columns(text)["brand"] == ["item.brand"]
    gone = tomllib.loads(assign_columns(text, {"brand": ""}))
    assert "brand" not in gone["item"]
    moved = tomllib.loads(assign_columns(text, {"maker": "item.brand", "brand": ATTRIBUTE}))
    assert moved["item"]["brand"] == "maker" and moved["item"]["attributes"]["brand"] == "brand"
    assert gone["observation"] == moved["observation"] == tomllib.loads(MAPPING)["observation"]


def test_an_attribute_that_is_a_table_is_taken_away_and_its_neighbours_stay() -> None:
    text = f'{MAPPING}[item.attributes.basis]\ncolumn = "basis"\n[item.attributes.basis.crosswalk]\na = "b"\n'
    left = tomllib.loads(assign_columns(text, {"basis": ""}))
    assert left == tomllib.loads(MAPPING)
    assert tomllib.loads(assign_columns(text, {"basis": "observation.units"}))["observation"]["units"] == "basis"


def test_a_price_that_is_a_table_becomes_open() -> None:
    text = re.sub("(?m)^price = .*\n", "", MAPPING) + '[observation.price]\ncolumn = "price"\nfactor = 0.01\n'
    assert tomllib.loads(assign_columns(text, {"price": ""}))["observation"]["price"] == "?"


def test_what_only_the_text_can_change_is_refused_with_the_column() -> None:
    levels = MAPPING.replace('category = ["group", "kind"]', 'category = { columns = ["group", "kind"] }')
    assert levels != MAPPING
    for text, chosen in (
        ("no = toml = at all", {"a": "item.name"}),
        (levels, {"shelf": "item.category"}),
        (levels, {"kind": ""}),
        (f'{BARE}[[observation]]\nprice = "c"\n', {"d": "observation.price"}),
    ):
        with pytest.raises(LookupError) as refused:
            assign_columns(text, chosen)
        assert refused.value.args == (next(iter(chosen)),)


def test_the_licence_is_written_outside_of_the_tables() -> None:
    text = set_top(MAPPING, "license", 'CC "BY" 4.0')
    assert top_of(text, "license") == 'CC "BY" 4.0' and parse(text).license == 'CC "BY" 4.0'
    assert top_of("", "license") == ""


def test_a_field_is_one_text_for_the_whole_file() -> None:
    text = set_constant(MAPPING, "observation.channel", 'Kasse "Nord"')
    assert constant_of(text, "observation.channel") == 'Kasse "Nord"'
    assert "store" not in fields_of_columns(text)
    assert parse(text)
    for none in (MAPPING, "no = toml = at all", "observation = 1", ""):
        assert constant_of(none, "observation.channel") == ""
