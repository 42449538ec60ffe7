"""Where the records of a CSV begin and end, so that a stray quotation mark costs its own line and no other. Pure.

A quotation mark opens a cell at its very beginning only; elsewhere it is a plain character. It closes one before a
delimiter or the end of a line. A cell that is not closed so, or not within the bound of a record, was not meant to
be opened: its line is rejected, and reading continues with the next line.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from workers.analytics.rollups.arrays import Array

RECORD_BYTES_MAX = 1 << 20
# Python's reader has a bound of its own for a cell, of 131,072 characters, which would end the reading of a file.
csv.field_size_limit(RECORD_BYTES_MAX)
_LF, _CR = 10, 13
_LINE_END = re.compile(rb"\r\n|\n|\r")
_RUN = 1_000
_STRAY = "has a quotation mark that opens a cell and does not close it"
TOO_LONG = f"is longer than {RECORD_BYTES_MAX:,} bytes"
SWALLOWS = "has a quoted cell over several lines that look like rows (cells_span_lines = true takes them for text)"


@dataclass
class Block:
    """Whole records of a piece of a file, their physical lines, and the lines that are no records: line, reason, text.

    The rest of the piece, from `rest`, belongs to the next one; `ended` is how many lines end before it.
    """

    records: bytes
    lines: Array
    faults: list[tuple[int, str, bytes]] = field(default_factory=list)
    rest: int = 0
    ended: int = 0


class Records:
    """Finds records. `columns` is how many cells each should have; 0 while that is not known."""

    def __init__(self, delimiter: str, quote: str, escape: str = "", *, cells_span_lines: bool = False) -> None:
        self._delimiter = delimiter
        self._quote = quote
        self._escape = escape
        self._trusted = cells_span_lines
        self.columns = 0
        mark, around, before = (re.escape(text).encode() for text in (delimiter, quote, escape))
        cells, begun = _cells_pattern(mark, around, before)
        of_line, _ = _cells_pattern(mark, around, before, b"\r\n")
        # A carriage return at the end of a piece may be followed by a line feed in the next one.
        ends = {True: rb"(?:\r\n?|\n|\Z)", False: rb"(?:\r\n|\n|\r(?!\Z))"}
        self._record = {final: re.compile(cells + end, re.DOTALL) for final, end in ends.items()}
        lines = rb"(?:[^%b\r\n]*%b|%b%b){1,%d}"
        self._lines = {final: re.compile(lines % (around, end, of_line, end, _RUN)) for final, end in ends.items()}
        self._begun = re.compile(begun + rb"\r?\Z", re.DOTALL)

    def split(self, piece: bytes, line: int, *, final: bool) -> Block:
        """Split a piece that begins with line `line`; `final` says that nothing follows it."""
        data = np.frombuffer(piece, "u1")
        ends = _line_ends(data, final=final)
        quotes = np.flatnonzero(data == ord(self._quote)) if self._quote else np.zeros(0, "i8")
        rest = int(ends[-1]) + 1 if len(ends) else 0
        whole = rest == len(piece) or not final
        if whole and self._is_plain(data, ends, quotes[: np.searchsorted(quotes, rest)]):
            lengths = _lengths(data, ends)
            if self.columns < 2 or not self._has_empty_rows(data, ends, lengths):
                return Block(piece[:rest], line + np.flatnonzero(lengths), rest=rest, ended=len(ends))
        return self._split_by_records(piece, line, final=final)

    def _split_by_records(self, piece: bytes, first: int, *, final: bool) -> Block:
        """Split a piece record by record."""
        kept: list[bytes] = []
        lines: list[int] = []
        faults: list[tuple[int, str, bytes]] = []
        start, line, blank = 0, first, b"\r\n" + self._delimiter.encode() * (self.columns > 1)
        while start < len(piece):
            run = self._lines[final].match(piece, start)  # lines that are records by themselves, many at once
            if run and run.end() > start and len(run[0]) <= RECORD_BYTES_MAX:
                texts = run[0].splitlines(keepends=True)
                filled = [n for n, text in enumerate(texts) if text.strip(blank)]
                kept += [texts[n] for n in filled]
                lines += [line + n for n in filled]
                start, line = run.end(), line + len(texts)
                continue
            if found := self._record[final].match(piece, start):
                texts = found[0].splitlines(keepends=True)
                reason = self._fault_of(found[0], texts)
            else:
                ended = line_end(piece, start, final=final)
                is_short = len(piece) - start <= RECORD_BYTES_MAX
                if not final and (not ended or (is_short and self._begun.match(piece, start))):
                    break  # the rest of the record is in the next piece
                texts, reason = [piece[start : ended or len(piece)]], _STRAY
            if reason:  # only the first line: those after it may be rows, unless they were recognized as such
                texts = texts if reason == SWALLOWS else texts[:1]
                faults += ((line + n, reason, text) for n, text in enumerate(texts))
            elif found and found[0].strip(blank):  # spreadsheets write rows of delimiters below the last one
                kept.append(found[0])
                lines.append(line)
            start, line = start + sum(map(len, texts)), line + len(texts)
        return Block(b"".join(kept), np.array(lines, "i8"), faults, start, line - first)

    def _has_empty_rows(self, data: Array, ends: Array, lengths: Array) -> bool:
        begins = data[np.append(0, ends[:-1] + 1)[lengths == self.columns - 1]]
        return bool((begins == ord(self._delimiter)).any())

    def _is_plain(self, data: Array, ends: Array, quotes: Array) -> bool:
        """Return whether every line is a record, with every quotation mark in its place."""
        if len(ends) and max(int(ends[0]), int(np.diff(ends).max(initial=0))) > RECORD_BYTES_MAX:
            return False
        if not len(quotes):
            return True
        if self._escape or len(quotes) % 2 or (np.searchsorted(quotes, ends) % 2).any():
            return False
        around = np.zeros(256, bool)
        around[[ord(self._delimiter), ord(self._quote), _LF, _CR]] = True
        opens, closes = quotes[0::2], quotes[1::2]
        begun = around[data[opens[opens > 0] - 1]]
        # The lines of this piece are whole, so each closing mark has a byte after it.
        return bool(begun.all() and around[data[closes + 1]].all())

    def _fault_of(self, record: bytes, lines: list[bytes]) -> str | None:
        """Say what is wrong with a record, whose quotation marks are in their places; None where nothing is."""
        if len(record) > RECORD_BYTES_MAX:
            return TOO_LONG if len(lines) == 1 else _STRAY
        if len(lines) > 1 and self.columns and self._count(record) != self.columns:
            return _STRAY
        inner = lines[1:-1] if self.columns > 1 and not self._trusted else []
        return SWALLOWS if any(self._count(text) == self.columns for text in inner) else None

    def cells(self, record: bytes) -> list[str]:
        return next(self.rows(record.decode("utf-8", "replace").strip("\r\n")), [])

    def rows(self, text: str) -> Iterator[list[str]]:
        """Return Python's reader of the rows of a text."""
        return csv.reader(
            io.StringIO(text, newline=""),
            delimiter=self._delimiter,
            quotechar=self._quote or None,
            quoting=csv.QUOTE_MINIMAL if self._quote else csv.QUOTE_NONE,
            escapechar=self._escape or None,
        )

    def _count(self, record: bytes) -> int:
        """Return how many cells a record has, without empty ones beyond the columns."""
        try:
            cells = self.cells(record)
        except csv.Error:  # a cell longer than Python's reader takes
            return 0
        while len(cells) > self.columns and not cells[-1].strip():
            cells.pop()
        return len(cells)


