"""How far the cells of a sheet reach: what would fill the memory is refused before calamine reads it."""

import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from shared.errors import LoadRefused
from workers.ingest.files.compound_file import stated_sizes
from workers.ingest.files.read_xml import SAFE, forget

# Calamine reads a sheet into a rectangle from its first cell to its last, of 32 bytes for each place, and ends the
# process where there is no memory for it: two cells in opposite corners are 2 kB of a file and 550 GB of memory.
# It counts the places of OpenDocument itself, and allows as many.
PLACES_MAX = 100_000_000
_REFERENCE_BYTES = len('r="XFD1048576"')
BLOCK_BYTES = 1 << 20
OVERLAP_BYTES = 1 << 10
PARSED = SAFE | {"encoding": None}
# A cell that does not state its place, or not in the way of `last_place`, stands behind the one before. One that the
# end of a piece cuts is whole in the next piece, unless it is too long: else every large sheet would be read twice.
UNPLACED = [
    re.compile(rb"%bc(?! r=\")(?=[\s/>])(?![^<>]*\sr=[\"'])(?:[^<>]*>|[^<>]{%d})" % (mark, OVERLAP_BYTES - len(b"<c")))
    for mark in (b"<", b":")
]
_NUMBER_DIGITS_MAX = 9
# The record of XLS that states how large a sheet is, from its first row and column to those behind the last
# ([MS-XLS] 2.4.90): calamine makes room for as many places.
_DIMENSIONS = re.compile(rb"\x00\x02\x0e\x00(.{12})", re.DOTALL)
_DIMENSIONS_BYTES = 16
_XLS_ROWS_MAX, _XLS_COLUMNS_MAX = 1 << 16, 1 << 8


def check_stated_size(path: Path) -> None:
    """Raise LoadRefused where an XLS file states a size that no sheet of its form has."""
    piece = b""
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            piece = piece[1 - _DIMENSIONS_BYTES :] + block
            # Within other records the same bytes may be a number or a text: the records decide before it is refused.
            if not all(map(_is_possible, _DIMENSIONS.findall(piece))) and not all(
                map(_is_possible, stated_sizes(path))
            ):
                raise LoadRefused(
                    "states a size that no sheet has: open the file in a spreadsheet program and save it again"
                )


def _is_possible(dimensions: bytes) -> bool:
    """Return whether a stated size, from the first row and column to those behind the last, is one of a sheet."""
    row, rows, column, columns = map(int, struct.unpack("<IIHH", dimensions[:12]))
    return row <= rows <= _XLS_ROWS_MAX and column <= columns <= _XLS_COLUMNS_MAX


def last_counted(packed: zipfile.ZipFile, name: str) -> tuple[int, int]:
    """Return the greatest row and column of a sheet, counting on where a row or a cell does not state its place."""
    row = column = rows = columns = 0
    with packed.open(name) as part:
        for event, element in etree.iterparse(part, events=("start", "end"), tag=("{*}row", "{*}c"), **PARSED):
            stated = element.get("r", "")
            if event == "end":
                forget(element)
            elif element.tag.endswith("}row"):
                row, column = stated_number(stated, row + 1), 0
            else:
                letters = stated.rstrip("0123456789")
                column = column_of(letters.upper()) + 1 if letters else column + 1
                # Calamine puts a cell into the row of its own reference, whatever the row around it states.
                rows, columns = max(rows, row, stated_number(stated[len(letters) :], row)), max(columns, column)
    return rows, columns


def stated_number(text: str | None, default: int) -> int:
    """Return a positive number of a sheet's XML; the default where none is stated. Raises LoadRefused."""
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= _NUMBER_DIGITS_MAX and int(text)):
        raise LoadRefused(f"states the number {text[:20]!r} of a row or a column, which no sheet has")
    return int(text)


def elements(packed: zipfile.ZipFile, part: str, tag: str) -> Iterator[Any]:
    """Yield the elements of a part; each is forgotten when the next one is asked for."""
    with packed.open(part) as file:
        for _, element in etree.iterparse(file, tag=tag, **PARSED):
            yield element
            forget(element)


def column_of(letters: str) -> int:
    """Return the place of a column, from 0: of AB 27."""
    place = 0
    for letter in letters:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1


def last_place(xml: bytes) -> tuple[int, int]:
    """Return the greatest row and the greatest column of the references in a piece of a sheet, such as `r="AB12"`."""
    data = np.frombuffer(xml, "u1")
    # The byte before the name is white space: `xmlns:r="` and `pageOrder="` of other elements are no references.
    before, name, equals = data[:-_REFERENCE_BYTES], data[1 : 1 - _REFERENCE_BYTES], data[2 : 2 - _REFERENCE_BYTES]
    begins = 1 + np.flatnonzero((before <= ord(" ")) & (name == ord("r")) & (equals == ord("=")))
    row, column = np.zeros((2, len(begins)), "i8")
    # The quotation mark before a reference is either of two; what is behind the closing one is no part of it.
    open_still = np.ones(len(begins), bool)
    for place in range(3, _REFERENCE_BYTES):
        character = data[begins + place]
        letter, digit = (character | 32) - ord("a"), character - ord("0")
        is_letter, is_digit = open_still & (letter < 26), open_still & (digit < 10)
        open_still = is_letter | is_digit
        if not open_still.any():
            break
        column = np.where(is_letter, column * 26 + letter + 1, column)
        row = np.where(is_digit, row * 10 + digit, row)
    return int(row.max(initial=0)), int(column.max(initial=0))
