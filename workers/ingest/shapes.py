"""Shapes known by name: files of shop systems, feeds and public dumps, recognized by their columns.

Each is one TOML file in deploy/mappings/shapes. `[[identified]]`: all of `all` (of a list within it one), and
`at_least` of `any`. `[form]`, `[item]`, `[observation]`: the fields of a mapping, with names of columns as
`column_names.plain` writes them; a field whose columns a file lacks is left out. Besides the keys of a mapping a
field may have `any` (the columns of these that the file has; the first that is not empty counts) and `first` (of
several fields the first of whose columns the beginning of the file has cells; with `unique` in each row, and no two
the same). `rows_with` of a form is the first of several columns that has cells. `[[doubts]]`: what a person should
know. `[tree]`: how the document writes a tree of categories (`xml_groups.GroupTree`), and the columns `of` their ids,
of which a file has one.
`[names]`: of a column the names that the system writes in other languages.
"""

import re
import tomllib
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa

from shared.printable import many
from workers.ingest.batches import Batch
from workers.ingest.column_names import plain
from workers.ingest.column_specs import FieldSpecs, ItemSpecs
from workers.ingest.files.reshape import reshaped
from workers.ingest.files.xml_groups import GroupTree
from workers.ingest.mapping import FillDown
from workers.ingest.sampling.sample import Sample

_PLACES = {"any", "first", "unique", "column", "columns", "within", "beside"}
FOLDER = Path(__file__).parents[2] / "deploy/mappings/shapes"


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape that a file has, with its fields as the file names their columns."""

    title: str
    about: str
    because: str
    """The columns by which it is recognized."""
    fields: FieldSpecs
    form: dict[str, Any]
    doubts: tuple[tuple[str, str], ...]
    tree: GroupTree | None
    """How the document writes its tree of categories; None where it has none, or no row names one by its id."""
    ids_of_categories: str
    sampled: Sample
    """The rows as a load with this form reads them."""


class _PlainColumns(NamedTuple):
    """A file's columns by their plain names: all, those with cells, those with another cell in each row."""

    known: dict[str, str]
    filled: dict[str, str]
    unique: dict[str, str]


def recognized(sampled: Sample) -> Shape | None:
    """Return the shape of a file: of several that its columns fit the one with most of them."""
    named = _by_plain_name(sampled.columns)
    found = [
        (len(why), document, why, known)
        for document in _documents()
        if (why := _identified(document, known := _translated(document, named)))
    ]
    if not found:
        return None
    _, document, why, known = max(found, key=lambda one: one[0])
    form = _form(document.get("form", {}), _columns(document, sampled, known))
    if form.get("quote") == "" and sampled.form.get("delimiter") != "\t":
        del form["quote"]
    read = read_by(sampled, form)
    columns = _columns(document, read, known)
    tables = {name: _resolved(document.get(name, {}), columns) or {} for name in ("item", "observation")}
    doubts = [
        (doubt["of"], doubt["says"])
        for doubt in document.get("doubts", [])
        if all(name in columns.filled for name in doubt["when"])
    ]
    if len(read.rows) < len(sampled.rows):
        left_out = f"{len(sampled.rows) - len(read.rows):,} of {many(len(sampled.rows), 'row')}"
        doubts.append(("rows", f'{left_out} have no "{form["rows_with"]}" and are not read'))
    item = cast(ItemSpecs, {"id": "?", "name": "?"} | tables["item"])
    tree = document.get("tree", {})
    ids = next((name for name in tree.get("of", ()) if name in columns.filled), "")
    return Shape(
        title=document["title"],
        about=document["about"],
        because=", ".join(known[name] for name in why),
        fields={"item": item, "observation": tables["observation"]},
        form=form,
        doubts=tuple(doubts),
        tree=GroupTree(**{place: text for place, text in tree.items() if place != "of"})
        if ids in columns.filled
        else None,
        ids_of_categories=columns.filled.get(ids, ""),
        sampled=read,
    )


