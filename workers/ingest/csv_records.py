"""Where the records of a CSV begin and end, so that a stray quotation mark costs its own line and no other. Pure.

A quotation mark opens a cell at its very beginning only; elsewhere it is a plain character. It closes one before a
delimiter or the end of a line. A cell that is not closed so, or not within the bound of a record, was not meant to be
opened: its line is rejected, and reading continues with the next line.
"""

import csv
import io
import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

RECORD_BYTES_MAX = 1 << 20
_LF, _CR = 10, 13
_STRAY = "has a quotation mark that opens a cell and does not close it"
_LONG = f"is longer than {RECORD_BYTES_MAX:,} bytes"
_SWALLOWS = "has a quoted cell over several lines that look like rows (cells_span_lines = true takes them for text)"


@dataclass
class Block:
    """Whole records of a piece of a file, their physical lines, and the lines that are no records: line, reason, text.

    The rest of the piece, from `rest`, belongs to the next one; `ended` is how many lines end before it.
    """

    records: bytes
    lines: Any
    faults: list[tuple[int, str, bytes]] = field(default_factory=list)
    rest: int = 0
    ended: int = 0


class Records:
    """Finds records. `columns` is how many cells each should have; 0 while that is not known."""

    def __init__(self, delimiter: str, quote: str, *, cells_span_lines: bool = False) -> None:
        self._delimiter = delimiter
        self._quote = quote
        self._trusted = cells_span_lines
        self.columns = 0

    def split(self, piece: bytes, line: int, *, final: bool) -> Block:
        """Split a piece that begins with line `line`; `final` says that nothing follows it."""
        data = np.frombuffer(piece, "u1")
        ends = _line_ends(data, final=final)
        quotes = np.flatnonzero(data == ord(self._quote)) if self._quote else np.zeros(0, "i8")
        rest = int(ends[-1]) + 1 if len(ends) else 0
        whole = rest == len(piece) or not final
        if whole and self._is_plain(data, ends, quotes[: np.searchsorted(quotes, rest)]):
            starts = np.append(0, ends[:-1] + 1)
            filled = _filled(data, starts, ends)
            return Block(piece[:rest], line + np.flatnonzero(filled), rest=rest, ended=len(ends))
        return _Walk(self, piece, line, ends.tolist(), quotes.tolist(), final=final).block()

    def _is_plain(self, data: Any, ends: Any, quotes: Any) -> bool:
        """Return whether every line is a record, with every quotation mark in its place."""
        if len(ends) and max(int(ends[0]), int(np.diff(ends).max(initial=0))) > RECORD_BYTES_MAX:
            return False
        if not len(quotes):
            return True
        if len(quotes) % 2 or (np.searchsorted(quotes, ends) % 2).any():
            return False
        around = np.zeros(256, bool)
        around[[ord(self._delimiter), ord(self._quote), _LF, _CR]] = True
        opens, closes = quotes[0::2], quotes[1::2]
        begun = around[data[opens[opens > 0] - 1]]
        # The lines of this piece are whole, so each closing mark has a byte after it.
        return bool(begun.all() and around[data[closes + 1]].all())

    def is_fault(self, record: bytes, lines: list[bytes]) -> str | None:
        """Say what is wrong with a record of several lines; None where nothing is."""
        if self.columns and self._count(record) != self.columns:
            return _STRAY
        inner = lines[1:-1]
        if self.columns > 1 and not self._trusted and any(self._count(text) == self.columns for text in inner):
            return _SWALLOWS
        return None

    def cells(self, record: bytes) -> list[str]:
        """Return the cells of one record."""
        text = record.decode("utf-8", "replace").rstrip("\r\n")
        if not self._quote:
            return text.split(self._delimiter)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self._delimiter, quotechar=self._quote)
        return next(reader, [])

    def _count(self, record: bytes) -> int:
        try:
            return len(self.cells(record))
        except csv.Error:  # a cell longer than Python's reader takes
            return 0


