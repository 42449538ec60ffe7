"""CSV as batches of text columns. A line that is no record becomes a reject, and no other line suffers for it. Pure."""

import csv
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from shared.errors import LoadRefused
from workers.ingest.batches import RAW_CHARACTERS_MAX, Batch, Reject, of_sheet, reject, there_is, unread
from workers.ingest.mapping import Mapping
from workers.ingest.read_sheet import SheetRow
from workers.ingest.text_stream import ByteStream

# Where the records of a CSV begin and end, so that a stray quotation mark costs its own line and no other. Pure.
#
# A quotation mark opens a cell at its very beginning only; elsewhere it is a plain character. It closes one before a
# delimiter or the end of a line. A cell that is not closed so, or not within the bound of a record, was not meant to
# be opened: its line is rejected, and reading continues with the next line.


RECORD_BYTES_MAX = 1 << 20
# Python's reader has a bound of its own for a cell, of 131,072 characters, which would end the reading of a file.
csv.field_size_limit(RECORD_BYTES_MAX)
_LF, _CR = 10, 13
_RUN = 1_000
_STRAY = "has a quotation mark that opens a cell and does not close it"
_LONG = f"is longer than {RECORD_BYTES_MAX:,} bytes"
SWALLOWS = "has a quoted cell over several lines that look like rows (cells_span_lines = true takes them for text)"


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
        return self._walked(piece, line, final=final)

    def _walked(self, piece: bytes, first: int, *, final: bool) -> Block:
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
                ended = _line_end(piece, start, final=final)
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

    def _has_empty_rows(self, data: Any, ends: Any, lengths: Any) -> bool:
        begins = data[np.append(0, ends[:-1] + 1)[lengths == self.columns - 1]]
        return bool((begins == ord(self._delimiter)).any())

    def _is_plain(self, data: Any, ends: Any, quotes: Any) -> bool:
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
            return _LONG if len(lines) == 1 else _STRAY
        if len(lines) > 1 and self.columns and self._count(record) != self.columns:
            return _STRAY
        inner = lines[1:-1] if self.columns > 1 and not self._trusted else []
        return SWALLOWS if any(self._count(text) == self.columns for text in inner) else None

    def cells(self, record: bytes) -> list[str]:
        return next(self.rows(record.decode("utf-8", "replace").strip("\r\n")), [])

    def rows(self, text: str) -> Any:
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


def _lengths(data: Any, ends: Any) -> Any:
    """Return how many bytes lines have, without what ends them."""
    lengths = np.diff(ends, prepend=-1) - 1
    some = np.flatnonzero(lengths)
    lengths[some] -= data[ends[some] - 1] == _CR
    return lengths


_HEADER_LINES_MAX = 100
_LINE_END = re.compile(rb"\r\n|\n|\r")
# Excel and LibreOffice take such a first line for the delimiter of the others.
_STATED = re.compile(rb'"?sep=.?"?(?:\r\n|\n|\r)', re.IGNORECASE)
_STATED_BYTES_MAX = 16


def read_csv(name: str, stream: ByteStream, mapping: Mapping, block_bytes: int) -> Iterator[Batch]:
    """Read a CSV in batches. Raises LoadRefused where its header lacks a column that the mapping names."""
    form = Records(mapping.delimiter, mapping.quote, mapping.escape, cells_span_lines=mapping.cells_span_lines)
    reader: _Rows | None = None
    piece, line, final, above = b"", 1, False, mapping.skip_rows
    while not final:
        chunk = stream.read(block_bytes)
        final = not chunk
        piece += chunk
        piece, line = _skipped(piece, line, above, final=final)
        if line <= above:
            continue
        if reader is None:
            if len(piece) < _STATED_BYTES_MAX and not final:
                continue
            if line == 1 and (stated := _STATED.match(piece)):
                piece, line = piece[stated.end() :], line + 1
            header = _header(form, piece, final=final)
            if header is None:
                continue
            cells, lines, size = header
            reader = _Rows(name, mapping, cells)
            form.columns, piece, line = len(cells), piece[size:], line + lines
            above = mapping.first_row - 1
            piece, line = _skipped(piece, line, above, final=final)
            if line <= above:
                continue
        if not chunk or len(piece) >= block_bytes:
            block = form.split(piece, line, final=final)
            piece, line = piece[block.rest :], line + block.ended
            batch = reader.batch(block)
            if len(piece) > RECORD_BYTES_MAX and not final:
                begun, piece, final = _skip_line(piece, stream)
                batch.rejects.append(unread(name, line, _LONG, begun))
                line += 1
            yield batch
    if reader is None:
        raise LoadRefused(f"{name}: has no header")


def _header(form: Records, piece: bytes, *, final: bool) -> tuple[list[str], int, int] | None:
    """Return the first record's cells, its lines and bytes; None where it is not whole yet."""
    ended = 0
    for n in range(_HEADER_LINES_MAX):
        ended = _line_end(piece, ended, final=final)
        if not ended and not final:
            if len(piece) > RECORD_BYTES_MAX:
                raise LoadRefused("the header is too long: is the delimiter or the file's form another?")
            return None
        # Without what follows it, a carriage return ends a line only where nothing is to follow.
        block = form.split(piece[: ended or len(piece)], 1, final=not ended or piece[ended - 1] == ord("\r"))
        if len(block.lines):
            return form.cells(block.records), n + 1, ended or len(piece)
        if not ended:
            break
    return None


