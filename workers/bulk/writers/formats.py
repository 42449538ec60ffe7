"""The four formats of an export's file, each written a batch at a time: memory does not grow with the rows."""

import hashlib
import io
from typing import TYPE_CHECKING, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet
from isal import igzip

from workers.bulk.codecs.text import csv_head, csv_rows, ndjson_rows

if TYPE_CHECKING:
    from typing_extensions import Buffer

_GROUP_ROWS = 512 * 1024
_GZIP_LEVEL = 1
_PARQUET_LEVEL = 1


class FormatWriter(Protocol):
    """A file being written."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a record batch, which may hold more columns than were chosen."""

    def close(self) -> None:
        """Write the end; the file is not complete before."""


class DigestingFile(io.RawIOBase):
    """A file that counts and digests the bytes written to it, one after the other; its owner closes it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.bytes = 0

    def write(self, data: "Buffer") -> int:
        """Write, and count what was written."""
        view = memoryview(data).cast("B")
        self._file.write(view)
        self._digest.update(view)
        self.bytes += len(view)
        return len(view)

    def writable(self) -> bool:
        return True

    @property
    def sha256(self) -> str:
        """The digest of all bytes written, in hexadecimal."""
        return self._digest.hexdigest()


class _Parquet:
    def __init__(self, file: DigestingFile, schema: pa.Schema, compression: str) -> None:
        self._schema = schema
        self._batches: list[pa.RecordBatch] = []
        self._rows = 0
        # A dictionary of numbers costs more to make than it saves.
        texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_dictionary(field.type)]
        self._writer = pyarrow.parquet.ParquetWriter(
            file,
            schema,
            compression=compression,
            use_dictionary=texts,
            compression_level=None if compression == "none" else _PARQUET_LEVEL,
        )

    def write(self, batch: pa.RecordBatch) -> None:
        self._batches.append(_select_columns(batch, self._schema))
        self._rows += batch.num_rows
        if self._rows >= _GROUP_ROWS:
            self._flush()

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._batches, self._schema).unify_dictionaries()
        self._writer.write_table(table, row_group_size=self._rows)
        self._batches, self._rows = [], 0


class _Arrow:
    def __init__(self, file: DigestingFile, schema: pa.Schema, compression: str) -> None:
        self._schema = schema
        options = pa.ipc.IpcWriteOptions(compression=None if compression == "none" else compression)
        self._writer = pa.ipc.new_stream(file, schema, options=options)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(_select_columns(batch, self._schema))

    def close(self) -> None:
        self._writer.close()


class _Sink(Protocol):
    def write(self, data: "Buffer", /) -> object: ...

    def close(self) -> None: ...


class _Text:
    def __init__(self, file: DigestingFile, schema: pa.Schema, compression: str, format: str) -> None:
        self._names = schema.names
        self._rows = csv_rows if format == "csv" else ndjson_rows
        self._file = _open_compressed(file, compression)
        if format == "csv":
            self._file.write(csv_head(self._names))

    def write(self, batch: pa.RecordBatch) -> None:
        self._file.write(self._rows(batch, self._names))

    def close(self) -> None:
        if not isinstance(self._file, DigestingFile):
            self._file.close()


def format_writer(file: DigestingFile, schema: pa.Schema, format: str, compression: str) -> FormatWriter:
    """Begin a file of a format with the columns of a schema."""
    if format == "parquet":
        return _Parquet(file, schema, compression)
    if format == "arrow":
        return _Arrow(file, schema, compression)
    return _Text(file, schema, compression, format)


def _open_compressed(file: DigestingFile, compression: str) -> _Sink:
    if compression == "gzip":
        # Without name and time: the same rows, the same bytes.
        packed: _Sink = igzip.IGzipFile(  # type: ignore[no-untyped-call]
            filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=file, mtime=0
        )
        return packed
    if compression == "zstd":
        compressed: _Sink = pa.CompressedOutputStream(pa.PythonFile(file, "w"), "zstd")
        return compressed
    return file


def _select_columns(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([batch.column(name) for name in schema.names], schema=schema)
