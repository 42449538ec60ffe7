"""The doubts of a guessed mapping, read from its text, and the text in which they are decided. Pure.

A doubt is a line `# CHECK <field>: <sentence>`; each line `# CHECK   <line>  # <example>` below it is one reading,
which may take the place of the field's own line.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_DOUBT, _READING = "# CHECK ", "# CHECK   "


@dataclass(frozen=True, slots=True)
class Reading:
    """A line that may take the place of the field's own, and what it makes of an example."""

    line: str

    @property
    def statement(self) -> str:
        """The line without its example."""
        return self.line.rpartition("  # ")[0] or self.line

    @property
    def example(self) -> str:
        """What the line makes of an example; the line itself where it has none."""
        return self.line.rpartition("  # ")[2]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence of a mapping on which a person must decide; `open` where no load uses the mapping before."""

    place: int
    sentence: str
    readings: tuple[Reading, ...]
    open: bool


def doubts_of(mapping: str) -> list[Doubt]:
    """Return the doubts of a mapping in their order."""
    lines = mapping.split("\n")
    found = []
    for place, line in enumerate(lines):
        if not line.startswith(_DOUBT) or line.startswith(_READING):
            continue
        end = place + 1
        while end < len(lines) and lines[end].startswith(_READING):
            end += 1
        readings = tuple(Reading(text.removeprefix(_READING)) for text in lines[place + 1 : end])
        own = _own_line(lines, place, readings[0]) if readings else None
        is_open = own is not None and bool(re.search(r'= "\?"', lines[own]))
        found.append(Doubt(place, line.removeprefix(_DOUBT), readings, is_open))
    return found


def decided(mapping: str, decisions: Iterable[str]) -> str:
    """Return a mapping in which readings, each named by its line, have taken the place of the fields' own lines.

    A doubt named by its sentence is removed, and its field stays as it is. Raises LookupError where the mapping has no
    such doubt or reading.
    """
    for decision in decisions:
        doubt, reading = _found(mapping, decision)
        lines = mapping.split("\n")
        own = _own_line(lines, doubt.place, reading) if reading else None
        if reading and own is not None:
            lines[own] = _with(lines[own], reading)
        kept = [reading.line] if reading and own is None else []
        lines[doubt.place : doubt.place + 1 + len(doubt.readings)] = kept
        mapping = "\n".join(lines)
    return mapping


def _found(mapping: str, decision: str) -> tuple[Doubt, Reading | None]:
    for doubt in doubts_of(mapping):
        if doubt.sentence == decision:
            return doubt, None
        for reading in doubt.readings:
            if reading.line == decision:
                return doubt, reading
    raise LookupError(decision)


def _own_line(lines: list[str], place: int, reading: Reading) -> int | None:
    """Return the line whose place a reading may take: below the doubt, and in the same table."""
    key = reading.line.partition(" = ")[0]
    below = [n for n in range(place, len(lines)) if not lines[n].startswith("#")]
    end = next((n for n in below if lines[n].startswith("[")), len(lines))
    same = [n for n in below if n < end]
    own = next((n for n in same if lines[n].startswith(f"{key} = ")), None)
    return own if own is not None else next((n for n in same if _entry(key).search(lines[n])), None)


def _with(line: str, reading: Reading) -> str:
    key = reading.line.partition(" = ")[0]
    if line.startswith(f"{key} = "):
        return reading.line
    return _entry(key).sub(lambda _: reading.statement, line, count=1)


def _entry(key: str) -> re.Pattern[str]:
    """Find an open entry of a table within a line, as `"$" = "?"`."""
    return re.compile(rf'(?<![\w-]){re.escape(key)} = "\?"')
