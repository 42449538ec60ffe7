"""CSV as batches of text columns. A line that is no record becomes a reject, and no other line suffers for it. Pure."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from shared.errors import LoadRefused
from workers.ingest.batches import RAW_CHARACTERS_MAX, Batch, Reject, reject, unread
from workers.ingest.files.csv_records import RECORD_BYTES_MAX, TOO_LONG, Block, Records, line_end
from workers.ingest.files.read_cells import place_of_column
from workers.ingest.files.text_stream import ByteStream
from workers.ingest.mapping import Mapping

_HEADER_LINES_MAX = 100
# Excel and LibreOffice take such a first line for the delimiter of the others.
_STATED = re.compile(rb'"?sep=.?"?(?:\r\n|\n|\r)', re.IGNORECASE)
_STATED_BYTES_MAX = 16


def read_csv(name: str, stream: ByteStream, mapping: Mapping, block_bytes: int) -> Iterator[Batch]:
    """Read a CSV in batches. Raises LoadRefused where its header lacks a column that the mapping names."""
    form = Records(mapping.delimiter, mapping.quote, mapping.escape, cells_span_lines=mapping.cells_span_lines)
    reader: _RecordCells | None = None
    piece, line, final, above = b"", 1, False, mapping.skip_rows
    while not final:
        chunk = stream.read(block_bytes)
        final = not chunk
        piece += chunk
        piece, line = _skip_lines(piece, line, above, final=final)
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
            reader = _RecordCells(name, mapping, cells)
            form.columns, piece, line = len(cells), piece[size:], line + lines
            above = mapping.first_row - 1
            piece, line = _skip_lines(piece, line, above, final=final)
            if line <= above:
                continue
        if not chunk or len(piece) >= block_bytes:
            block = form.split(piece, line, final=final)
            piece, line = piece[block.rest :], line + block.ended
            batch = reader.batch(block)
            if len(piece) > RECORD_BYTES_MAX and not final:
                begun, piece, final = _skip_line(piece, stream)
                batch.rejects.append(unread(name, line, TOO_LONG, begun))
                line += 1
            yield batch
    if reader is None:
        raise LoadRefused(f"{name}: has no header")


def _header(form: Records, piece: bytes, *, final: bool) -> tuple[list[str], int, int] | None:
    """Return the first record's cells, its lines and bytes; None where it is not whole yet."""
    ended = 0
    for n in range(_HEADER_LINES_MAX):
        ended = line_end(piece, ended, final=final)
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


def _skip_lines(piece: bytes, line: int, last: int, *, final: bool) -> tuple[bytes, int]:
    """Skip the lines up to the last one that is not read; return what is left of a piece, and its line."""
    while line <= last and (ended := line_end(piece, 0, final=final)):
        piece, line = piece[ended:], line + 1
    # The skipped line continues in the next piece; its last byte is kept, as it may be the first half of a line end.
    return (piece, line) if line > last else (piece[-1:], line)


def _skip_line(piece: bytes, stream: ByteStream) -> tuple[str, bytes, bool]:
    """Read on to the end of a line that is too long; return its beginning, what follows, and whether nothing does."""
    begun = piece[:RAW_CHARACTERS_MAX].decode("utf-8", "replace")
    while not (ended := line_end(piece, 0, final=False)):
        more = stream.read(1 << 20)
        if not more:
            return begun, b"", True
        piece = more if not piece.endswith(b"\r") else b"\r" + more
    return begun, piece[ended:], False


_BrokenRecord = tuple[int, str, str]


class _RecordCells:
    """Turns whole records into columns of text."""

    def __init__(self, name: str, mapping: Mapping, header: list[str]) -> None:
        self._name = name
        self._encoding = mapping.encoding
        self._columns = mapping.columns
        self._places = [place_of_column(name, header, column) for column in mapping.columns]
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
        parse = self._parse_records if _is_utf8(block.records) else self._parse_bytes
        table, broken = parse(block.records)
        rejects += [unread(self._name, int(block.lines[n]), reason, text) for n, reason, text in broken if reason]
        lines = np.delete(block.lines, [n for n, _, _ in broken])
        if len(lines) != table.num_rows:  # rows must never get the line of another
            raise LoadRefused(f"{self._name}: {table.num_rows} rows were read where {len(lines)} were counted")
        return self._decode_rows([column.combine_chunks() for column in table.columns], lines, rejects)

    def _parse_records(self, records: bytes) -> tuple[pa.Table, list[_BrokenRecord]]:
        """Return the cells of records as bytes, and the records of another width: place, reason, text.

        Cells beyond the columns are dropped where all of them are empty, as in exports that end each line with a
        delimiter; of a record without any other cell the reason is empty.
        """
        broken: list[_BrokenRecord] = []
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

    def _with_longer(self, table: pa.Table, broken: list[_BrokenRecord], longer: dict[int, str]) -> pa.Table:
        """Return a table with the records that were cut, each in its place."""
        more, _ = self._parse_records("\n".join(longer.values()).encode())
        left_out = [*longer, *(n for n, _, _ in broken)]
        places = np.delete(np.arange(table.num_rows + len(left_out)), left_out)
        order = np.argsort(np.append(places, list(longer)), kind="stable")
        return pa.concat_tables([table, more]).take(pa.array(order))

    def _parse_bytes(self, records: bytes) -> tuple[pa.Table, list[_BrokenRecord]]:
        """Parse records that are not UTF-8: Arrow ends at the first of another width, whose text it cannot hand over.

        Each byte stands as a character meanwhile.
        """
        table, broken = self._parse_records(records.decode("latin-1").encode())
        cells = ([cell.decode().encode("latin-1") for cell in column.to_pylist()] for column in table.columns)
        restored = pa.Table.from_arrays([pa.array(column, pa.binary()) for column in cells], table.column_names)
        return restored, [(n, reason, text.encode("latin-1").decode("utf-8", "replace")) for n, reason, text in broken]

    def _decode_rows(self, columns: list[Any], lines: Any, rejects: list[Reject]) -> Batch:
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
