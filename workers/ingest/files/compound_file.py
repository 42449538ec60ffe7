"""The records of an XLS file that state how large its sheets are, as the library that reads sheets finds them.

An XLS file is a compound file ([MS-CFB]), whose sectors are chained by a table; its stream of a workbook consists of
records ([MS-XLS]), of which those called BoundSheet8 say where the records of each sheet begin.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

_DIMENSIONS, _BOUND_SHEET = 0x0200, 0x0085
_DIMENSIONS_BYTES = 12
_HEADER_BYTES = 512
_LISTED_IN_HEADER = 109
_ENTRY_BYTES = 128
_SECTOR_BYTES = {9: 512, 12: 4096}
_NAMES = ("Workbook", "Book")
_END = 0xFFFFFFFA
"""Numbers of sectors from here on are marks, such as that of the last one."""


def stated_sizes(path: Path) -> Iterator[bytes]:
    """Yield the data of each record of a size, also where records are read from the middle of another."""
    stream = _workbook(path.read_bytes())
    begins = [0]
    seen: set[int] = set()
    while begins:
        at = begins.pop()
        while at not in seen and at + 4 <= len(stream):
            seen.add(at)
            kind, size = struct.unpack_from("<HH", stream, at)
            data = stream[at + 4 : at + 4 + size]
            if kind == _DIMENSIONS and size >= _DIMENSIONS_BYTES and len(data) >= _DIMENSIONS_BYTES:
                yield data
            if kind == _BOUND_SHEET and len(data) >= 4:
                begins.append(struct.unpack_from("<I", data)[0])
            at += 4 + size


def _workbook(raw: bytes) -> bytes:
    """Return the stream of a workbook; the file itself where it has none, which is then read as records."""
    if len(raw) < _HEADER_BYTES:
        return raw
    size = _SECTOR_BYTES.get(struct.unpack_from("<H", raw, 30)[0], 512)
    tables, directory = struct.unpack_from("<II", raw, 44)
    first_mini = struct.unpack_from("<I", raw, 60)[0]
    further, count = struct.unpack_from("<II", raw, 68)
    listed = list(struct.unpack_from(f"<{_LISTED_IN_HEADER}I", raw, 76))

    def sector(number: int) -> bytes:
        return raw[(number + 1) * size : (number + 2) * size]

    def numbers(text: bytes) -> tuple[int, ...]:
        return struct.unpack(f"<{len(text) // 4}I", text[: len(text) // 4 * 4])

    for _ in range(min(count, len(raw) // size)):
        if further >= _END or not (more := numbers(sector(further))):
            break
        listed += more[:-1]
        further = more[-1]
    listed = list(dict.fromkeys(listed[:tables]))
    table = [following for number in listed if number < _END for following in numbers(sector(number))]

    def chain(first: int, table: list[int]) -> Iterator[int]:
        met = set()
        while first < len(table) and first not in met:  # a chain that comes back would have no end
            met.add(first)
            yield first
            first = table[first]

    def stream(first: int) -> bytes:
        return b"".join(map(sector, chain(first, table)))

    entries = stream(directory)
    root_first, root_mini = 0, b""
    for at in range(0, len(entries) - _ENTRY_BYTES + 1, _ENTRY_BYTES):
        entry = entries[at : at + _ENTRY_BYTES]
        name = entry[: max(0, min(64, struct.unpack_from("<H", entry, 64)[0]) - 2)].decode("utf-16-le", "replace")
        first, length = struct.unpack_from("<II", entry, 116)
        if at == 0:
            root_first, root_mini = first, stream(first)
        elif name in _NAMES and length < struct.unpack_from("<I", raw, 56)[0] and root_first < _END:
            small = [number for text in map(sector, chain(first_mini, table)) for number in numbers(text)]
            return b"".join(root_mini[64 * n : 64 * (n + 1)] for n in chain(first, small))[:length]
        elif name in _NAMES:
            return stream(first)[:length]
    return raw