def _skipped(piece: bytes, line: int, last: int, *, final: bool) -> tuple[bytes, int]:
    """Skip the lines up to the last one that is not read; return what is left of a piece, and its line."""
    while line <= last and (ended := _line_end(piece, 0, final=final)):
        piece, line = piece[ended:], line + 1
    # Of a skipped line that goes on only the last byte is kept: it may be the first half of the end of the line.
    return (piece, line) if line > last else (piece[-1:], line)


def _line_end(piece: bytes, start: int, *, final: bool) -> int:
    """Return where the line that begins at `start` ends, after what ends it; 0 where that is not known yet."""
    found = _LINE_END.search(piece, start)
    if found is None or (found[0] == b"\r" and found.end() == len(piece) and not final):
        return 0
    return found.end()


def _skip_line(piece: bytes, stream: ByteStream) -> tuple[str, bytes, bool]:
    """Read on to the end of a line that is too long; return its beginning, what follows, and whether nothing does."""
    begun = piece[:RAW_CHARACTERS_MAX].decode("utf-8", "replace")
    while not (ended := _line_end(piece, 0, final=False)):
        more = stream.read(1 << 20)
        if not more:
            return begun, b"", True
        piece = more if not piece.endswith(b"\r") else b"\r" + more
    return begun, piece[ended:], False


SHEET_COLUMN = "@sheet"
"""The name by which a mapping has the name of a row's sheet as a column, where several sheets are read."""


def read_cells(
    name: str, rows: Iterator[SheetRow], mapping: Mapping, batch_rows: int, sheet: str = ""
) -> Iterator[Batch]:
    """Make batches of the rows of a sheet, the first of which is the header. Raises LoadRefused as `read_csv` does.

    `sheet`: its name, where it is one of several.
    """
    file = of_sheet(name, sheet)
    rows = (row for row in rows if row.number > mapping.skip_rows)
    header = next(rows, None)
    if header is None:
        raise LoadRefused(f"{file}: has no header")
    cells = header.cells
    if sheet and SHEET_COLUMN in mapping.columns:
        cells = [*cells, SHEET_COLUMN]
    places = {column: _place_of(file, cells, column) for column in mapping.columns}
    rows = (row for row in rows if row.number >= mapping.first_row)
    while some := list(itertools.islice(rows, batch_rows)):
        rejects = [lost for row in some if row.faults for lost in _valueless(file, row, places, mapping)]
        lost = {made.line for made in rejects if made.scope == "row"}
        kept = [row for row in some if row.number not in lost] if lost else some
        columns = {
            column: pa.array([cells[place] if place < len(cells) else "" for _, cells, _ in kept], pa.string())
            for column, place in places.items()
        }
        if sheet and SHEET_COLUMN in columns:
            columns[SHEET_COLUMN] = pa.array([sheet] * len(kept), pa.string())
        yield Batch(columns, [row.number for row in kept], rejects, sheet)


def _valueless(name: str, row: SheetRow, places: dict[str, int], mapping: Mapping) -> list[Reject]:
    """Return the reject of a row by its first cell without a value, or those of fields that cost no more than it."""
    found = {column: row.faults[place] for column, place in places.items() if place in row.faults}
    faults = {c: f for c, f in found.items() if f.value.partition(": ")[2] not in mapping.null_texts.get(c, ())}
    strict = next((column for column in faults if column not in mapping.lenient_columns), None)
    scope, lost = ("field", faults) if strict is None else ("row", {strict: faults[strict]})
    cells = {column: row.cells[place] if place < len(row.cells) else "" for column, place in places.items()}
    return [reject(name, row.number, fault.reason, cells, column, fault.value, scope) for column, fault in lost.items()]


def _place_of(name: str, header: list[str], column: str) -> int:
    """Return the place of a column. Raises LoadRefused where the header lacks it, or has it twice.

    White space around a title is no part of it, unless the mapping names it with it.
    """
    positions = [n for n, title in enumerate(header) if title == column]
    positions = positions or [n for n, title in enumerate(header) if title.strip() == column.strip()]
    if len(positions) == 1:
        return positions[0]
    if positions:
        raise LoadRefused(f"{name}: has {len(positions)} columns {column!r}, and the mapping names one")
    raise LoadRefused(f"{name}: has no column {column!r}; it has {there_is(column, header)}")


_Broken = tuple[int, str, str]


