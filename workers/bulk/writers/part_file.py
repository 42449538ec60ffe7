"""The file of an export's part: under its attempt's own key, counted and digested, whole or not there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from shared.bulk.manifest import File, file_name
from shared.bulk.request import ROWS, SHAPES, dataset_of
from shared.bulk.schema import arrow_schema
from shared.errors import ResultGone
from shared.objects.directory import ResultStore
from workers.bulk.part import ExportPart, StoredCopy
from workers.bulk.writers.formats import DigestingFile, FormatWriter, format_writer

ReportRows = Callable[[int], None]
_COPY_BYTES = 4 << 20


class PartFile:
    """Takes batches into the file of a part; knows the least and greatest key of the rows written."""

    def __init__(self, file: DigestingFile, key: str, part: ExportPart, progress: ReportRows) -> None:
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
        self._least: object = None
        self._greatest: object = None

    @classmethod
    @contextmanager
    def begin(cls, store: ResultStore, part: ExportPart, progress: ReportRows) -> Iterator[Self]:
        """Begin the part's file; on leaving without an error it is whole and durable, else it is not there."""
        request = part.request
        name = file_name(request.dataset, part.content, part.number, request.format, request.compression)
        key = f"{part.job_id}/{part.attempt}/{name}"
        with store.create(key) as file:
            yield cls(DigestingFile(file), key, part, progress)

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a record batch, which may hold more columns than were chosen, and holds the key column."""
        if not batch.num_rows:
            return
        self._open_writer().write(batch)
        ends = pc.min_max(batch.column(self._key_column)).as_py()
        if self._least is None or ends["min"] < self._least:
            self._least = ends["min"]
        if self._greatest is None or ends["max"] > self._greatest:
            self._greatest = ends["max"]
        self._rows += batch.num_rows
        self._progress(self._rows)

    def copy(self, stored: StoredCopy, check: Callable[[], None]) -> File:
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
        return self._describe()

    def finish(self) -> File:
        """Write the end, and describe the file; no manifest names it yet."""
        self._open_writer().close()
        return self._describe()

    def _open_writer(self) -> FormatWriter:
        if self._writer is None:
            self._writer = format_writer(self._file, self._schema, *self._format)
        return self._writer

    def _describe(self) -> File:
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


def _text(key: object) -> str | None:
    return None if key is None else str(key)
