"""Rows of cells as a table: the line that names the columns, what stands above it, and headings among the rows."""

import re
from collections import Counter
from typing import Any

from shared.errors import LoadRefused
from workers.ingest.column_names import is_price_on_request
from workers.ingest.mapping import SECTION_COLUMN
from workers.ingest.sampling.headings import sections_of
from workers.ingest.sampling.sample import COLUMNS_MAX, HEADER_ROWS_MAX, NOTHING, SAMPLE_ROWS, Sample

_VALUE = re.compile(r"[-+]?[\d.,' ]*\d[\d.,' ]*%?|\d{1,4}[-./]\d{1,2}[-./]\d{1,4}.*", re.ASCII)
_DATED = re.compile(r"(?:19|20)\d\d-[01]\d-[0-3]\d", re.ASCII)
_QUOTED_DAY = re.compile(r'"[0-9]{4}-[0-9]{2}-[0-9]{2}[^"]*"$', re.ASCII)
_ROWS_BELOW_MIN = 3
_EXPLAINING_MAX = 10
_EXPLAINED_MIN = 2
_MACHINE_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*(?:[\[#.].*)?")


def sample_of_cells(rows: list[tuple[int, list[str]]], form: dict[str, Any], *, whole_rows: bool = False) -> Sample:
    """Return rows of cells whose header may stand below titles.

    `whole_rows`: all rows of the table have as many cells, as in a CSV; a sheet's rows are filled up.
    """
    if not rows:
        raise LoadRefused("the file has no cells: export it again, and look at it before it is loaded")
    places = {place for _, cells in rows for place, cell in enumerate(cells) if _is_formula(cell)}
    if places:
        rows = [(number, [cell[2:-1] if _is_formula(cell) else cell for cell in cells]) for number, cells in rows]
    if dated := _quoted_days(rows):
        places |= dated
        rows = [(number, [c.strip('"') if n in dated else c for n, c in enumerate(cells)]) for number, cells in rows]
    at = _lowest_header(rows, _header_at(rows, whole_rows=whole_rows))
    line, header = rows[at][0], [title.strip() for title in rows[at][1]]
    if len(header) > COLUMNS_MAX:
        raise LoadRefused(f"the header has {len(header):,} columns; {COLUMNS_MAX:,} are read at most")
    doubts = []
    titles = tuple(title for _, cells in rows[:at] if (title := " ".join(filter(None, cells))))
    if at:
        form = form | {"skip_rows": line - 1}
        above = "; ".join(titles)[:100]
        doubts.append(f'skip_rows: the header is in line {line}, below "{above}"')
    named = [title for title in header if title]
    values = [title for title in named if _VALUE.fullmatch(title)]
    if len(values) > len(named) / 2 and not all(map(_DATED.fullmatch, values)):
        raise LoadRefused(
            f'line {line} should name the columns, and has "{values[0]}": add a line with their names above the rows'
        )
    below = rows[at + 1 : at + 1 + SAMPLE_ROWS]
    if further := _names_too(below):
        names = below[0][0]
        doubts.append(
            f'skip_rows: line {names} seems to name the columns too, as in "{further[0][:40]}": if so, make one line '
            f"of both in the file, or write skip_rows = {names - 1} to have the names of line {names}"
        )
    if explaining := _explaining(below):
        first_row = below[explaining][0]
        form = form | {"first_row": first_row}
        text = next(filter(None, below[explaining - 1][1]))
        doubts.append(
            f'first_row: what is between the header and line {first_row}, such as "{text[:40]}", seems to explain the '
            "columns, and is not read"
        )
        below = below[explaining:]
    times = Counter(named)
    twice = tuple(name for name, count in times.items() if count > 1)
    columns = tuple(name for name in dict.fromkeys(named) if name not in twice)
    kept, lines = [], []
    for number, cells in below:
        cells_named = zip(header, cells, strict=False)
        kept.append({name: cell.strip() for name, cell in cells_named if cell.strip() and name and name not in twice})
        lines.append(number)
    for name in twice:
        shown = [
            next((cells[n] for _, cells in below if n < len(cells) and cells[n]), "")
            for n, title in enumerate(header)
            if title == name
        ]
        examples = " and ".join(f'"{text[:30]}"' for text in shown)
        doubts.append(
            f'columns: {times[name]} columns are called "{name}" ({examples}): rename all but one in the file to use it'
        )
    formulas = frozenset(header[place] for place in places if place < len(header))
    if found := sections_of(kept):
        heads, without = found.heads, [name for name in columns if name in found.without]
        form = form | {"sections": {"column": found.column, "without": without}}
        listed = list(dict.fromkeys(filter(None, heads)))
        doubts.append(
            f'sections: {found.headings:,} rows with a text in "{found.column[:60]}" {found.alone}, such as '
            f'"{listed[0][:40]}", are taken for headings of the rows below them, which have them as {SECTION_COLUMN}: '
            "are they?"
        )
        rest = found.rest
        kept = [kept[place] | ({SECTION_COLUMN: heads[place]} if heads[place] else {}) for place in rest]
        lines = [lines[place] for place in rest]
        columns = (*columns, SECTION_COLUMN)
    return Sample(columns, kept, lines, form, tuple(doubts), twice, line, titles, formulas=formulas)


def _quoted_days(rows: list[tuple[int, list[str]]]) -> set[int]:
    """Return the places of columns whose cells are days within quotation marks, as JSON writes a text."""
    places = {n for _, cells in rows for n, cell in enumerate(cells) if _QUOTED_DAY.match(cell)}
    below = {n: [cells[n] for _, cells in rows[1:] if n < len(cells) and cells[n]] for n in places}
    return {n for n, cells in below.items() if all(map(_QUOTED_DAY.match, cells))}


def _is_formula(cell: str) -> bool:
    return cell.startswith('="') and len(cell) > len('=""') and cell.find('"', 2) == len(cell) - 1


def _lowest_header(rows: list[tuple[int, list[str]]], at: int) -> int:
    """Return the place of the line below a header that names more columns or names them for programs; else its own.

    Templates for uploads have titles for people above such a line, and price lists names that cover several columns.
    """
    if _repeats_names(rows[at : at + 2]):
        return at + 1
    below = rows[at + 1 : at + 2 + SAMPLE_ROWS]
    names = _names_too(below)
    are_for_programs = any(re.search("[_-]", name) for name in names) and all(
        _MACHINE_NAME.fullmatch(cell) for cell in below[0][1] if cell
    )
    return at + 1 if are_for_programs else at


def _repeats_names(pair: list[tuple[int, list[str]]]) -> bool:
    """Return whether the second of two lines has most names of the first in place, more names, and none twice."""
    if len(pair) < len(("header", "names")):
        return False
    (_, upper), (_, lower) = pair
    names = [cell for cell in lower if cell]
    again = sum(bool(cell) and cell == below for cell, below in zip(upper, lower, strict=False))
    named = sum(map(bool, upper))
    return 2 * again > named and len(names) > named and len(set(names)) == len(names)


def _names_too(below: list[tuple[int, list[str]]]) -> list[str]:
    """Return the texts of the row below a header where all further rows have numbers or days; none where it has one."""
    if len(below) < _ROWS_BELOW_MIN:
        return []
    first, lowest = below[0][1], _lowest_texts(below)
    if any(first[place] for place, at in lowest.items() if at < 0 and place < len(first)):
        return []
    texts = [first[place] for place, at in lowest.items() if at == 0]
    # That a cell is required is no name, and neither is a tag of HXL.
    return texts if len(set(texts)) == len(texts) and not any(text.startswith("#") for text in texts) else []


def _explaining(below: list[tuple[int, list[str]]]) -> int:
    """Return how many rows below a header explain the columns, as the templates of marketplaces have them.

    The last of them has texts in columns that have nothing but numbers and days further down, and no number in any.
    """
    lowest = _lowest_texts(below)
    for at in reversed(range(min(_EXPLAINING_MAX, len(below) - _EXPLAINED_MIN))):
        cells = below[at][1]
        texts = [cells[place] for place, last in lowest.items() if last == at]
        has_value = any(cells[place] for place, last in lowest.items() if last < at and place < len(cells))
        if (
            not has_value
            and len(texts) >= _EXPLAINED_MIN
            and NOTHING.isdisjoint(texts)
            and not any(map(is_price_on_request, texts))
        ):
            return at + 1
    return 0


def _lowest_texts(below: list[tuple[int, list[str]]]) -> dict[int, int]:
    """Return which row is the last with a text in a column that ends with numbers and days; -1 where none has one."""
    lowest: dict[int, int] = {}
    for place in range(max((len(cells) for _, cells in below), default=0)):
        filled = ((at, cells[place]) for at, (_, cells) in reversed([*enumerate(below)]) if place < len(cells))
        for at, text in filled:
            if text and _VALUE.fullmatch(text):
                lowest[place] = -1
            elif text:
                lowest |= {place: at} if place in lowest else {}
                break
    return lowest


def _header_at(rows: list[tuple[int, list[str]]], *, whole_rows: bool) -> int:
    """Return the place of the row that names the columns: the first as wide as most rows.

    Not one of comments, as the templates for catalogues of Meta have: each cell says what its column is for.
    """
    widths = Counter(len(cells) if whole_rows else sum(map(bool, cells)) for _, cells in rows[:SAMPLE_ROWS])
    usual = max(widths, key=lambda width: (width > 1, widths[width], width))
    for place, (_, cells) in enumerate(rows[:HEADER_ROWS_MAX]):
        filled = [cell for cell in cells if cell.strip()]
        wide = len(cells) == usual if whole_rows else len(filled) >= 0.6 * usual
        comments = all(cell.startswith("#") for cell in filled)
        if wide and not comments and len(filled) >= min(usual, 2) and len(filled) >= usual / 2:
            return place
    # A sheet that was saved as CSV has as many cells in each row, of which most may be empty.
    return _header_at(rows, whole_rows=False) if whole_rows else 0