def _cells_pattern(delimiter: bytes, quote: bytes, escape: bytes, but: bytes = b"") -> tuple[bytes, bytes]:
    """Return what the cells of a record match, and what those match that may go on behind the end of a piece.

    `but`: what no cell has, such as the end of a line.
    """
    plain = rb"[^%b\r\n]*" % delimiter
    if not quote:
        return plain + rb"(?:%b%b)*" % (delimiter, plain), rb"(?!)"
    plain = rb"(?!%b)%b" % (quote, plain)
    text = rb"[^%b%b%b]" % (quote, escape, but)
    marked = rb"|%b%b" % (escape, rb"[^%b]" % but if but else b".") if escape else b""
    opened = rb"%b%b*(?:(?:%b%b%b)%b*)*" % (quote, text, quote, quote, marked, text)
    cell = rb"(?:%b%b(?=[%b\r\n]|\Z)|%b)" % (opened, quote, delimiter, plain)
    begun = rb"(?:%b%b)*(?:%b(?:%b)?|%b)" % (
        cell,
        delimiter,
        opened,
        rb"%b|%b" % (quote, escape) if escape else quote,
        plain,
    )
    return rb"%b(?:%b%b)*" % (cell, delimiter, cell), begun


def _line_ends(data: Array, *, final: bool) -> Array:
    """Return where lines end: at a line feed, or at a carriage return that none follows."""
    ends = data == _LF
    returns = np.flatnonzero(data == _CR)
    if len(returns):
        last = len(data) - 1
        inner = returns[returns < last]
        ends[inner[data[inner + 1] != _LF]] = True
        if final and returns[-1] == last:
            ends[last] = True
    return np.flatnonzero(ends)


def _lengths(data: Array, ends: Array) -> Array:
    """Return how many bytes lines have, without what ends them."""
    lengths = np.diff(ends, prepend=-1) - 1
    some = np.flatnonzero(lengths)
    lengths[some] -= data[ends[some] - 1] == _CR
    return lengths


def line_end(piece: bytes, start: int, *, final: bool) -> int:
    """Return where the line that begins at `start` ends, after what ends it; 0 where that is not known yet."""
    found = _LINE_END.search(piece, start)
    if found is None or (found[0] == b"\r" and found.end() == len(piece) and not final):
        return 0
    return found.end()
