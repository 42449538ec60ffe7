"""The guide has every key of the mapping language, each with an example that works."""

import re
from pathlib import Path
from typing import Any

import pytest

from workers.ingest.fields import AltNames, FactorFields, Field, Impact, ItemFields, ObservationFields
from workers.ingest.mapping import TABLES, FillDown, Mapping, MatchRules, keys, markdown, read

PROJECT = Path(__file__).parents[2]
GUIDE = (PROJECT / "deploy/guides/bring-your-own-data.md").read_text()
SOURCE = {"source": '"s"', "title": '"T"', "license": '"L"'}
ITEM = {"id": '"id"', "name": '"name"'}
OBSERVATION = {"day": '"day"', "channel": '"shop"', "price": '"price"', "currency": '"cur"'}
IMPACT = {"indicator": '"co2e_kg"', "value": '"co2"', "basis": '"measured"', "method": '"m"'}
FACTORS = {"code": '"code"', "indicators": '{ co2e_kg = "co2" }', "method": '"m"'}
# Where a field's example may stand: it is given under the key that it sets.
HOMES = (
    (ItemFields, ITEM, "[item]"),
    (ObservationFields, OBSERVATION, "[observation]"),
    (Impact, IMPACT, "[[impacts]]"),
    (MatchRules, {}, '[item.identifiers]\ngtin = "ean"\nstyle_code = "style"\n[match]'),
)


def table(title: str, given: dict[str, str], example: str) -> str:
    """Write a TOML table in which the example replaces the key that it sets."""
    name = example.partition("=")[0].strip()
    kept = "".join(f"{key} = {value}\n" for key, value in given.items() if key != name)
    return f"{title}\n{kept}{example}\n"


def whole(kind: type, example: str) -> str:
    """Write a mapping with an example in its place."""
    source, item = table("", SOURCE, ""), table("[item]", ITEM, "")
    if kind is Mapping:
        return table("", SOURCE, example) + item
    if kind is FactorFields:
        return source + table("[factors]", FACTORS, example)
    if kind is FillDown:
        other = 'columns = ["b"]\n' if example.startswith("within") else 'within = "a"\n'
        return source + "[fill_down]\n" + example + "\n" + other + item
    if kind is AltNames:
        other = 'keys = ["name"]\n' if example.startswith("file") else 'file = "names.json"\n'
        return source + item + "[item.alt_names]\n" + example + "\n" + other
    if kind is Field:
        name = example.partition("=")[0].strip()
        homes = [home for home in HOMES if name in {key for key, *_ in keys(home[0])}]
        if not homes:
            return source + item + "[item.attributes]\n" + example + "\n"
        kind, given, title = homes[0]
    else:
        given, title = next((given, title) for home, given, title in HOMES if home is kind)
    if kind is ItemFields:
        joined = "join_by" in example or "join_source" in example
        more = 'join_by = "id"\n' if example.startswith("join_source") else ""
        fields = {"id": '"id"'} if joined else given
        return (
            source
            + table("[item]", fields, example)
            + more
            + (table("[observation]", OBSERVATION, "") if joined else "")
        )
    if kind is Impact and example.startswith(("low", "high")):  # neither bound is of use alone
        example += '\nhigh = "ci_high"' if example.startswith("low") else '\nlow = "ci_low"'
    return source + item + table(title, given, example)


def test_the_tables_of_the_guide_are_those_of_the_code() -> None:
    kept = GUIDE.partition("<!-- keys -->\n")[2].partition("<!-- /keys -->")[0]
    assert kept == markdown(), "put the output of `itemindex ingest check --keys` between the marks"


EXAMPLES = [(kind, name, example) for _, kind in TABLES for name, _, _, example in keys(kind)]


@pytest.mark.parametrize(
    ("kind", "name", "example"), EXAMPLES, ids=lambda value: value.__name__ if isinstance(value, type) else value[:20]
)
def test_each_example_is_a_mapping_that_can_be_used(tmp_path: Path, kind: Any, name: str, example: str) -> None:
    assert re.search(rf"\b{name}\b", example)
    path = tmp_path / "m.toml"
    path.write_text(whole(kind, example))
    read(path)


def test_every_key_of_every_table_is_described() -> None:
    plain = {field for _, kind in TABLES for field in kind.__dataclass_fields__}
    reported = {name for _, kind in TABLES for name, *_ in keys(kind)}
    assert plain - reported == {
        "item",
        "observations",
        "factors",
        "impacts",
        "text",
        "path",
        "item_columns",
        "sparse_columns",
        "loaded_on",
    }


@pytest.mark.parametrize(
    "block", re.findall(r"```toml\n(source.*?)```", GUIDE, flags=re.S), ids=lambda text: text.split('"')[1]
)
def test_the_mappings_of_the_guide_can_be_used(tmp_path: Path, block: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(block)
    assert read(path).columns