@cache
def _documents() -> tuple[dict[str, Any], ...]:
    return tuple(tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.toml")))


def _by_plain_name(columns: Collection[str]) -> dict[str, str]:
    """Return columns by their plain names; places in lists count for nothing, and Google's prefix `g:` may be there."""
    known: dict[str, str] = {}
    for column in columns:
        words = plain(re.sub(r"\.\d+(?=\.|$)", "", column))
        known.setdefault(words, column)
        if column.startswith("g:"):
            known[words.removeprefix("g ")] = column
    for column in columns:  # `Classification[UNSPSC]` is also a `Classification`, where no other one is
        if column.endswith("]"):
            known.setdefault(plain(column.partition("[")[0]), column)
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


def _translated(document: dict[str, Any], named: dict[str, str]) -> dict[str, str]:
    """Return columns also by the names of a shape of which they have the translation."""
    found = {
        name: next((named[one] for one in map(plain, others) if one in named), None)
        for name, others in document.get("names", {}).items()
        if name not in named
    }
    return named | {name: column for name, column in found.items() if column is not None}


def _columns(document: dict[str, Any], sampled: Sample, known: dict[str, str]) -> _PlainColumns:
    cells = {column: sampled.values(column) for column in sampled.columns}
    unique = [
        column
        for column, texts in cells.items()
        if len(set(texts)) == len(sampled.rows) and column not in sampled.repeated
    ]
    filled = [column for column in cells if cells[column] or column in sampled.filled_below]
    return _PlainColumns(
        known, _translated(document, _by_plain_name(filled)), _translated(document, _by_plain_name(unique))
    )


def _form(spec: dict[str, Any], columns: _PlainColumns) -> dict[str, Any]:
    """Return the keys that say how a file is read, with its own columns; `quote` may be the empty text."""
    made = {
        name: value if value == "" else _resolved(value, columns) for name, value in spec.items() if name != "rows_with"
    }
    made["rows_with"] = next(
        (columns.filled[name] for name in spec.get("rows_with", ()) if name in columns.filled), None
    )
    return {name: value for name, value in made.items() if value is not None}


def _resolved(spec: Any, columns: _PlainColumns) -> Any:
    """Return a template with a file's own columns; None where it has none of them."""
    known = columns.known
    if isinstance(spec, str):
        return {"column": known[spec]} if spec in known else None
    if isinstance(spec, list):
        return [made for one in spec if (made := _resolved(one, columns)) is not None] or None
    if "constant" in spec:
        return spec
    if spec.get("beside", "") and spec["beside"] not in known:
        return None
    keys = {name: value for name, value in spec.items() if name not in _PLACES}
    keys |= {"beside": known[spec["beside"]]} if "beside" in spec else {}
    if "first" in spec:
        options = (_resolved(one, _counting(one, columns)) for one in spec["first"])
        return next((made for made in options if made is not None), None)
    if "within" in spec:
        filled = [known[name] for name in spec["columns"] if name in known]
        return {"within": known[spec["within"]], "columns": filled} if spec["within"] in known and filled else None
    listed = [known[name] for place in ("any", "columns") for name in spec.get(place, ()) if name in known]
    listed += [known[spec["column"]]] if spec.get("column") in known else []
    if not _PLACES & spec.keys():
        made = {name: _resolved(value, columns) for name, value in spec.items()}
        return {name: value for name, value in made.items() if value is not None} or None
    if not listed:
        return None
    if len(listed) == 1:
        return {"column": listed[0]} | {name: value for name, value in keys.items() if name != "join"}
    return {"columns" if "columns" in spec else "first_of": listed} | keys


def _counting(option: Any, columns: _PlainColumns) -> _PlainColumns:
    """Return the columns that count for an option of several: those with cells, or with another in each row."""
    if not isinstance(option, dict):
        return columns._replace(known=columns.filled)
    if option.get("gaps") and any(name in columns.filled for name in option["columns"][:1]):
        return columns  # all that the system writes: another export may fill what is empty in this one
    return columns._replace(known=columns.unique if option.get("unique") else columns.filled)


def read_by(sampled: Sample, form: dict[str, Any]) -> Sample:
    """Return a sample as a load with this form reads it: cells filled down, and rows without a value left out."""
    if not form.keys() & {"fill_down", "rows_with"}:
        return sampled
    rule = form.get("fill_down")
    fill_down = FillDown(within=rule["within"], columns=tuple(rule["columns"])) if rule else None
    cells = {name: pa.array([row.get(name) for row in sampled.rows], pa.string()) for name in sampled.columns}
    [read] = reshaped(iter([Batch(cells, sampled.lines)]), fill_down, form.get("rows_with", ""))
    texts = zip(*(column.to_pylist() for column in read.columns.values()), strict=True)
    rows = [{name: text for name, text in zip(cells, row, strict=True) if text} for row in texts]
    return replace(sampled, rows=rows, lines=read.lines)
