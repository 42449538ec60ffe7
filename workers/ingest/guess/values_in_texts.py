"""Values that only a longer text has: a price in a description, the number of an item in its address."""

import re

from shared.currencies import MARKS
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.guess.cell_kinds import MOSTLY, is_address
from workers.ingest.guess.currency_marks import meant_by
from workers.ingest.sampling.sample import Sample

_LETTER = r"[^\W\d_]"
_FIGURE = r"[0-9][0-9.,]*"
_MARK = "|".join(map(re.escape, sorted(MARKS, key=len, reverse=True)))
_BEFORE = re.compile(rf"(?<!{_LETTER})({_MARK})\s?({_FIGURE})")
_BEHIND = re.compile(rf"({_FIGURE})\s?({_MARK})(?!{_LETTER})")
_ROWS_MIN = 3
# A number in the path of an address: seldom shorter where it tells items apart.
_NUMBER = r"/([0-9]{5,})(?:[/?#.-]|$)"


def price_in_text(sampled: Sample, columns: list[str]) -> dict[str, ColumnSpec] | None:
    """Return the fields of a price that each text of a column states once; None where none does."""
    for column in columns:
        cells = sampled.values(column)
        if len(cells) < max(_ROWS_MIN, MOSTLY * len(sampled.rows)):
            continue
        for pattern, place in ((_BEHIND, 1), (_BEFORE, 0)):
            found = [match for text in cells if len(matches := pattern.findall(text)) == 1 for match in matches]
            marks = {match[place] for match in found}
            if len(found) < MOSTLY * len(cells) or len(marks) != 1:
                continue
            [mark] = marks
            codes = meant_by(mark)
            if len(codes) == 1:
                written = rf"({_FIGURE})\s?{re.escape(mark)}" if place else rf"{re.escape(mark)}\s?({_FIGURE})"
                price: ColumnSpec = {"column": column, "match": written}
                return {"price": price, "currency": {"constant": next(iter(codes))}}
    return None


def id_in_address(sampled: Sample, column: str) -> ColumnSpec | None:
    """Return the field of a number that each address has, and no two have alike; None where they have none."""
    cells = sampled.values(column)
    found = [match[1] for text in cells if is_address(text) and (match := re.search(_NUMBER, text))]
    if len(found) < _ROWS_MIN or len(set(found)) < len(sampled.rows):
        return None
    return {"column": column, "match": _NUMBER}