class _Rows:
    """Turns whole records into columns of text."""

    def __init__(self, name: str, mapping: Mapping, header: list[str]) -> None:
        self._name = name
        self._encoding = mapping.encoding
        self._columns = mapping.columns
        self._places = [_place_of(name, header, column) for column in mapping.columns]
        # Columns are known by their places: a header may name one twice that the mapping does not need.
        self._names = [f"f{n}" for n in range(len(header))]
        self._delimiter = mapping.delimiter
        not_escaped = f"(?<!{re.escape(mapping.escape)})" if mapping.escape else ""
        self._empty = f"{not_escaped}{re.escape(mapping.delimiter)} *(?:{re.escape(mapping.quote) * 2})? *"
        self._parse = {
            "delimiter": mapping.delimiter,
            "quote_char": mapping.quote or False,
            "escape_char": mapping.escape or False,
            "newlines_in_values": True,
        }

    def batch(self, block: Block) -> Batch:
        rejects = [unread(self._name, line, reason, raw) for line, reason, raw in block.faults]
        if not block.records:
            return Batch({column: pa.array([], pa.string()) for column in self._columns}, [], rejects)
        table, broken = self._parsed(block.records) if _is_utf8(block.records) else self._parsed_bytes(block.records)
        rejects += [unread(self._name, int(block.lines[n]), reason, text) for n, reason, text in broken if reason]
        lines = np.delete(block.lines, [n for n, _, _ in broken])
        if len(lines) != table.num_rows:  # rows must never get the line of another
            raise LoadRefused(f"{self._name}: {table.num_rows} rows were read where {len(lines)} were counted")
        return self._decoded([column.combine_chunks() for column in table.columns], lines, rejects)

    def _parsed(self, records: bytes) -> tuple[pa.Table, list[_Broken]]:
        """Return the cells of records as bytes, and the records of another width: place, reason, text.

        Cells beyond the columns are dropped where all of them are empty, as in exports that end each line with a
        delimiter; of a record without any other cell the reason is empty.
        """
        broken: list[_Broken] = []
        longer: dict[int, str] = {}

        def keep(row: Any) -> str:
            cut = self._without_surplus(row.text, row.actual_columns - row.expected_columns)
            if cut.strip(self._delimiter):
                longer[row.number - 1] = cut
            else:
                reason = f"has {row.actual_columns} columns instead of {row.expected_columns}"
                broken.append((row.number - 1, "" if cut else reason, row.text))
            return "skip"

        chosen = [f"f{position}" for position in self._places]
        table = pyarrow.csv.read_csv(
            pa.BufferReader(records),
            read_options=pyarrow.csv.ReadOptions(use_threads=False, column_names=self._names),
            parse_options=pyarrow.csv.ParseOptions(**self._parse, invalid_row_handler=keep),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(chosen, pa.binary()),
                include_columns=chosen or None,
                strings_can_be_null=False,
                check_utf8=False,
                null_values=[],
            ),
        )
        return (self._with_longer(table, broken, longer) if longer else table), broken

    def _without_surplus(self, text: str, surplus: int) -> str:
        """Return a record without its last cells where there are too many and these are empty; else an empty text."""
        found = re.search(f"(?:{self._empty}){{{surplus}}}$", text.rstrip("\r\n")) if surplus > 0 else None
        return text[: found.start()] if found else ""

    def _with_longer(self, table: pa.Table, broken: list[_Broken], longer: dict[int, str]) -> pa.Table:
        """Return a table with the records that were cut, each in its place."""
        more, _ = self._parsed("\n".join(longer.values()).encode())
        left_out = [*longer, *(n for n, _, _ in broken)]
        places = np.delete(np.arange(table.num_rows + len(left_out)), left_out)
        order = np.argsort(np.append(places, list(longer)), kind="stable")
        return pa.concat_tables([table, more]).take(pa.array(order))

    def _parsed_bytes(self, records: bytes) -> tuple[pa.Table, list[_Broken]]:
        """Parse records that are not UTF-8: Arrow ends at the first of another width, whose text it cannot hand over.

        Each byte stands as a character meanwhile.
        """
        table, broken = self._parsed(records.decode("latin-1").encode())
        cells = ([cell.decode().encode("latin-1") for cell in column.to_pylist()] for column in table.columns)
        restored = pa.Table.from_arrays([pa.array(column, pa.binary()) for column in cells], table.column_names)
        return restored, [(n, reason, text.encode("latin-1").decode("utf-8", "replace")) for n, reason, text in broken]

    def _decoded(self, columns: list[Any], lines: Any, rejects: list[Reject]) -> Batch:
        """Turn bytes into text; a row that is not UTF-8 becomes a reject."""
        try:
            listed = [column.cast(pa.string()) for column in columns]
        except pa.ArrowInvalid:
            good = []
            for row, cells in enumerate(zip(*(column.to_pylist() for column in columns), strict=True)):
                texts = {name: cell.decode("utf-8", "replace") for name, cell in zip(self._columns, cells, strict=True)}
                broken = next(
                    (n for (n, text), cell in zip(texts.items(), cells, strict=True) if text.encode() != cell), None
                )
                if broken is not None:
                    reason = f"is not valid {self._encoding.upper()}"
                    rejects.append(reject(self._name, int(lines[row]), reason, texts, broken, texts[broken]))
                else:
                    good.append(row)
            lines = lines[good]
            listed = [column.take(pa.array(good, pa.int64())).cast(pa.string()) for column in columns]
        return Batch(dict(zip(self._columns, listed, strict=True)), lines, rejects)


def _is_utf8(records: bytes) -> bool:
    try:
        pa.array([records], pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True
