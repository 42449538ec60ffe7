"""Rows of an export's part from a release of the same data_version: named, typed and sorted already.

Several times as fast as PostgreSQL. A request for exactly the stored form is answered by a copy of the file.
"""

import io
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shared.bulk.request import FIRST_DAY, LAST_DAY, SHAPES, Request
from shared.bulk.schema import DATASETS, PREFIX, FileStatistics, key_of
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.objects.directory import ObjectReader, ResultStore
from workers.bulk.part import ExportPart, StoredCopy

SQL = load_queries(__file__, "release.sql")
_BATCH_ROWS = 131_072


class _SourceFile(NamedTuple):
    """One file of the release. `statistics` as releases keep them."""

    position: int
    sha256: str
    rows: int
    bytes: int
    statistics: FileStatistics


def ranges_of_release(
    connection: Connection, objects: ResultStore, request: Request, version: int, part_rows: int
) -> list[tuple[int, int]]:
    """Return ranges of places whose files hold the requested rows, one per part; none if PostgreSQL must be read.

    The release must be complete and of this version. Its files hold neither the brand of an observation's item nor
    what has changed since another version.
    """
    if request.since is not None or request.brand or request.category:
        return []
    sources = _sources(connection, request.dataset, version, 0, 2**31 - 1)
    if not sources or not _has_columns(connection, request, version):
        return []
    there = {listed.key: listed.bytes for listed in objects.list_objects(PREFIX)}
    if any(there.get(key_of(source.sha256)) != source.bytes for source in sources):
        return []
    wanted = [source for source in sources if _overlaps(source, request)]
    return _group_files(wanted, 1 if _is_stored_form(request) else part_rows)


def _has_columns(connection: Connection, request: Request, version: int) -> bool:
    """Return whether the release has every column: one that older code has built may lack newer columns."""
    row = connection.execute(SQL.columns, (request.dataset, version)).fetchone()
    return row is not None and {column["name"] for column in row[0]} >= set(request.columns)


def _group_files(sources: list[_SourceFile], part_rows: int) -> list[tuple[int, int]]:
    """Join adjacent files until a part has enough rows."""
    ranges: list[tuple[int, int]] = []
    rows = part_rows
    for source in sources:
        if rows < part_rows and ranges[-1][1] == source.position:
            ranges[-1] = (ranges[-1][0], source.position + 1)
            rows += source.rows
        else:
            ranges.append((source.position, source.position + 1))
            rows = source.rows
    return ranges


def stored_copy(connection: Connection, objects: ResultStore, part: ExportPart) -> StoredCopy | None:
    """Return the one file of the part's places if it is the part already, else None. Raises ResultGone."""
    request = part.request
    sources = _sources(connection, request.dataset, part.data_version, part.id_from, part.id_to)
    span = _span(sources[0], SHAPES[request.dataset].key) if len(sources) == 1 and _is_stored_form(request) else None
    if span is None:
        return None
    [source] = sources
    key = key_of(source.sha256)
    return StoredCopy(key, source.sha256, source.bytes, source.rows, *span, objects.open(key))


def release_batches(connection: Connection, objects: ResultStore, part: ExportPart) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the part's files, narrowed as the request says. Raises ResultGone if a file is missing."""
    request = part.request
    columns = [*request.columns, SHAPES[request.dataset].key]
    if request.dataset == "observations":
        columns += ["day", "channel", "currency"]  # the filters, and the currency that decides the digits of amounts
    for source in _sources(connection, request.dataset, part.data_version, part.id_from, part.id_to):
        with ObjectFile(objects.open(key_of(source.sha256))) as file:
            parquet = pq.ParquetFile(file, pre_buffer=True)
            for batch in parquet.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(columns))):
                yield _narrow(batch, request)


def _is_stored_form(request: Request) -> bool:
    every = [column.name for column in DATASETS[request.dataset].columns]
    form = (request.format, request.compression) == ("parquet", "zstd")
    return form and request.columns == every and not _is_narrowed(request)


def _is_narrowed(request: Request) -> bool:
    return bool(request.channel) or (request.first, request.last) != (FIRST_DAY, LAST_DAY)


def _overlaps(source: _SourceFile, request: Request) -> bool:
    span = _span(source, "day")
    if span is None:
        return True
    first, last = map(date.fromisoformat, span)
    return first <= request.last and request.first <= last


def _span(source: _SourceFile, name: str) -> tuple[str, str] | None:
    least, most = source.statistics["minValues"].get(name), source.statistics["maxValues"].get(name)
    return None if least is None or most is None else (str(least), str(most))


def _narrow(batch: pa.RecordBatch, request: Request) -> pa.RecordBatch:
    if not _is_narrowed(request):
        return batch
    days = batch.column("day")
    chosen = pc.and_(pc.greater_equal(days, pa.scalar(request.first)), pc.less_equal(days, pa.scalar(request.last)))
    if request.channel:
        channels = batch.column("channel")
        named = pc.is_in(channels.dictionary, pa.array(request.channel, pa.string()))
        chosen = pc.and_(chosen, named.take(channels.indices))
    return batch.filter(chosen)


def _sources(connection: Connection, dataset: str, version: int, first: int, end: int) -> list[_SourceFile]:
    return [_SourceFile(*row) for row in connection.execute(SQL.files, (dataset, version, first, end))]


class ObjectFile(io.RawIOBase):
    """A stored object as a file that Parquet's reader can seek in."""

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._bytes = reader.size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._bytes)[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        wanted = self._bytes - self._at if size is None or size < 0 else size
        piece = self._reader.read(self._at, wanted) if wanted else b""
        self._at += len(piece)
        return piece

    def close(self) -> None:
        if not self.closed:
            self._reader.close()
        super().close()
