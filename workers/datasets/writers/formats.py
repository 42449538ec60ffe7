"""The four formats of an export's file, each written a batch at a time: memory does not grow with the rows."""

import hashlib
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet
from isal import igzip

from workers.datasets.codecs.text import csv_head, csv_rows, ndjson_rows

_GROUP_ROWS = 512 * 1024
_GZIP_LEVEL = 1
_PARQUET_LEVEL = 1


class FormatWriter(Protocol):
    """A file being written."""

    def write(self, batch: Any) -> None:
        """Write a record batch, which may hold more columns than were chosen."""

    def close(self) -> None:
        """Write the end; the file is not complete before."""


class DigestingFile:
    """A file that counts and digests the bytes written to it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.bytes = 0
        self.closed = False

    def write(self, data: Any) -> int:
        """Write, and count what was written."""
        view = memoryview(data).cast("B")
        self._file.write(view)
        self._digest.update(view)
        self.bytes += len(view)
        return len(view)

    def flush(self) -> None:
        """Nothing is buffered here."""

    def close(self) -> None:
        """Leave the file open: its owner closes it."""

    def writable(self) -> bool:
        """Whether it can be written: yes."""
        return True

    def readable(self) -> bool:
        """Whether it can be read: no."""
        return False

    def seekable(self) -> bool:
        """Whether it can be sought in: no, a digest is sequential."""
        return False

    @property
    def sha256(self) -> str:
        """The digest of all bytes written, in hexadecimal."""
        return self._digest.hexdigest()


class _Parquet:
    def __init__(self, file: DigestingFile, schema: Any, compression: str) -> None:
        self._schema = schema
        self._held: list[Any] = []
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

    def write(self, batch: Any) -> None:
        self._held.append(_selected(batch, self._schema))
        self._rows += batch.num_rows
        if self._rows >= _GROUP_ROWS:
            self._flush()

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._held, self._schema).unify_dictionaries()
        self._writer.write_table(table, row_group_size=self._rows)
        self._held, self._rows = [], 0


class _Arrow:
    def __init__(self, file: DigestingFile, schema: Any, compression: str) -> None:
        self._schema = schema
        options = pa.ipc.IpcWriteOptions(compression=None if compression == "none" else compression)
        self._writer = pa.ipc.new_stream(file, schema, options=options)

    def write(self, batch: Any) -> None:
        self._writer.write_batch(_selected(batch, self._schema))

    def close(self) -> None:
        self._writer.close()


class _Text:
    def __init__(self, file: DigestingFile, schema: Any, compression: str, format: str) -> None:
        self._names = schema.names
        self._rows = csv_rows if format == "csv" else ndjson_rows
        self._file: Any = _packing(file, compression)
        if format == "csv":
            self._file.write(csv_head(self._names))

    def write(self, batch: Any) -> None:
        self._file.write(self._rows(batch, self._names))

    def close(self) -> None:
        if not isinstance(self._file, DigestingFile):
            self._file.close()


def format_writer(file: DigestingFile, schema: Any, format: str, compression: str) -> FormatWriter:
    """Begin a file of a format with the columns of a schema."""
    if format == "parquet":
        return _Parquet(file, schema, compression)
    if format == "arrow":
        return _Arrow(file, schema, compression)
    return _Text(file, schema, compression, format)


def _packing(file: DigestingFile, compression: str) -> Any:
    if compression == "gzip":
        # Without name and time: the same rows, the same bytes.
        open_gzip: Any = igzip.IGzipFile
        return open_gzip(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=file, mtime=0)
    return pa.CompressedOutputStream(pa.PythonFile(file, "w"), "zstd") if compression == "zstd" else file


def _selected(batch: Any, schema: Any) -> Any:
    return pa.RecordBatch.from_arrays([batch.column(name) for name in schema.names], schema=schema)
