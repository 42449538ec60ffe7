"""JSON documents as rows: the objects of a list, wherever the document has it. Flat memory."""

from collections.abc import Iterator
from typing import Any

import ijson

from shared.errors import LoadRefused
from workers.ingest.read_ndjson import DEPTH_MAX
from workers.ingest.text_stream import BoundedStream, ByteStream

_ROW_BYTES_MAX = 16 << 20
_LOOKED_AT = 50_000

Row = dict[str, Any]


def json_rows(name: str, stream: ByteStream, path: str, *, in_list: bool) -> Iterator[tuple[int, Row]]:
    """Yield the number and the members of each object of the list at a path, such as `data.products`.

    Without a path the document is the list (`in_list`), or consists of objects. Raises LoadRefused where it is no JSON,
    or one object takes too many bytes.
    """
    source = _bounded(name, stream)
    prefix = f"{path}.item" if path else "item" if in_list else ""
    number = 0
    try:
        for row in ijson.items(source, prefix, multiple_values=True):
            number += 1
            source.read_since_row = 0
            if not isinstance(row, dict):
                raise LoadRefused(f"{name}: entry {number} of the list is no object")
            yield number, row
    except ijson.JSONError as error:
        raise LoadRefused(
            f"{name}: is no JSON that can be read, after {number:,} objects: {str(error)[:200]}"
        ) from None
    if not number:
        where = f"a list of objects at {path!r}" if path else "an object"
        raise LoadRefused(f"{name}: does not have {where}; `records` of the mapping names the list")


def list_path(name: str, stream: ByteStream) -> str:
    """Return the path of the first list of objects that is not within another list; an empty text where none is."""
    before = ""
    depth = 0
    try:
        for number, (prefix, event, _) in enumerate(ijson.parse(_bounded(name, stream), multiple_values=True)):
            depth += {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}.get(event, 0)
            if depth > DEPTH_MAX:
                raise LoadRefused(f"{name}: is nested deeper than {DEPTH_MAX} levels")
            if event == "start_map" and before == "start_array" and prefix.endswith("item"):
                return str(prefix).removesuffix("item").removesuffix(".")
            before = event
            if number > _LOOKED_AT:
                break
    except ijson.JSONError as error:
        raise LoadRefused(f"{name}: is no JSON that can be read: {str(error)[:200]}") from None
    return ""


def _bounded(name: str, stream: ByteStream) -> BoundedStream:
    return BoundedStream(name, stream, _ROW_BYTES_MAX, "a whole object: is `records` another list?")
