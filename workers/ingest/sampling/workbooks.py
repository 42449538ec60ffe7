"""The beginning of a workbook: one sheet, or several with the same columns as one table."""

import itertools
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from shared.errors import LoadRefused
from shared.printable import many
from workers.ingest.column_names import PART, WHOLE, name_score, role_names
from workers.ingest.files.forms import Opened
from workers.ingest.files.read_cells import SHEET_COLUMN
from workers.ingest.files.read_sheet import SeveralSheets, SheetRow, Workbook, is_pattern
from workers.ingest.number_formats import number_formats
from workers.ingest.sampling.sample import HEADER_ROWS_MAX, SAMPLE_ROWS, Sample
from workers.ingest.sampling.table_header import sample_of_cells

_SHEETS_ROWS_MAX = 4 * SAMPLE_ROWS
# What the sheet of products has among others.
_NEEDED = ("name", "price")
# Of so many sheets it is said which columns they lack.
_LACKING_SAID_MAX = 5


class _SheetStart(NamedTuple):
    """The first rows of a sheet, and the column of its first cells, from 0."""

    name: str
    left: int
    rows: list[SheetRow]


def sample_of_workbook(found: Opened, sheet: str) -> Sample:
    """Return the rows of a sheet; of several with the same columns as one table. Raises LoadRefused otherwise."""
    path, book = found.path, found.workbook
    if is_pattern(sheet):
        return _one_table(path, _parts(book, sheet), sheet)
    try:
        [only] = _parts(book, sheet)
    except SeveralSheets as error:
        parts = _parts(book, "*")
        try:
            return _one_table(path, parts, "*")
        except LoadRefused:
            return _only_with_prices(path, parts, error)
    return _sample_of_sheet(path, only, {"sheet": sheet} if sheet else {})


def _parts(book: Workbook, sheet: str) -> list[_SheetStart]:
    rows_max = SAMPLE_ROWS + HEADER_ROWS_MAX
    return [_SheetStart(name, left, [*itertools.islice(rows, rows_max)]) for name, left, rows in book.sheets(sheet)]


def _only_with_prices(path: Path, parts: list[_SheetStart], error: LoadRefused) -> Sample:
    """Return the rows of the one sheet whose columns have names and prices, among those with others, such as groups.

    Raises the error that several sheets are where that is not one alone.
    """
    read = []
    for part in parts:
        with suppress(LoadRefused):  # a sheet that is no table, such as a cover
            read.append(_sample_of_sheet(path, part, {"sheet": part.name}))
    priced = [one for one in read if all(_has(one, role) for role in _NEEDED)]
    # Another sheet with columns of the same names has more of the items, or more on them.
    if len(priced) != 1 or any(len({*priced[0].columns} & {*one.columns}) > 1 for one in read if one is not priced[0]):
        raise error from None
    [only] = priced
    question = f'sheet: only "{only.form["sheet"]}" has names and prices, and is read: is it the one that you mean?'
    return replace(only, doubts=(question, *only.doubts))


def _has(sampled: Sample, role: str) -> bool:
    """Return whether a sheet has cells in a column that is called so."""
    aliases = role_names()[role]
    return any(name_score(column, aliases) >= PART - 50 and sampled.values(column) for column in sampled.columns)


def _sample_of_sheet(path: Path, sheet: _SheetStart, form: dict[str, Any]) -> Sample:
    rows = sheet.rows
    made = sample_of_cells([(row.number, row.cells) for row in rows], form)
    header = next(row.cells for row in rows if row.number == made.header)
    found = number_formats(path, sheet.name, SAMPLE_ROWS)
    formats = {
        column: found[place + sheet.left]
        for place, title in enumerate(header)
        if (column := title.strip()) in made.columns and place + sheet.left in found
    }
    return replace(made, formats=formats, doubts=(*made.doubts, *_valueless(rows)))


