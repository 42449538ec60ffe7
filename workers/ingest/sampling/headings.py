"""Headings among the rows of a table: rows that have a text, and nothing of what other rows have."""

from collections import Counter
from itertools import pairwise
from typing import NamedTuple

from workers.ingest.sampling.sample import Row

_HEADINGS_MIN = 2
_CELLS_MIN = 3
_MOSTLY = 0.7


class HeadingRows(NamedTuple):
    """The headings of a table."""

    column: str
    """The column of their texts."""
    without: set[str]
    """The columns in which they have nothing."""
    heads: list[str]
    """Of each row the heading above it; of a heading itself."""
    rest: list[int]
    """The places of the other rows."""
    headings: int
    alone: str
    """What is said of their other cells."""


def sections_of(rows: list[Row]) -> HeadingRows | None:
    """Return the headings of a table; None where it has none, or a row without a price may be one.

    A heading may have a code of its own, where the codes of the rows below begin with it.
    """
    bare = [row for row in rows if len(row) == 1]
    others = [row for row in rows if len(row) > 1]
    usual = Counter(len(row) for row in others).most_common(1)
    if len(bare) < _HEADINGS_MIN or not usual or usual[0][0] < _CELLS_MIN or len(rows[0]) != 1:
        return None
    column = next(iter(rows[0]))
    if sum(column in row for row in bare) < max(_HEADINGS_MIN, _MOSTLY * len(bare)) or len(bare) > len(others):
        return None
    kept = {column}
    if code := _code_of_headings(rows, column):
        kept.add(code)
    is_heading = [row.keys() <= kept and column in row for row in rows]
    if 2 * sum(is_heading) > len(rows):
        return None
    heads: list[str] = []
    for row, heading in zip(rows, is_heading, strict=True):
        heads.append(row[column] if heading else heads[-1] if heads else "")
    without = {name for row, heading in zip(rows, is_heading, strict=True) if not heading for name in row} - kept
    rest = [place for place, heading in enumerate(is_heading) if not heading]
    alone = f'and at most a code in "{code[:40]}"' if code else "alone"
    return HeadingRows(column, without, heads, rest, sum(is_heading), alone)


def _code_of_headings(rows: list[Row], column: str) -> str:
    """Return the column of the codes that headings have, which are the beginnings of those of the rows below."""
    pairs = [(row, below) for row, below in pairwise(rows) if len(row) == 2 and column in row]
    codes = Counter(name for row, _ in pairs for name in row if name != column)
    for code, _ in codes.most_common(1):
        coded = [(row[code], below.get(code, "")) for row, below in pairs if code in row]
        begun = sum(below.startswith(own) and below != own for own, below in coded)
        if len(coded) >= _HEADINGS_MIN and begun >= _MOSTLY * len(coded):
            return code
    return ""
