"""CSV as batches of text columns. A line that is no record becomes a reject, and no other line suffers for it."""

import difflib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from shared.errors import LoadRefused
from workers.ingest.batches import RAW_CHARACTERS_MAX, VALUE_CHARACTERS_MAX, Batch, Reject
from workers.ingest.csv_records import RECORD_BYTES_MAX, Block, Records
from workers.ingest.mapping import Mapping
from workers.ingest.text_stream import ByteStream

_HEADER_LINES_MAX = 100
_TOO_LONG = f"is longer than {RECORD_BYTES_MAX:,} bytes"


def read_csv(name: str, stream: ByteStream, mapping: Mapping, block_bytes: int) -> Iterator[Batch]:
    """Read a CSV in batches. Raises LoadRefused where its header lacks a column that the mapping names."""
    form = Records(mapping.delimiter, mapping.quote, cells_span_lines=mapping.cells_span_lines)
    reader: _Rows | None = None
    piece, line, final = b"", 1, False
    while not final:
        chunk = stream.read(block_bytes)
        final = not chunk
        piece += chunk
        if reader is None:
            header = _header(form, piece, final=final)
            if header is None:
                continue
            cells, lines, size = header
            reader = _Rows(name, mapping, cells)
            form.columns, piece, line = len(cells), piece[size:], line + lines
        if not chunk or len(piece) >= block_bytes:
            block = form.split(piece, line, final=final)
            piece, line = piece[block.rest :], line + block.ended
            batch = reader.batch(block)
            if len(piece) > RECORD_BYTES_MAX and not final:
                begun, piece, final = _skip_line(piece, stream)
                batch.rejects.append(_unread(name, line, _TOO_LONG, begun))
                line += 1
            yield batch
    if reader is None:
        raise LoadRefused(f"{name}: has no header")


def _header(form: Records, piece: bytes, *, final: bool) -> tuple[list[str], int, int] | None:
    """Return the first record's cells, its lines and bytes; None where it is not whole yet."""
    ended = 0
    for n in range(_HEADER_LINES_MAX):
        ended = piece.find(b"\n", ended) + 1
        if not ended and not final:
            if len(piece) > RECORD_BYTES_MAX:
                raise LoadRefused("the header is too long: is the delimiter or the file's form another?")
            return None
        block = form.split(piece[: ended or len(piece)], 1, final=not ended)
        if len(block.lines):
            return form.cells(block.records), n + 1, ended or len(piece)
        if not ended:
            break
    return None


def _skip_line(piece: bytes, stream: ByteStream) -> tuple[str, bytes, bool]:
    """Read on to the end of a line that is too long; return its beginning, what follows, and whether nothing does."""
    begun = piece[:RAW_CHARACTERS_MAX].decode("utf-8", "replace")
    while b"\n" not in piece:
        piece = stream.read(1 << 20)
        if not piece:
            return begun, b"", True
    return begun, piece.partition(b"\n")[2], False


class _Rows:
    """Turns whole records into columns of text."""

    def __init__(self, name: str, mapping: Mapping, header: list[str]) -> None:
        self._name = name
        self._encoding = mapping.encoding
        self._columns = mapping.columns
        self._places = [self._place(header, column) for column in mapping.columns]
        # Columns are known by their places: a header may name one twice that the mapping does not need.
        self._names = [f"f{n}" for n in range(len(header))]
        self._parse = {"delimiter": mapping.delimiter, "quote_char": mapping.quote or False, "newlines_in_values": True}

    def batch(self, block: Block) -> Batch:
        """Return a block's rows."""
        rejects = [_unread(self._name, line, reason, raw) for line, reason, raw in block.faults]
        if not block.records:
            return Batch({column: pa.array([], pa.string()) for column in self._columns}, [], rejects)
        broken: list[tuple[int, str, str]] = []

        def keep(row: Any) -> str:
            reason = f"has {row.actual_columns} columns instead of {row.expected_columns}"
            broken.append((row.number - 1, reason, row.text))
            return "skip"

        chosen = [f"f{position}" for position in self._places]
        table = pyarrow.csv.read_csv(
            pa.BufferReader(block.records),
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
        rejects += [_unread(self._name, int(block.lines[n]), reason, text) for n, reason, text in broken]
        lines = np.delete(block.lines, [n for n, _, _ in broken])
        if len(lines) != table.num_rows:  # rows must never get the line of another
            raise LoadRefused(f"{self._name}: {table.num_rows} rows were read where {len(lines)} were counted")
        [record_batch] = table.combine_chunks().to_batches() or [_nothing(table.schema)]
        return self._decoded(record_batch, lines, rejects)

    def _place(self, header: list[str], column: str) -> int:
        positions = [n for n, title in enumerate(header) if title == column]
        if len(positions) == 1:
            return positions[0]
        if positions:
            raise LoadRefused(f"{self._name}: has {len(positions)} columns {column!r}, and the mapping names one")
        close = difflib.get_close_matches(column, header, 1)
        hint = f"; is {close[0]!r} meant?" if close else ""
        raise LoadRefused(f"{self._name}: has no column {column!r}; it has {', '.join(header)[:500]}{hint}")

    def _decoded(self, record_batch: Any, lines: Any, rejects: list[Reject]) -> Batch:
        """Turn bytes into text; a row that is not UTF-8 becomes a reject."""
        try:
            listed = [column.cast(pa.string()) for column in record_batch.columns]
        except pa.ArrowInvalid:
            good = []
            for row in range(record_batch.num_rows):
                broken = self._broken_cell(record_batch, row)
                if broken is None:
                    good.append(row)
                else:
                    column, value = broken
                    reason, raw = f"is not valid {self._encoding.upper()}", self._raw_of(record_batch, row)
                    rejects.append(Reject(self._name, int(lines[row]), reason, raw, column, value))
            record_batch, lines = record_batch.take(pa.array(good, pa.int64())), lines[good]
            listed = [column.cast(pa.string()) for column in record_batch.columns]
        return Batch(dict(zip(self._columns, listed, strict=True)), lines, rejects)

    def _broken_cell(self, record_batch: Any, row: int) -> tuple[str, str] | None:
        for column, cells in zip(self._columns, record_batch.columns, strict=True):
            try:
                cells[row].as_py().decode()
            except UnicodeDecodeError:
                return column, cells[row].as_py().decode("utf-8", "replace")[:VALUE_CHARACTERS_MAX]
        return None

    def _raw_of(self, record_batch: Any, row: int) -> str:
        cells = (column[row].as_py().decode("utf-8", "replace") for column in record_batch.columns)
        return json.dumps(dict(zip(self._columns, cells, strict=True)), ensure_ascii=False)[:RAW_CHARACTERS_MAX]


def _nothing(schema: Any) -> Any:
    return pa.RecordBatch.from_arrays([pa.array([], kind.type) for kind in schema], schema=schema)


def _unread(name: str, line: int, reason: str, raw: str | bytes) -> Reject:
    """Return the reject of a line that is no row: no column is to blame, and its value is its text."""
    text = raw[: 4 * RAW_CHARACTERS_MAX].decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    text = text[:RAW_CHARACTERS_MAX].rstrip("\r\n")
    return Reject(name, line, reason, text, value=text[:VALUE_CHARACTERS_MAX])
