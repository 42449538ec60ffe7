"""JSON as batches of text columns: objects of a document or one a line, members by path, numbers with every digit."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import ijson
import numpy as np
import pyarrow as pa

from shared.errors import LoadRefused
from shared.printable import many
from workers.ingest.batches import Batch, Reject, as_json, reject, there_is, unread
from workers.ingest.mapping import Mapping
from workers.ingest.record_paths import product_path
from workers.ingest.text_stream import BoundedStream, ByteStream

Row = dict[str, Any]

LINE_BYTES_MAX = 1 << 20
DEPTH_MAX = 32
_CHUNK_BYTES = 1 << 20
_BATCH_ROWS_MAX = 4_000
_ABSENT = object()
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_TEXT = re.compile(rb'"[^"]*"')
_NO_MARKS = bytes(set(range(256)) - set(b'"[]{}'))
# The parser of documents makes Python's integers, and ends the process where one has more digits than Python converts
# (4,300, or as few as 640 where PYTHONINTMAXSTRDIGITS says so).
DIGITS_MAX = 500
_DIGITS = b"0123456789"
_DIGITS_AS_ZERO = bytes(0x30 if byte in _DIGITS else 0x20 for byte in range(256))
_TOO_MANY_DIGITS = b"0" * (DIGITS_MAX + 1)
_STEPS = np.zeros(256, "i8")
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


def read_ndjson(name: str, stream: ByteStream, mapping: Mapping, batch_rows: int) -> Iterator[Batch]:
    """Read NDJSON in batches. Raises LoadRefused where no row of the file has a member that the mapping names."""
    rejects: list[Reject] = []
    return read_objects(name, line_objects(name, stream, rejects), mapping, batch_rows, rejects)


def read_objects(
    name: str,
    objects: Iterable[tuple[int, Row]],
    mapping: Mapping,
    batch_rows: int,
    rejects: list[Reject] | None = None,
) -> Iterator[Batch]:
    """Make batches of objects with their numbers, and of the rejects that come with them. Raises as `read_ndjson`."""
    rows = _Rows(name, mapping, [] if rejects is None else rejects)
    for number, row in objects:
        rows.add(number, row)
        if rows.count >= min(batch_rows, _BATCH_ROWS_MAX):
            yield rows.batch()
    yield rows.batch()
    rows.check_members()


def line_objects(name: str, stream: ByteStream, rejects: list[Reject]) -> Iterator[tuple[int, Row]]:
    """Yield the object of each line with the line's number; a line that is none becomes a reject."""
    for number, raw in _lines(stream):
        if not raw.strip():
            continue
        try:
            row = _parsed(raw)
        except (ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, _Unusable) else "is not a JSON object"
            rejects.append(unread(name, number, reason, raw))
        else:
            yield number, row


def _lines(stream: ByteStream) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers, which end at a line feed, a carriage return, or both.

    Of one that is too long only the beginning is kept, one byte over the bound.
    """
    rest, number, returned = b"", 0, False
    while chunk := stream.read(_CHUNK_BYTES):
        begun = chunk.removeprefix(b"\n") if returned else chunk
        returned = chunk.endswith(b"\r")
        *whole, last = begun.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for text in whole:
            number += 1
            yield number, rest + text
            rest = b""
        rest = (rest + last)[: LINE_BYTES_MAX + 1]
    if rest:
        yield number + 1, rest


class _Rows:
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
            self._add_one(number, one)

    def _add_one(self, number: int, row: Row) -> None:
        self._any = True
        texts: list[str | None] = []
        for column, path in self._paths.items():
            value = row[column] if column in row else _at(row, path)
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


class _Unusable(ValueError):
    """A line that is JSON and cannot be used."""


def _parsed(raw: bytes) -> Row:
    """Parse a line; numbers stay text."""
    if len(raw) > LINE_BYTES_MAX:
        raise _Unusable(f"is longer than {LINE_BYTES_MAX:,} bytes")
    if _is_deep(raw):
        raise _Unusable(f"is nested deeper than {DEPTH_MAX} levels")
    row = json.loads(raw, parse_float=str, parse_int=str, parse_constant=Constant, object_pairs_hook=_members_once)
    if not isinstance(row, dict):
        raise _Unusable("is not a JSON object")
    if b"\\u" in raw:
        try:
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise _Unusable("holds half of a surrogate pair") from None
    return row


def _is_deep(raw: bytes) -> bool:
    """Return whether a line is nested deeper than is read."""
    return raw.count(b"[") + raw.count(b"{") > DEPTH_MAX and _Outline().read(raw)[0] > DEPTH_MAX


class _Outline:
    """What a parser must not meet outside of the texts of JSON that comes in pieces: depth, and numbers without end."""

    def __init__(self) -> None:
        self._begun = b""
        self._depth = 0

    def read(self, piece: bytes) -> tuple[int, bool]:
        """Return the deepest level of the next piece, and whether a number in it has too many digits."""
        seen = _ESCAPED.sub(b"", self._begun + piece)
        marks = seen.translate(None, _NO_MARKS).replace(b'""', b"")  # most texts have no bracket between their marks
        outside, text, _ = _TEXT.sub(b"", marks).partition(b'"')
        is_long = _TOO_MANY_DIGITS in seen.translate(_DIGITS_AS_ZERO) and _has_long_number(seen)
        # Of a text that is open only its mark is kept, of a number all digits so far.
        number = b"" if text else seen[len(seen.rstrip(_DIGITS)) :]
        self._begun = text + (b"\\" if seen.endswith(b"\\") else number)
        depths = self._depth + np.cumsum(_STEPS[np.frombuffer(outside, "u1")])
        deepest = int(depths.max(initial=self._depth))
        self._depth = int(depths[-1]) if len(depths) else self._depth
        return deepest, is_long


def _has_long_number(seen: bytes) -> bool:
    """Return whether a piece of JSON without escapes has a number of too many digits outside of its texts."""
    outside, _, _ = _TEXT.sub(b" ", seen).partition(b'"')
    return _TOO_MANY_DIGITS in outside.translate(_DIGITS_AS_ZERO)


class Constant(str):
    """NaN or an infinity, which RFC 8259 does not have: its field has no value, and the rest of the row is used."""


def _members_once(pairs: list[tuple[str, Any]]) -> Row:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _Unusable("names a member twice")
    return made


def _at(row: Any, path: list[str]) -> Any:
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
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool) else str(value)


def member_paths(row: Row, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the paths of a row's members with their values; of a list of objects also those of the first."""
    for name, value in row.items():
        yield prefix + name, value
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield from member_paths(value[0], f"{prefix}{name}.0.")
        if isinstance(value, dict):
            yield from member_paths(value, f"{prefix}{name}.")


