"""Objects as batches of text columns, members by path: the rows of JSON, NDJSON and XML."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from shared.errors import LoadRefused
from workers.ingest.batches import Batch, Reject, as_json, reject, there_is
from workers.ingest.mapping import Mapping

Row = dict[str, Any]
_BATCH_ROWS_MAX = 4_000
_ABSENT = object()


def read_objects(
    name: str,
    objects: Iterable[tuple[int, Row]],
    mapping: Mapping,
    batch_rows: int,
    rejects: list[Reject] | None = None,
) -> Iterator[Batch]:
    """Make batches of objects with their numbers, and of the rejects that come with them. Raises as `read_ndjson`."""
    rows = _ObjectRows(name, mapping, [] if rejects is None else rejects)
    for number, row in objects:
        rows.add(number, row)
        if rows.count >= min(batch_rows, _BATCH_ROWS_MAX):
            yield rows.batch()
    yield rows.batch()
    rows.check_members()


class _ObjectRows:
    """Gathers rows for a batch, and remembers which members the file has."""

    def __init__(self, name: str, mapping: Mapping, rejects: list[Reject]) -> None:
        self._name = name
        self._each = mapping.each
        self._paths = {column: column.split(".") for column in mapping.columns}
        self._sparse = mapping.sparse_columns
        self._met: set[str] = set()
        self._members: set[str] = set()
        self._any = False
        self._rejects = rejects
        self._texts: list[list[str | None]] = []
        self._lines: list[int] = []

    @property
    def count(self) -> int:
        """How many rows wait for a batch."""
        return len(self._lines)

    def add(self, number: int, row: Row) -> None:
        """Take an object: one row, or one of each member of the list that the mapping names."""
        for one in spread(row, self._each) if self._each else (row,):
            self._add_row(number, one)

    def _add_row(self, number: int, row: Row) -> None:
        self._any = True
        texts: list[str | None] = []
        for column, path in self._paths.items():
            value = row[column] if column in row else value_at(row, path)
            if type(value) is str:  # most are; a `Constant` is none
                self._met.add(column)
                texts.append(value)
                continue
            if value is not _ABSENT:
                self._met.add(column)
            if isinstance(value, dict | list):
                reason = "is an object or a list where one value is needed; name its member by a path"
                self._rejects.append(reject(self._name, number, reason, row, column, as_json(value)))
                return
            if isinstance(value, Constant):
                reason = f"is {value}, which is no number and which JSON does not have"
                self._rejects.append(reject(self._name, number, reason, row, column, str(value), "field"))
                value = None
            texts.append(_text(value))
        if len(self._met) < len(self._paths) and len(self._members) < 200:
            self._members |= {path for path, _ in member_paths(row)}
        self._texts.append(texts)
        self._lines.append(number)

    def batch(self) -> Batch:
        """Return what was gathered, and begin anew."""
        columns = zip(*self._texts, strict=True) if self._texts else [()] * len(self._paths)
        arrays = {name: pa.array(values, pa.string()) for name, values in zip(self._paths, columns, strict=True)}
        made = Batch(arrays, self._lines, list(self._rejects))
        self._rejects.clear()
        self._texts, self._lines = [], []
        return made

    def check_members(self) -> None:
        """Refuse a file without a member that the mapping names: its name is misspelt."""
        missing = [column for column in self._paths if column not in self._met and column not in self._sparse]
        if missing and self._any:
            known = there_is(missing[0], sorted(self._members))
            raise LoadRefused(f"{self._name}: no row has a member {missing[0]!r}; rows have {known}")


def spread(row: Row, each: str) -> Iterator[Row]:
    """Yield an object once for each member of a list in it, with the member in place of the list."""
    members = row.get(each)
    if not isinstance(members, list) or not members:
        yield row
        return
    for member in members:
        yield {**row, each: member}


class Constant(str):
    """NaN or an infinity, which RFC 8259 does not have: its field has no value, and the rest of the row is used."""


def value_at(row: Any, path: list[str]) -> Any:
    """Return the value at a path of members and places in lists, _ABSENT where there is none."""
    value = row
    for step in path:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isascii() and step.isdigit() and len(step) < 6 and int(step) < len(value):
            value = value[int(step)]
        else:
            return _ABSENT
    return value


def _text(value: Any) -> str | None:
    if value is None or value is _ABSENT:
        return None
    return json.dumps(value) if isinstance(value, bool) else str(value)


def member_paths(row: Row, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the paths of a row's members with their values; of a list of objects also those of the first."""
    for name, value in row.items():
        yield prefix + name, value
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield from member_paths(value[0], f"{prefix}{name}.0.")
        if isinstance(value, dict):
            yield from member_paths(value, f"{prefix}{name}.")
