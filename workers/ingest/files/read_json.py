"""JSON documents as rows: the objects of a list, wherever the document has it. Flat memory."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import ijson

from shared.errors import LoadRefused
from shared.printable import many
from workers.ingest.files.json_outline import DEPTH_MAX, DIGITS_MAX, JsonOutline
from workers.ingest.files.object_batches import Row
from workers.ingest.files.record_paths import product_path
from workers.ingest.files.text_stream import BoundedStream, ByteStream

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
    found = product_path(times, [(), *lists], are_named=False)
    chosen = found if found is not None else next(iter(lists), ())
    return ".".join(chosen[:-1])


class _Document(BoundedStream):
    """A document that is nested too deep ends the reading: to each level its parser keeps the whole path.

    So does a number of too many digits.
    """

    def __init__(self, name: str, stream: ByteStream) -> None:
        super().__init__(name, stream, _ROW_BYTES_MAX, "a whole object: is `records` another list?")
        self._outline = JsonOutline()

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
