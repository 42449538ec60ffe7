"""A table as CSV whose rows are matched with items: batch after batch, each written as soon as it is answered."""

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

from itemindex_client.calls import Progress, silent
from itemindex_client.client import Client
from itemindex_client.errors import ItemIndexError

Row: TypeAlias = list[str]
ADDED = ("iid", "matched_name", "score", "match")
"""The columns that a matched table has behind its own: of the best candidate, empty where a row has none."""
_PROPERTIES = ("gtin", "mpn", "brand", "size")
_ROWS_MAX, _BYTES_MAX, _TEXT_MAX = 500, 200_000, 1_000
_DELIMITERS = (",", ";", "\t")
_CELL_CHARACTERS_MAX = 1_000_000
FORMULA_STARTS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
"""What a spreadsheet runs a cell as a formula for, also in the full width of Chinese and Japanese keyboards."""
_FORMULA_STARTS = tuple(FORMULA_STARTS)


class UnusableTable(ItemIndexError):
    """A file cannot be read as the table that was meant; the text says where and why."""


@dataclass(frozen=True)
class Table:
    """A CSV file: its header, its rows, and how its cells are separated."""

    header: Row
    rows: list[Row]
    delimiter: str

    def write(self, rows: Sequence[Row]) -> str:
        """Return rows as text of such a file."""
        text = StringIO()
        csv.writer(text, delimiter=self.delimiter, lineterminator="\n").writerows(rows)
        return text.getvalue()


def match_table(
    client: Client, source: Path, target: Path, columns: Mapping[str, str], progress: Progress = silent
) -> tuple[int, int]:
    """Match the rows of a file and write them with `ADDED` to another; return the numbers of rows and of matches.

    `columns` names the column of the name and of each property. Rows that the target has already are not matched
    again. Raises UnusableTable before anything is sent.
    """
    table = read_table(source)
    places = {name: _place(table, column, source) for name, column in columns.items()}
    doubled = [name for name in table.header if name in ADDED]
    if doubled:
        raise UnusableTable(f"{source} has a column `{doubled[0]}`, which the result adds; rename it")
    done = _rows_done(table, target)
    matches = sum(row[-1] == "true" for row in done)
    total = len(table.rows)
    beside = target.with_name(f"{target.name}.new")
    beside.write_text(table.write([[*table.header, *ADDED], *done]), encoding="utf-8")
    beside.replace(target)
    at = len(done)
    with target.open("a", encoding="utf-8", newline="") as file:
        for batch in _batches(table.rows[at:], places, _batch_max(client) if at < total else 0):
            progress(at / total, f"{at:,} of {total:,} rows, {matches:,} matched")
            written = [[*row, *cells] for row, cells in zip(batch.rows, _ask(client, batch), strict=True)]
            file.write(table.write(written))
            file.flush()
            os.fsync(file.fileno())
            at, matches = at + len(written), matches + sum(row[-1] == "true" for row in written)
    progress(1.0, f"{at:,} rows, {matches:,} matched")
    return at, matches


def read_table(path: Path) -> Table:
    """Read a CSV file in UTF-8 whose cells are separated by commas, semicolons or tabs. Raises UnusableTable."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableTable(f"{path} is not in UTF-8: byte {error.start:,}; export it again as UTF-8") from None
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    rows = list(_read(text, delimiter, path))
    if not rows:
        raise UnusableTable(f"{path} is empty")
    (_, header), *listed = rows
    repeated = next((name for name in header if header.count(name) > 1), None)
    if repeated is not None:
        raise UnusableTable(f"{path} has two columns `{repeated}`; rename one")
    for line, row in listed:
        if len(row) > len(header):
            raise UnusableTable(f"{path}, line {line:,}: {len(row)} cells, but the header has {len(header)}")
    return Table(header, [row + [""] * (len(header) - len(row)) for _, row in listed], delimiter)


def _read(text: str, delimiter: str, path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the rows that are not empty, each with the line at which it ends."""
    limit = csv.field_size_limit(_CELL_CHARACTERS_MAX)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise UnusableTable(f"{path}, line {reader.line_num:,}: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _place(table: Table, column: str, path: Path) -> int:
    if column not in table.header:
        raise UnusableTable(f"{path} has no column `{column}`; there are {', '.join(table.header)}")
    return table.header.index(column)


def _rows_done(table: Table, target: Path) -> list[Row]:
    """Return the rows that a former run has written; what it was writing when it ended is done again."""
    if not target.exists() or not target.stat().st_size:
        return []
    text = target.read_bytes().decode("utf-8-sig", errors="replace")
    written = [row for _, row in _read(text, table.delimiter, target)]
    width = len(table.header)
    if written[0] != [*table.header, *ADDED]:
        raise UnusableTable(f"{target} exists and is not a result of this table; name another file")
    done: list[Row] = []
    for number, (row, given) in enumerate(zip_longest(written[1:], table.rows), start=2):
        if row is None:
            break
        whole = given is not None and row[:width] == given and len(row) == width + len(ADDED)
        if not whole or row[-1] not in ("true", "false"):
            if number < len(written):
                raise UnusableTable(f"{target}, row {number:,} is not that of the table; name another file")
            break
        done.append(row)
    return done


@dataclass(frozen=True)
class _Batch:
    """Rows, and the queries of those that say anything, by the numbers of their rows."""

    rows: list[Row]
    queries: dict[str, dict[str, Any]]


def _batches(rows: Sequence[Row], places: Mapping[str, int], most: int) -> Iterator[_Batch]:
    batch, size = _Batch([], {}), 0
    for row in rows:
        query = _query(row, places)
        length = len(json.dumps(query))
        if batch.rows and (len(batch.rows) >= most or size + length > _BYTES_MAX):
            yield batch
            batch, size = _Batch([], {}), 0
        if query is not None:
            batch.queries[str(len(batch.rows))] = query
        batch.rows.append(row)
        size += length
    if batch.rows:
        yield batch


def _query(row: Row, places: Mapping[str, int]) -> dict[str, Any] | None:
    said = {name: row[place].strip()[:_TEXT_MAX] for name, place in places.items()}
    properties = [{"pid": name, "v": said[name]} for name in _PROPERTIES if said.get(name)]
    name = {"query": said["name"]} if said.get("name") else {}
    return {**name, "properties": properties, "limit": 1} if name or properties else None


def _batch_max(client: Client) -> int:
    """Return how many rows a batch may have by the plan. Raises UnusableTable where it has no batches."""
    root: Mapping[str, Any] = client._run(client._calls.get("/", key_needed=True))
    if not root["batch_iids_max"]:
        raise UnusableTable(f"the plan {root['plan']} has no batches, by which tables are matched")
    return min(int(root["batch_iids_max"]), _ROWS_MAX)


def _ask(client: Client, batch: _Batch) -> list[Row]:
    """Return the added cells of each row of a batch."""
    answer: Mapping[str, Any] = {}
    if batch.queries:
        answer = client._run(client._calls.post("/reconcile", {"queries": batch.queries}))
    return [_cells(answer.get(str(number), {"result": []})["result"]) for number in range(len(batch.rows))]


def _cells(candidates: Sequence[Mapping[str, Any]]) -> Row:
    if not candidates:
        return ["", "", "", "false"]
    best = candidates[0]
    name = f"'{best['name']}" if best["name"].startswith(_FORMULA_STARTS) else best["name"]
    return [best["id"], name, f"{best['score']:g}", "true" if best["match"] else "false"]