class _Walk:
    """Goes through a piece record by record, quotation mark by quotation mark."""

    def __init__(
        self, form: Records, piece: bytes, line: int, ends: list[int], quotes: list[int], *, final: bool
    ) -> None:
        self._form = form
        self._piece = piece
        self._line = line
        self._ends = [*ends, len(piece)] if final and (not ends or ends[-1] != len(piece) - 1) else ends
        self._quotes = quotes
        self._final = final
        self._between_cells = frozenset((*form._delimiter.encode(), _LF, _CR))

    def block(self) -> Block:
        piece, ends = self._piece, self._ends
        kept: list[bytes] = []
        lines: list[int] = []
        faults: list[tuple[int, str, bytes]] = []
        start = at = mark = 0
        while at < len(ends):
            mark = self._mark_from(mark, start)
            last, reason = self._end_of(start, at, mark)
            if reason is None and last is None and not self._final and len(piece) - start <= RECORD_BYTES_MAX:
                break  # the rest of the record is in the next piece
            if last is None:
                reason = reason or _STRAY
            if reason is None and last is not None and ends[last] - start > RECORD_BYTES_MAX:
                reason = _LONG
            record = piece[start : ends[last if last is not None else at] + 1]
            if reason is None and last is not None and last > at:
                bounds = [start, *(end + 1 for end in ends[at : last + 1])]
                reason = self._form.is_fault(record, [piece[a:b] for a, b in itertools.pairwise(bounds)])
            if reason is None and last is not None:
                if record.strip(b"\r\n"):
                    kept.append(record)
                    lines.append(self._line + at)
                at = last + 1
            else:  # only the first line: those after it may be rows, and a swallowed one is recognized below
                until = last if reason == _SWALLOWS and last is not None else at
                for number in range(at, until + 1):
                    begin = start if number == at else ends[number - 1] + 1
                    faults.append((self._line + number, reason or _STRAY, piece[begin : ends[number]]))
                at = until + 1
            start = ends[at - 1] + 1
        return Block(b"".join(kept), np.array(lines, "i8"), faults, min(start, len(piece)), at)

    def _mark_from(self, mark: int, start: int) -> int:
        while mark < len(self._quotes) and self._quotes[mark] < start:
            mark += 1
        return mark

    def _end_of(self, start: int, at: int, mark: int) -> tuple[int | None, str | None]:
        """Return the line with which the record ends (None: not in this piece), or what is wrong with its quotes."""
        piece, ends, quotes = self._piece, self._ends, self._quotes
        while True:
            while mark < len(quotes) and quotes[mark] < ends[at] and not self._opens(quotes[mark], start):
                mark += 1
            if mark >= len(quotes) or quotes[mark] >= ends[at]:
                return at, None
            mark += 1
            while mark + 1 < len(quotes) and quotes[mark + 1] == quotes[mark] + 1:
                mark += 2  # a doubled mark is a mark within the cell
            if mark >= len(quotes):
                return None, None
            close = quotes[mark]
            if close - start > RECORD_BYTES_MAX:
                return None, _STRAY
            if close + 1 == len(piece) and not self._final:
                return None, None
            if close + 1 < len(piece) and piece[close + 1] not in self._between_cells:
                return None, _STRAY
            mark += 1
            while at < len(ends) and ends[at] < close:
                at += 1
            if at == len(ends):
                return None, None

    def _opens(self, quote: int, start: int) -> bool:
        return quote == start or self._piece[quote - 1] in self._between_cells


def _line_ends(data: Any, *, final: bool) -> Any:
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


def _filled(data: Any, starts: Any, ends: Any) -> Any:
    """Return which lines have any character."""
    lengths = ends - starts
    carriage = np.zeros(len(ends), bool)
    carriage[lengths > 0] = data[ends[lengths > 0] - 1] == _CR
    return lengths > carriage
