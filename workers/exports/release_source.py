"""Parts that are read from a release: the rows of its data_version, named, typed and sorted already.

Several times as fast as asking PostgreSQL; and what is wanted in the very form in which it lies is copied unread.
"""

import io
from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shared.db.connect import Connection
from shared.db.queries import beside
from shared.errors import ResultGone
from shared.exports.manifest import File
from shared.exports.request import FIRST_DAY, LAST_DAY, Request
from shared.objects.directory import Reader, ResultStore
from shared.releases.datasets import DATASETS, PREFIX, key_of
from workers.exports.part_file import Page, Told
from workers.exports.parts import Part

SQL = beside(__file__, "release_source.sql")
RELEASE = "release"
"""Stands in a part's row where a snapshot's name would: the part's range is one of places in the release."""
_BATCH_ROWS = 131_072
_COPY_BYTES = 4 << 20


class _Source(NamedTuple):
    """One file of the release. `statistics` as releases keep them."""

    place: int
    sha256: str
    rows: int
    bytes: int
    statistics: dict[str, Any]


def ranges(
    connection: Connection, store: ResultStore, request: Request, version: int, part_rows: int
) -> list[tuple[int, int]]:
    """Return ranges of places whose files hold what is wanted, a part each; none where PostgreSQL must be asked.

    Only a whole release of this very version will do. Which brand an observation's item has is not in its files, nor
    what has changed.
    """
    if request.since is not None or request.brand or request.category:
        return []
    sources = _sources(connection, request.dataset, version, 0, 2**31 - 1)
    if not sources or not _has_columns(connection, request, version):
        return []
    there = {found.key: found.bytes for found in store.listed(PREFIX)}
    if any(there.get(key_of(source.sha256)) != source.bytes for source in sources):
        return []
    wanted = [source for source in sources if _overlaps(source, request)]
    return _grouped(wanted, 1 if _as_it_lies(request) else part_rows)


def _has_columns(connection: Connection, request: Request, version: int) -> bool:
    """Tell whether the release knows every column: one that older code cut may lack those that came later."""
    row = connection.execute(SQL.columns, (request.dataset, version)).fetchone()
    return row is not None and {column["name"] for column in row[0]} >= set(request.columns)


def _grouped(sources: list[_Source], part_rows: int) -> list[tuple[int, int]]:
    """Put neighbours together until a part has enough rows."""
    found: list[tuple[int, int]] = []
    rows = part_rows
    for source in sources:
        if rows < part_rows and found[-1][1] == source.place:
            found[-1] = (found[-1][0], source.place + 1)
            rows += source.rows
        else:
            found.append((source.place, source.place + 1))
            rows = source.rows
    return found


def write_part(
    connection: Connection, store: ResultStore, part: Part, request: Request, check: Callable[[], None], told: Told
) -> File:
    """Write a part from the files of its places. Raises ResultGone where the store has lost one of them."""
    sources = _sources(connection, request.dataset, part.data_version, part.id_from, part.id_to)
    with Page.begun(store, part, request, told) as page:
        spans = [_span(source, page.key) for source in sources]
        if len(sources) == 1 and spans[0] is not None and _as_it_lies(request):
            return _copied(store, sources[0], spans[0], page, check)
        for source in sources:
            _read(store, source, request, page, check)
        check()
        return page.closed()


def _read(store: ResultStore, source: _Source, request: Request, page: Page, check: Callable[[], None]) -> None:
    columns = [*page.names, page.key]
    if request.dataset == "observations":
        columns += ["day", "channel", "currency"]  # narrowed by, and by the currency amounts are spelled
    with _File(store.open(key_of(source.sha256)), source) as file:
        parquet = pq.ParquetFile(file, pre_buffer=True)
        for batch in parquet.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(columns))):
            check()
            page.write(_narrowed(batch, request))


def _copied(store: ResultStore, source: _Source, span: tuple[Any, Any], page: Page, check: Callable[[], None]) -> File:
    reader, at = store.open(key_of(source.sha256)), 0
    try:
        while piece := reader.read(at, min(_COPY_BYTES, source.bytes - at)):
            check()
            page.copy(piece)
            at += len(piece)
    finally:
        reader.close()
    made = page.copied(source.rows, *span)
    if made.sha256 != source.sha256:
        raise ResultGone(key_of(source.sha256))
    return made


def _as_it_lies(request: Request) -> bool:
    every = [column.name for column in DATASETS[request.dataset].columns]
    form = (request.format, request.compression) == ("parquet", "zstd")
    return form and request.columns == every and not _is_narrowed(request)


def _is_narrowed(request: Request) -> bool:
    return bool(request.channel) or (request.first, request.last) != (FIRST_DAY, LAST_DAY)


def _overlaps(source: _Source, request: Request) -> bool:
    span = _span(source, "day")
    if span is None:
        return True
    first, last = map(date.fromisoformat, span)
    return first <= request.last and request.first <= last


def _span(source: _Source, name: str) -> tuple[str, str] | None:
    least, most = (source.statistics[ends].get(name) for ends in ("minValues", "maxValues"))
    return None if least is None or most is None else (least, most)


def _narrowed(batch: Any, request: Request) -> Any:
    if not _is_narrowed(request):
        return batch
    days = batch.column("day")
    chosen = pc.and_(pc.greater_equal(days, pa.scalar(request.first)), pc.less_equal(days, pa.scalar(request.last)))
    if request.channel:
        channels = batch.column("channel")
        named = pc.is_in(channels.dictionary, pa.array(request.channel, pa.string()))
        chosen = pc.and_(chosen, named.take(channels.indices))
    return batch.filter(chosen)


def _sources(connection: Connection, dataset: str, version: int, first: int, end: int) -> list[_Source]:
    return [_Source(*row) for row in connection.execute(SQL.files, (dataset, version, first, end))]


class _File(io.RawIOBase):
    """An object of the store as Parquet's reader wants it."""

    def __init__(self, reader: Reader, source: _Source) -> None:
        self._reader = reader
        self._bytes = source.bytes
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
