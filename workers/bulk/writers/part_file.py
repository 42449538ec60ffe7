"""The file of an export's part, in four formats: a batch at a time, counted and digested, whole or not there."""

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from isal import igzip

from shared.bulk.manifest import File, file_name
from shared.bulk.request import ROWS, SHAPES, dataset_of
from shared.bulk.schema import arrow_schema
from shared.errors import ResultGone
from shared.objects.directory import ResultStore
from workers.bulk.codecs.text import csv_head, csv_rows, ndjson_rows
from workers.bulk.part import Part, StoredCopy

# The four formats of an export's file, each written a batch at a time: memory does not grow with the rows.


_GROUP_ROWS = 512 * 1024
_GZIP_LEVEL = 1
_PARQUET_LEVEL = 1


class FormatWriter(Protocol):
    """A file being written."""

    def write(self, batch: Any) -> None:
        """Write a record batch, which may hold more columns than were chosen."""

    def close(self) -> None:
        """Write the end; the file is not complete before."""


class DigestingFile(io.RawIOBase):
    """A file that counts and digests the bytes written to it, one after the other; its owner closes it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.bytes = 0

    def write(self, data: Any) -> int:
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


# The file of an export's part: under its attempt's own key, counted and digested, whole or not there.


Progress = Callable[[int], None]
_COPY_BYTES = 4 << 20


class PartFile:
    """Takes batches into the file of a part; knows the least and greatest key of the rows written."""

    def __init__(self, file: DigestingFile, key: str, part: Part, progress: Progress) -> None:
        request = part.request
        self._file = file
        self._key = key
        self._content = part.content
        self._progress = progress
        dataset = dataset_of(request.dataset, part.content)
        self._key_column = SHAPES[request.dataset].key if part.content == ROWS else "iid"
        names = request.columns if part.content == ROWS else [column.name for column in dataset.columns]
        schema = arrow_schema(dataset)
        self._schema = pa.schema([schema.field(name) for name in names])
        self._format = (request.format, request.compression)
        self._writer: FormatWriter | None = None
        self._rows = 0
        self._least: Any = None
        self._greatest: Any = None

    @classmethod
    @contextmanager
    def begun(cls, store: ResultStore, part: Part, progress: Progress) -> Iterator[Self]:
        """Begin the part's file; on leaving without an error it is whole and durable, else it is not there."""
        request = part.request
        name = file_name(request.dataset, part.content, part.number, request.format, request.compression)
        key = f"{part.job_id}/{part.attempt}/{name}"
        with store.writing(key) as file:
            yield cls(DigestingFile(file), key, part, progress)

    def write(self, batch: Any) -> None:
        """Write a record batch, which may hold more columns than were chosen, and holds the key column."""
        if not batch.num_rows:
            return
        self._begun_writer().write(batch)
        ends = pc.min_max(batch.column(self._key_column)).as_py()
        self._least = ends["min"] if self._least is None else min(self._least, ends["min"])
        self._greatest = ends["max"] if self._greatest is None else max(self._greatest, ends["max"])
        self._rows += batch.num_rows
        self._progress(self._rows)

    def copied(self, stored: StoredCopy, check: Callable[[], None]) -> File:
        """Copy a stored file, and describe the part's file. Raises ResultGone if the stored bytes are not the same."""
        at = 0
        try:
            while piece := stored.reader.read(at, min(_COPY_BYTES, stored.bytes - at)):
                check()
                self._file.write(piece)
                at += len(piece)
        finally:
            stored.reader.close()
        if self._file.sha256 != stored.sha256:
            raise ResultGone(stored.key)
        self._rows, self._least, self._greatest = stored.rows, stored.min_key, stored.max_key
        self._progress(self._rows)
        return self._described()

    def closed(self) -> File:
        """Write the end, and describe the file; no manifest names it yet."""
        self._begun_writer().close()
        return self._described()

    def _begun_writer(self) -> FormatWriter:
        if self._writer is None:
            self._writer = format_writer(self._file, self._schema, *self._format)
        return self._writer

    def _described(self) -> File:
        return File(
            name=self._key.rpartition("/")[2],
            key=self._key,
            content=self._content,
            rows=self._rows,
            bytes=self._file.bytes,
            sha256=self._file.sha256,
            min_key=_text(self._least),
            max_key=_text(self._greatest),
        )


def _text(key: Any) -> str | None:
    return None if key is None else str(key)
