"""The `Range` field: which bytes of a body are requested."""

import re
from typing import NamedTuple

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII | re.IGNORECASE)


class Slice(NamedTuple):
    """Bytes `start` up to, not including, `stop`."""

    start: int
    stop: int


class Unsatisfiable(Exception):
    """The range is outside the file: 416."""


def slice_of(field: str | None, if_range: str | None, etag: str, length: int) -> Slice | None:
    """Return the part that is asked for, or None where the whole must be sent.

    The whole is right for another unit, several ranges, nonsense, and an `If-Range` that does not name exactly this
    ETag: a client must never join halves of two different files. A date in `If-Range`
    names nothing here.
    """
    match = _RANGE.fullmatch(field.strip()) if field else None
    if match is None or (if_range is not None and if_range.strip() != etag):
        return None
    first, last = match[1], match[2]
    if not first and not last:
        return None
    if not first:
        if int(last) == 0 or length == 0:
            raise Unsatisfiable
        return Slice(max(0, length - int(last)), length)
    start = int(first)
    if last and int(last) < start:
        return None
    if start >= length:
        raise Unsatisfiable
    return Slice(start, min(int(last) + 1, length) if last else length)
