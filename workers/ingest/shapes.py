"""Shapes known by name: files of shop systems, feeds and public dumps, recognized by their columns.

Each is one TOML file in deploy/mappings/shapes. `[[identified]]`: all of `all` (of a list within it one), and
`at_least` of `any`. `[form]`, `[item]`, `[observation]`: the fields of a mapping, with names of columns as
`sample.plain` writes them; a field whose columns a file lacks is left out. Besides the keys of a mapping a field may
have `any` (the columns of these that the file has; the first that is not empty counts) and `first` (of several fields
the first of whose columns the beginning of the file has cells). `[[doubts]]`: what a person should know.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from workers.ingest.sample import Sample, plain

_PLACES = {"any", "first", "column", "columns", "within", "beside"}
FOLDER = Path(__file__).parents[2] / "deploy/mappings/shapes"


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape that a file has, with its fields as the file names their columns."""

    title: str
    about: str
    because: str
    fields: dict[str, Any]
    form: dict[str, Any]
    doubts: tuple[tuple[str, str], ...]


def recognized(sampled: Sample) -> Shape | None:
    """Return the shape of a file: of several that its columns fit the one with most of them."""
    known = _by_plain_name(sampled.columns)
    found = [(len(why), document, why) for document in _documents() if (why := _identified(document, known))]
    if not found:
        return None
    _, document, why = max(found, key=lambda one: one[0])
    filled = _by_plain_name(column for column in sampled.columns if sampled.values(column))
    tables = {name: _resolved(document.get(name, {}), known, filled) or {} for name in ("item", "observation", "form")}
    if tables["form"].get("quote") == "" and sampled.form.get("delimiter") != "\t":
        del tables["form"]["quote"]
    doubts = [
        (doubt["of"], doubt["says"])
        for doubt in document.get("doubts", [])
        if all(name in filled for name in doubt["when"])
    ]
    return Shape(
        title=document["title"],
        about=document["about"],
        because=f"the columns {', '.join(known[name] for name in why)}",
        fields={"item": {"id": "?", "name": "?"} | tables["item"], "observation": tables["observation"]},
        form=tables["form"],
        doubts=tuple(doubts),
    )


@cache
def _documents() -> tuple[dict[str, Any], ...]:
    return tuple(tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.toml")))


def _by_plain_name(columns: Iterable[str]) -> dict[str, str]:
    """Return columns by their plain names; places in lists count for nothing, and Google's prefix `g:` may be there."""
    known: dict[str, str] = {}
    for column in columns:
        words = plain(re.sub(r"\.\d+(?=\.|$)", "", column))
        known.setdefault(words, column)
        if column.startswith("g:"):
            known[words.removeprefix("g ")] = column
    return known


def _identified(document: dict[str, Any], known: dict[str, str]) -> list[str]:
    """Return the names by which a shape is recognized; none where it is not."""
    for rule in document["identified"]:
        options = [[one] if isinstance(one, str) else one for one in rule["all"]]
        found = [next((name for name in names if name in known), "") for names in options]
        further = [name for name in rule.get("any", []) if name in known]
        if all(found) and len(further) >= rule.get("at_least", 0):
            return found + further
    return []


def _resolved(spec: Any, known: dict[str, str], filled: dict[str, str]) -> Any:
    """Return a template with a file's own columns; None where it has none of them."""
    if isinstance(spec, str):
        return {"column": known[spec]} if spec in known else None
    if isinstance(spec, list):
        return [made for one in spec if (made := _resolved(one, known, filled)) is not None] or None
    if spec.get("beside", "") and spec["beside"] not in known:
        return None
    keys = {name: value for name, value in spec.items() if name not in _PLACES}
    keys |= {"beside": known[spec["beside"]]} if "beside" in spec else {}
    if "first" in spec:
        return next((made for one in spec["first"] if (made := _resolved(one, filled, filled)) is not None), None)
    if "within" in spec:
        columns = [known[name] for name in spec["columns"] if name in known]
        return {"within": known[spec["within"]], "columns": columns} if spec["within"] in known and columns else None
    listed = [known[name] for place in ("any", "columns") for name in spec.get(place, ()) if name in known]
    listed += [known[spec["column"]]] if spec.get("column") in known else []
    if not _PLACES & spec.keys():
        made = {name: _kept(value, known, filled) for name, value in spec.items()}
        return {name: value for name, value in made.items() if value is not None} or None
    if not listed:
        return None
    if len(listed) == 1:
        return {"column": listed[0]} | {name: value for name, value in keys.items() if name != "join"}
    return {"columns" if "columns" in spec else "first_of": listed} | keys


def _kept(value: Any, known: dict[str, str], filled: dict[str, str]) -> Any:
    """Return an entry of a table: a field, a table of fields, or an empty text, as `quote` may be."""
    return value if value == "" else _resolved(value, known, filled)


def with_form(sampled: Sample, shape: Shape | None) -> Sample:
    """Return a sample with the cells that a shape fills down."""
    rule = shape.form.get("fill_down") if shape else None
    if rule is None:
        return sampled
    rows: list[dict[str, str]] = []
    above: dict[str, str] = {}
    for row in sampled.rows:
        same = rows and row.get(rule["within"]) == rows[-1].get(rule["within"])
        above = (
            {name: row[name] for name in rule["columns"] if name in row}
            if not same
            else above | {name: row[name] for name in rule["columns"] if name in row}
        )
        rows.append({**above, **row})
    return replace(sampled, rows=rows)
