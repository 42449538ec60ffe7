"""The guide has every key of the mapping language, each with an example that works."""

import dataclasses
import re
from pathlib import Path

import pytest

from shared.analytics.footprint import INDICATORS
from tests.laws.sources import PROJECT
from workers.ingest.fields import AltNames, FactorFields, Field, Impact, ItemFields, ObservationFields
from workers.ingest.mapping import FillDown, MatchRules, TopKeys, read

GUIDE = (PROJECT / "docs/guides/bring-your-own-data.md").read_text()

TABLES: dict[str, type] = {
    "The mapping itself": TopKeys,
    "`[item]`": ItemFields,
    "`[observation]`, or several times `[[observation]]`": ObservationFields,
    "`[[impacts]]`": Impact,
    "`[match]`": MatchRules,
    "`[factors]`": FactorFields,
    "A field": Field,
    "`alt_names`": AltNames,
    "`fill_down`": FillDown,
}


def described(title: str) -> list[tuple[str, ...]]:
    """Return the cells of the rows that a table of the guide has."""
    rows = GUIDE.partition(f"### {title}\n")[2].partition("\n#")[0].partition("|---")[2].splitlines()[1:]
    return [
        tuple(cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1])
        for row in rows
        if row[:1] == "|"
    ]


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
    if kind is TopKeys:
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
        homes = [home for home in HOMES if name in {key.name for key in dataclasses.fields(home[0])}]
        if not homes:
            return source + item + "[item.attributes]\n" + example + "\n"
        kind, given, title = homes[0]
    else:
        given, title = next((given, title) for home, given, title in HOMES if home is kind)
    if kind is ItemFields:
        joined = "join_by" in example or "join_source" in example
        more = 'join_by = "id"\n' if example.startswith("join_source") else ""
        kept = {"id": '"id"'} if joined else given
        return (
            source + table("[item]", kept, example) + more + (table("[observation]", OBSERVATION, "") if joined else "")
        )
    if kind is Impact and example.startswith(("low", "high")):  # neither bound is of use alone
        example += '\nhigh = "ci_high"' if example.startswith("low") else '\nlow = "ci_low"'
    return source + item + table(title, given, example)


def test_the_tables_of_the_guide_have_each_key_and_say_which_are_required() -> None:
    for title, kind in TABLES.items():
        needed = {key.name: " (required)" * (key.default is dataclasses.MISSING) for key in dataclasses.fields(kind)}
        rows = described(title)
        assert [name for name, *_ in rows] == [f"`{name}`{required}" for name, required in needed.items()], title
        assert all(re.search(r"\w.{10,}[.:)]$", sentence) for _, sentence, _ in rows), title
    assert described("Indicators") == [(f"`{one.code}`", one.unit, one.title) for one in INDICATORS]


def test_each_example_is_a_mapping_that_can_be_used(tmp_path: Path) -> None:
    examples = [(kind, *row) for title, kind in TABLES.items() for row in described(title)]
    assert len(examples) > 80
    for kind, name, _, shown in examples:
        example = shown.strip("`")
        assert re.search(rf"\b{name.split('`')[1]}\b", example), (kind, name)
        (tmp_path / "m.toml").write_text(whole(kind, example))
        read(tmp_path / "m.toml")


@pytest.mark.parametrize(
    "block", re.findall(r"```toml\n(source.*?)```", GUIDE, flags=re.S), ids=lambda text: text.split('"')[1]
)
def test_the_mappings_of_the_guide_can_be_used(tmp_path: Path, block: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(block)
    assert read(path).columns