def _one_table(path: Path, parts: list[_SheetStart], pattern: str) -> Sample:
    """Return sheets with the same columns as one table, with the name of its sheet as a column of each row.

    A sheet may lack some that are no id, name or price. Raises LoadRefused where sheets have few of these columns, or
    other lines above them.
    """
    made = {}
    for part in parts:
        name = part.name
        with suppress(LoadRefused):  # a sheet that is no table, such as a cover
            read = _sample_of_sheet(path, part, {"sheet": pattern})
            made[name] = replace(
                read,
                columns=(*read.columns, SHEET_COLUMN),
                rows=[row | {SHEET_COLUMN: name} for row in read.rows],
            )
    usual = Counter(frozenset(one.columns) for one in made.values()).most_common(1)
    columns = usual[0][0] if usual else frozenset()
    alike = {name: one for name, one in made.items() if _is_of_table(one, columns)}
    begun = {one.header for one in alike.values()}
    mixed = next(
        (name for name, one in made.items() if name not in alike and len(columns & set(one.columns)) > 1), None
    )
    if len(alike) < 2 or len(begun) > 1 or mixed is not None:
        raise LoadRefused(
            f"{path.name}: the sheets {', '.join(map(repr, made))[:300]} have other columns, or these in other lines: "
            "name one of them by `sheet` (or --sheet of `itemindex ingest guess`)"
        )
    listed = ", ".join(f'"{name[:30]}"' for name in [*alike][:3]) + (" and others" if len(alike) > 3 else "")
    tables = [*alike.values()]
    every = tuple(dict.fromkeys(column for one in tables for column in one.columns if column != SHEET_COLUMN))
    lacking = {name: [column for column in every if column not in one.columns] for name, one in alike.items()}
    same = "most columns in common" if any(lacking.values()) else "the same columns"
    doubts = [f"sheet: {len(alike)} sheets ({listed}) have {same} and are read as one table: are they one?"]
    if others := [part.name for part in parts if part.name not in alike]:
        left_out = ", ".join(f'"{name[:30]}"' for name in others[:3])
        doubts.append(f"sheet: {many(len(others), 'sheet')} with other columns ({left_out}) not read")
    doubts += [_said_to_lack(name, absent) for name, absent in [*lacking.items()] if absent][:_LACKING_SAID_MAX]
    return replace(
        tables[0],
        columns=(*every, SHEET_COLUMN),
        rows=[row for one in tables for row in one.rows][:_SHEETS_ROWS_MAX],
        lines=[line for one in tables for line in one.lines][:_SHEETS_ROWS_MAX],
        lacking=frozenset(column for absent in lacking.values() for column in absent),
        formats={column: form for one in reversed(tables) for column, form in one.formats.items()},
        doubts=(*doubts, *dict.fromkeys(doubt for one in tables for doubt in one.doubts)),
    )


def _is_of_table(sheet: Sample, columns: frozenset[str]) -> bool:
    """Return whether a sheet has the columns of a table, or most of them, its ids, names and prices among these."""
    own = frozenset(sheet.columns)
    needed = {
        column
        for column in columns
        if any(name_score(column, role_names()[role]) >= WHOLE - 50 for role in ("id", *_NEEDED))
    }
    return columns == own or (bool(needed) and needed <= own and 2 * len(columns & own) > len(columns | own))


def _said_to_lack(sheet: str, columns: list[str]) -> str:
    named = ", ".join(f'"{column[:40]}"' for column in columns[:3]) + (" and others" if len(columns) > 3 else "")
    return (
        f'sheet: "{sheet[:30]}" has no column {named}: rows of that sheet have nothing there. Is it called otherwise?'
    )


def _valueless(rows: list[SheetRow]) -> Iterator[str]:
    """Say which cells of a sheet have no value although they are not empty, for each reason."""
    faults = [fault for row in rows for fault in row.faults.values()]
    for reason in dict.fromkeys(fault.reason for fault in faults):
        values = [fault.value for fault in faults if fault.reason == reason]
        shown = (
            f"{many(len(values), 'cell')} {'has' if len(values) == 1 else 'have'} no value, such as {values[0][:40]}"
        )
        yield f"columns: {shown}, which {reason}. Rows with such a cell in a column of the mapping are rejected"
