"""Lines of a mapping with their evidence and doubts, which the fields of a guess are written with."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shared.printable import many
from workers.ingest.clean import MARKED_UP
from workers.ingest.column_names import plain
from workers.ingest.column_roles import nothing_words
from workers.ingest.column_specs import ColumnSpec, Open
from workers.ingest.sample import Sample
from workers.ingest.shapes import Shape
from workers.ingest.toml_text import as_toml, shown_text

# The unit of a price behind it: "2,50 € / kg", "15,50 €/ud.", "3.20 per piece". "12/-" has none.
BEHIND = r"(?:\s*/\s*[^\s0-9/-].*|\s(?:per|pro|je|por|za|за)\s.+)?"
_MARKED_UP = re.compile(MARKED_UP)
_SENTENCE_MAX, _SENTENCE_END = 300, 140


@dataclass(frozen=True, slots=True)
class Doubt:
    """What a person should look at: of which field, why, and the lines of which one may take its place.

    A choice ends with a comment: what it makes of an example. `edge.dashboard.doubts` reads them from the text.
    """

    of: str
    sentence: str
    choices: tuple[str, ...] = ()


@dataclass
class FieldWriter:
    """Writes the fields of a mapping, line by line."""

    path: Path
    sampled: Sample
    fields: dict[str, Any]
    shape: Shape | None
    lines: list[str] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)

    def _doubt(self, of: str, sentence: str, choices: tuple[str, ...] = ()) -> None:
        sentence = _bounded(sentence)
        self.doubts.append(Doubt(of, sentence, choices))
        self.lines.append(f"# CHECK {of}: {shown_text(sentence)}")
        self.lines += [f"# CHECK   {shown_text(choice)}" for choice in choices]

    def _ask(self, of: str, sentence: str, choices: tuple[str, ...] = ()) -> Open:
        """Note a doubt, and leave the field open."""
        self._doubt(of, sentence, choices)
        self.lines.append(f'{of} = "?"')
        return "?"

    def _line(self, name: str, spec: ColumnSpec | list[ColumnSpec] | Open, evidence: str = "") -> None:
        if spec == "?":
            self.lines.append(f'{name} = "?"')
            return
        comment = evidence or self._given(spec)
        spec = [*map(self._as_written, spec)] if isinstance(spec, list) else self._as_written(spec)
        self.lines.append(f"{name} = {as_toml(short_form(spec))}" + (f"  # {shown_text(comment)}" if comment else ""))

    def _as_written(self, spec: ColumnSpec) -> ColumnSpec:
        """Return a field by which a load reads parts that not every row has, and codes that are formulas."""
        if "records" in self.sampled.form:
            spec = _sparse(spec)
        if not self.sampled.formulas.isdisjoint(columns_of(spec)):
            spec = spec | {"replace": {'="': "", '"': ""} | spec.get("replace", {})}
        return spec

    def _given(self, spec: ColumnSpec | list[ColumnSpec]) -> str:
        if not columns_of(spec):
            return ""
        return share_of_cells(len(self._cells(spec)), len(self.sampled.rows))

    def _as_text(self, role: str, spec: ColumnSpec | Open) -> ColumnSpec | Open:
        """Return the field of a text without the words that stand for none, and without what HTML adds to it."""
        if spec == "?":
            return spec
        cells, words = set(self._cells(spec)), frozenset(nothing_words(role))
        nothing = sorted(text for text in cells if plain(text) in words) if words else []
        nothing = [text for text in nothing if text not in spec.get("null", ())]
        spec = spec | {"null": [*spec.get("null", ()), *nothing]} if nothing else spec
        marked_up = any(map(_MARKED_UP.search, cells)) or not self.sampled.marked_up.isdisjoint(columns_of(spec))
        return spec | {"html": True} if marked_up else spec

    def _cells(self, spec: ColumnSpec | list[ColumnSpec] | Open) -> list[str]:
        """Return the texts of a field, of rows that have one."""
        return [text for _, text in self._numbered(spec)]

    def _numbered(self, spec: ColumnSpec | list[ColumnSpec] | Open) -> list[tuple[int, str]]:
        """Return the texts of a field with their places; of a field with `match` what that finds."""
        found = []
        pattern = re.compile(spec["match"]) if isinstance(spec, dict) and "match" in spec else None
        nulls = spec.get("null", ()) if isinstance(spec, dict) else ()
        for place, row in enumerate(self.sampled.rows):
            texts = [row[column] for column in columns_of(spec) if row.get(column, "") not in ("", *nulls)]
            if texts:
                whole = isinstance(spec, dict) and "columns" in spec
                text = " ".join(texts) if whole else texts[0]
                if pattern:
                    part = pattern.search(text)
                    text = part[1] if part else ""
                if text:
                    found.append((place, text))
        return found

    def _examples(self, places: list[tuple[int, str]]) -> str:
        listed = ", ".join(f'line {self.sampled.lines[place]} "{text[:40]}"' for place, text in places[:3])
        return listed + (f" and {len(places) - 3:,} more" if len(places) > 3 else "")

    def _missing(self, name: str, spec: ColumnSpec | Open, beside: tuple[ColumnSpec | Open, ...] = ()) -> None:
        """Say which rows have no value of a field that every row needs, or every row with these other fields."""
        rows = len(self.sampled.rows)
        needed = set(range(rows)).intersection(*map(self._places, beside))
        absent = sorted(needed.difference(self._places(spec)))
        if absent:
            lines = ", ".join(str(self.sampled.lines[place]) for place in absent[:3])
            is_total = absent == [rows - 1] and rows > 1 and not beside
            without = f"{share_of_cells(len(absent), rows, 'row')} {has_or_have(len(absent))} none"
            total = " (the last one seems to be a total)" if is_total else ""
            self._doubt(name, f"{without} and {is_or_are(len(absent))} rejected: line {lines}{total}")

    def _places(self, spec: ColumnSpec | Open) -> Iterable[int]:
        """Return the rows that have a value of a field."""
        return {place for place, _ in self._numbered(spec)} if columns_of(spec) else range(len(self.sampled.rows))


def share_of_cells(count: int, total: int, noun: str = "cell") -> str:
    return f"{count:,} of {many(total, noun)}"


def is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


def has_or_have(count: int) -> str:
    return "has" if count == 1 else "have"


def columns_of(spec: ColumnSpec | list[ColumnSpec] | Open) -> list[str]:
    """Return the columns that a field reads."""
    if isinstance(spec, str):
        return [] if spec == "?" else [spec]
    if isinstance(spec, list):
        return [column for one in spec for column in columns_of(one)]
    return [*([spec["column"]] if "column" in spec else []), *spec.get("columns", ()), *spec.get("first_of", ())]


def _sparse(spec: ColumnSpec) -> ColumnSpec:
    """Return a field that a document may lack where it reads a part by its name, as not every article has one."""
    return spec | {"sparse": True} if any(column.endswith("]") for column in columns_of(spec)) else spec


def short_form(spec: ColumnSpec | list[ColumnSpec]) -> object:
    """Return a field as a mapping writes it: a column alone as its name."""
    if isinstance(spec, list):
        return [short_form(one) for one in spec]
    return spec["column"] if isinstance(spec, dict) and list(spec) == ["column"] else spec


def reading_line(line: str, example: str) -> str:
    """Return a line that may take the place of an open one, with what it makes of an example."""
    return f"{line}  # {shown_text(example)}"


def _bounded(sentence: str) -> str:
    """Return a sentence that can be read at once: of a long one the beginning, and the end, which says what to do."""
    if len(sentence) <= _SENTENCE_MAX:
        return sentence
    end = sentence[-_SENTENCE_END:].partition(" ")[2]
    return f"{sentence[: _SENTENCE_MAX - len(end) - len(' … ')].rpartition(' ')[0]} … {end}"
