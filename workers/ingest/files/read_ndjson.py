"""NDJSON: one object a line, with every digit of its numbers; a line that is none is a reject."""

import json
from collections.abc import Iterator
from typing import Any

from workers.ingest.batches import Batch, Reject, unread
from workers.ingest.files.json_outline import DEPTH_MAX, is_deep
from workers.ingest.files.object_batches import Constant, Row, read_objects
from workers.ingest.files.text_stream import ByteStream
from workers.ingest.mapping import Mapping

LINE_BYTES_MAX = 1 << 20
_CHUNK_BYTES = 1 << 20


def read_ndjson(name: str, stream: ByteStream, mapping: Mapping, batch_rows: int) -> Iterator[Batch]:
    """Read NDJSON in batches. Raises LoadRefused where no row of the file has a member that the mapping names."""
    rejects: list[Reject] = []
    return read_objects(name, line_objects(name, stream, rejects), mapping, batch_rows, rejects)


def line_objects(name: str, stream: ByteStream, rejects: list[Reject]) -> Iterator[tuple[int, Row]]:
    """Yield the object of each line with the line's number; a line that is none becomes a reject."""
    for number, raw in _lines(stream):
        if not raw.strip():
            continue
        try:
            row = _parse(raw)
        except (ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, UnusableLine) else "is not a JSON object"
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


class UnusableLine(ValueError):
    """A line that is JSON and cannot be used."""


def _parse(raw: bytes) -> Row:
    """Parse a line; numbers stay text."""
    if len(raw) > LINE_BYTES_MAX:
        raise UnusableLine(f"is longer than {LINE_BYTES_MAX:,} bytes")
    if is_deep(raw):
        raise UnusableLine(f"is nested deeper than {DEPTH_MAX} levels")
    row = json.loads(raw, parse_float=str, parse_int=str, parse_constant=Constant, object_pairs_hook=_members_once)
    if not isinstance(row, dict):
        raise UnusableLine("is not a JSON object")
    if b"\\u" in raw:
        try:
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise UnusableLine("holds half of a surrogate pair") from None
    return row


def _members_once(pairs: list[tuple[str, Any]]) -> Row:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise UnusableLine("names a member twice")
    return made