# JSON documents as rows: the objects of a list, wherever the document has it. Flat memory.


_ROW_BYTES_MAX = 16 << 20
_LOOKED_AT = 50_000
# What the parser raises: the second for an exponent that no number has, such as 1e9999999999999999999.
_UNREADABLE = (ijson.JSONError, ArithmeticError)


def json_rows(name: str, stream: ByteStream, path: str, *, in_list: bool) -> Iterator[tuple[int, Row]]:
    """Yield the number and the members of each object of the list at a path, such as `data.products`.

    Without a path the document is the list (`in_list`), or consists of objects. Of a list of lists the first has the
    names of the members. Raises LoadRefused where it is no JSON, is nested too deep, or an object has too many bytes.
    """
    source = _Document(name, stream)
    prefix = f"{path}.item" if path else "item" if in_list else ""
    number, header = 0, None
    try:
        for row in ijson.items(source, prefix, multiple_values=True):
            number += 1
            source.read_since_row = 0
            if number == 1 and isinstance(row, list) and prefix:
                header = _header(name, row)
            elif isinstance(row, dict) and header is None:
                yield number, row
            elif isinstance(row, list) and header and len(row) <= len(header):
                yield number, dict(zip(header, row, strict=False))
            else:
                raise LoadRefused(f"{name}: entry {number} of the list is {_what(row, header)}")
    except _UNREADABLE as error:
        raise LoadRefused(f"{name}: is no JSON that can be read, after {number:,} objects: {_reason(error)}") from None
    if not number:
        where = f"a list of objects at {path!r}" if path else "an object"
        raise LoadRefused(f"{name}: does not have {where}; `records` of the mapping names the list")


def _reason(error: Exception) -> str:
    return "a number is too large or too small" if isinstance(error, ArithmeticError) else str(error)[:200]


def _header(name: str, row: list[Any]) -> list[str]:
    """Return the names of the members of lists. Raises LoadRefused where these are no names."""
    if not all(isinstance(title, str) for title in row) or len(set(row)) < len(row):
        raise LoadRefused(
            f"{name}: is a list of lists whose first one does not name the columns, each once: put one with their "
            "names above the others, or write each row as an object"
        )
    return row


def _what(row: Any, header: list[str] | None) -> str:
    if header is None:
        return "no object: write each row as one"
    if isinstance(row, list):
        return f"a list of {len(row)} values, and the first one names {many(len(header), 'column')}"
    return "no list, and the first one is"


def list_path(name: str, stream: ByteStream) -> str:
    """Return the path of the list of products, or an empty text where the document itself is one, or has no list.

    Of other documents it is the first list of objects that is not within another list.
    """
    times: Counter[tuple[str, ...]] = Counter()
    lists: dict[tuple[str, ...], None] = {}
    before = ""
    try:
        for number, (prefix, event, _) in enumerate(ijson.parse(_Document(name, stream), multiple_values=True)):
            path = tuple(prefix.split(".")) if prefix else ()
            if event == "start_map" and before == "start_array" and "item" not in path[:-1]:
                lists[path] = None
            if event not in ("end_map", "end_array", "map_key"):
                times[path] += 1
            before = event
            if number > _LOOKED_AT:
                break
    except _UNREADABLE as error:
        raise LoadRefused(f"{name}: is no JSON that can be read: {_reason(error)}") from None
    found = product_path(times, [(), *lists])
    chosen = found if found is not None else next(iter(lists), ())
    return ".".join(chosen[:-1])


class _Document(BoundedStream):
    """A document that is nested too deep ends the reading: to each level its parser keeps the whole path.

    So does a number of too many digits.
    """

    def __init__(self, name: str, stream: ByteStream) -> None:
        super().__init__(name, stream, _ROW_BYTES_MAX, "a whole object: is `records` another list?")
        self._outline = _Outline()

    def read(self, size: int) -> bytes:
        chunk = super().read(size)
        deepest, has_long_number = self._outline.read(chunk)
        if deepest > DEPTH_MAX:
            raise LoadRefused(f"{self._name}: is nested deeper than {DEPTH_MAX} levels")
        if has_long_number:
            raise LoadRefused(
                f"{self._name}: has a number of more than {DIGITS_MAX} digits: correct it, or write it as a text"
            )
        return chunk
