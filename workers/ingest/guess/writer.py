"""Lines of a mapping with their evidence and doubts, which the fields of a guess are written with."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from shared.mapping_doubts import Doubt, Reading
from shared.printable import many
from shared.toml_text import as_toml, quoted, shown_text
from workers.ingest.clean import MARKED_UP
from workers.ingest.column_names import plain
from workers.ingest.column_specs import ColumnSpec, FieldSpecs, Open
from workers.ingest.guess.column_roles import nothing_words
from workers.ingest.guess.field_guess import FieldGuess
from workers.ingest.sampling.sample import Sample
from workers.ingest.shapes import Shape

_QUOTED = re.compile(r'("(?:[^"\\]|\\.)*")')
_MARKED_UP = re.compile(MARKED_UP)
_SENTENCE_MAX, _SENTENCE_END = 300, 140


@dataclass
class FieldWriter:
    """Writes the fields of a mapping, line by line."""

    path: Path
    sampled: Sample
    fields: FieldSpecs
    shape: Shape | None
    guesses: dict[str, FieldGuess] = field(default_factory=dict)
    """What is known of each role by the names and cells of columns; nothing where a shape says it all."""
    lines: list[str | Doubt] = field(default_factory=list)
    """The lines of the mapping; a doubt stands before the line of its field."""
    table: str = ""
    """The table of the mapping that is being written."""

    def _doubt(self, of: str, sentence: str, readings: tuple[Reading, ...] = (), *, is_open: bool = False) -> None:
        said = _bounded(self._in_words_of_form(sentence))
        self.lines.append(Doubt(of, shown_text(said), readings, self.table, is_open))

    def _in_words_of_form(self, sentence: str) -> str:
        """Return a sentence that calls columns what the form of the file has: XML has parts, JSON members."""
        pieces = _QUOTED.split(sentence)
        pieces[::2] = (re.sub(r"\bcolumn", self.sampled.part, piece) for piece in pieces[::2])
        return "".join(pieces)

    def _ask(self, of: str, sentence: str, readings: tuple[Reading, ...] = ()) -> Open:
        """Note a doubt, and leave the field open."""
        self._doubt(of, sentence, readings, is_open=True)
        self.lines.append(f'{of} = "?"')
        return "?"

    def _rival(
        self, name: str, spec: ColumnSpec | Open, made: Callable[[str], ColumnSpec] = lambda column: {"column": column}
    ) -> None:
        """Say which other column may be the one of a field, with an example of each and the field that it makes."""
        for other in self._runners_up(name)[:1]:
            columns = [*columns_of(spec)[:1], other]
            if len(set(columns)) == len(columns):
                self._doubt(
                    name,
                    f"{' and '.join(quoted(column[:60]) for column in columns)} may each be it: the first is taken",
                    tuple(
                        reading(f"{name} = {as_toml(short_form(made(column)))}", self._shown(name, column))
                        for column in columns
                    ),
                )

    def _shown(self, role: str, column: str) -> str:
        """Return the first cell of a column, and how many it has."""
        candidate = self.guesses[role].candidate(column)
        counts = ", ".join(one.said for one in candidate.evidence if one.kind != "name") if candidate else ""
        return f'as in "{next(iter(self.sampled.values(column)), "")[:60]}"' + (f"; {counts}" if counts else "")

    def _runners_up(self, role: str) -> tuple[str, ...]:
        """Return the other columns that may be meant by a field, the likeliest first."""
        return self.guesses[role].runners_up if role in self.guesses else ()

    def _begin(self, table: str) -> None:
        self.table = table
        self.lines += ["", f"[{table}]"]

    def _line(self, name: str, spec: ColumnSpec | list[ColumnSpec] | Open, evidence: str = "") -> None:
        if spec == "?":
            self.lines.append(f'{name} = "?"')
            return
        comment = self._in_words_of_form(evidence) or self._given(spec)
        spec = [*map(self._as_written, spec)] if isinstance(spec, list) else self._as_written(spec)
        self.lines.append(f"{name} = {as_toml(short_form(spec))}" + (f"  # {shown_text(comment)}" if comment else ""))

    def _as_written(self, spec: ColumnSpec) -> ColumnSpec:
        """Return a field by which a load reads parts that not every row has, and codes that are formulas."""
        if "records" in self.sampled.form:
            spec = _sparse(spec)
        if not self.sampled.lacking.isdisjoint(columns_of(spec)):
            spec = spec | {"sparse": True}
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
        cells, words = {*self._cells(spec), *self._further(spec)}, frozenset(nothing_words(role))
        nothing = sorted(text for text in cells if plain(text) in words) if words else []
        nothing = [text for text in nothing if text not in spec.get("null", ())]
        spec = spec | {"null": [*spec.get("null", ()), *nothing]} if nothing else spec
        marked_up = any(map(_MARKED_UP.search, cells)) or not self.sampled.marked_up.isdisjoint(columns_of(spec))
        return spec | {"html": True} if marked_up else spec

    def _cells(self, spec: ColumnSpec | list[ColumnSpec] | Open) -> list[str]:
        """Return the texts of a field, of rows that have one."""
        return [text for _, text in self._numbered(spec)]

    def _further(self, spec: ColumnSpec | Open) -> list[str]:
        """Return the texts further down the file that state a currency, or no value, as none of the first rows does."""
        return [text for column in columns_of(spec) for text in self.sampled.further.get(column, ())]

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


def reading(statement: str, example: str) -> Reading:
    """Return a statement that may take the place of an open one, with what it makes of an example."""
    return Reading(shown_text(statement), shown_text(example))


def _bounded(sentence: str) -> str:
    """Return a sentence that can be read at once: of a long one the beginning, and the end, which says what to do."""
    if len(sentence) <= _SENTENCE_MAX:
        return sentence
    end = sentence[-_SENTENCE_END:].partition(" ")[2]
    return f"{sentence[: _SENTENCE_MAX - len(end) - len(' … ')].rpartition(' ')[0]} … {end}"
