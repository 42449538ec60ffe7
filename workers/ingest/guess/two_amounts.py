"""Cells that have two amounts, such as a price glued to the one before its reduction."""

import re
from typing import NamedTuple

from shared.currencies import MARKS
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.guess.amount_readings import HABITS, read_numbers
from workers.ingest.guess.currency_marks import meant_by

_AMOUNT = r"[0-9][0-9.,]*[.,][0-9]{2}"
_TWO = re.compile(rf"({_AMOUNT})(?![0-9]|[.,][0-9]).*?({_AMOUNT})(?![0-9]|[.,][0-9])", re.ASCII | re.DOTALL)
FIRST = rf"^[^0-9]*({_AMOUNT})"
LAST = rf"({_AMOUNT})[^0-9]*$"
# The first amount of a cell that has a second one.
FIRST_OF_TWO = rf"^[^0-9]*({_AMOUNT})[^0-9.,].*[0-9][.,][0-9]{{2}}"
_GLUED_MIN = 0.2
_LETTER = r"[^\W\d_]"
_MARK = re.compile(rf"(?<!{_LETTER})(?:{'|'.join(map(re.escape, sorted(MARKS, key=len, reverse=True)))})(?!{_LETTER})")


class TwoAmounts(NamedTuple):
    """What a column with two amounts in a cell has."""

    cells: list[str]
    """Those that have two."""
    first: str
    last: str
    """Both amounts of the first such cell."""
    is_reduction: bool
    """Whether the first amount is never the lower one, and mostly the higher one."""
    currency: str
    """The one currency that all cells state; an empty text where they do not."""


def two_amounts(spec: ColumnSpec, cells: list[str]) -> TwoAmounts | None:
    """Return what a column of amounts says twice in a cell; None where that is seldom."""
    found = [(text, match) for text in cells if (match := _TWO.search(text))]
    if not found or len(found) < _GLUED_MIN * len(cells) or spec.keys() & {"match", "columns"}:
        return None
    pairs = [(_outer(FIRST, text), _outer(LAST, text)) for text, _ in found]
    codes = frozenset().union(*(meant_by(mark) for text in cells for mark in _MARK.findall(text)))
    currency = next(iter(codes)) if len(codes) == 1 else ""
    match = found[0][1]
    return TwoAmounts([text for text, _ in found], match[1], match[2], _are_reductions(pairs), currency)


def _outer(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.ASCII | re.DOTALL)
    return found[1] if found else ""


def _are_reductions(pairs: list[tuple[str, str]]) -> bool:
    """Return whether firsts are nowhere below and mostly above lasts, in the habit that reads all of them."""
    for thousands, decimal in HABITS:
        spec: ColumnSpec = {"thousands": thousands, "decimal": decimal}
        first, last = (read_numbers(spec, [pair[place] for pair in pairs]) for place in (0, 1))
        both = [(float(a), float(b)) for a, b in zip(first, last, strict=True) if a and b]
        if len(both) == len(pairs):
            return all(a >= b for a, b in both) and 2 * sum(a > b for a, b in both) > len(both)
    return False
