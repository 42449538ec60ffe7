"""Rows of releases: all of one snapshot as they are written, and those of an export's part as they are read."""

import io
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import date
from functools import partial
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shared.bulk.request import FIRST_DAY, LAST_DAY, ROWS_SQL, SHAPES, SMALL, Request
from shared.bulk.schema import DATASETS, PREFIX, Dataset, key_of
from shared.clock import month_after
from shared.db.connect import Connection
from shared.db.copy_binary import Array
from shared.db.queries import load_queries
from shared.money import minor_exceptions
from shared.objects.directory import Reader, ResultStore
from workers.bulk.codecs.observations import LAYOUT, Columns, joined
from workers.bulk.codecs.text import CsvRows
from workers.bulk.part import Part, StoredCopy
from workers.bulk.sources.snapshot import Snapshot

# All rows of a release from one snapshot: observations month by month as columns, the other datasets as batches.


ROWS = load_queries(__file__, "release_rows.sql")
_SPOOL_ROWS = 65_536


class Names(NamedTuple):
    """The names behind the numbers. `ids` ascend; `ranks` are their items' places among the IIDs in order.

    A merged item has its owner's IID and rank; `owners` are the ids of the items whose IIDs they are.
    """

    ids: Array
    owners: Array
    ranks: Array
    iids: pa.Array
    channels: dict[int, str]
    sources: dict[int, str]

    def places(self, items: Array) -> tuple[Array, Array]:
        """Return each item's place in `ids`, and whether it is there at all; a withdrawn one is not."""
        if not len(self.ids):
            return np.zeros(len(items), "i8"), np.zeros(len(items), bool)
        place = np.minimum(np.searchsorted(self.ids, items), len(self.ids) - 1)
        return place, self.ids[place] == items


def read_names(snapshot: Snapshot) -> Names:
    """Read the names of items, channels and sources: some forty bytes an item, the only memory that grows."""
    rows = snapshot.rows(ROWS.identities)
    ids = np.array([row[0] for row in rows], "i8")
    order = np.argsort(ids)
    iids = pa.array([row[1] for row in rows], pa.string())
    owners = np.array([row[2] for row in rows], "i8")
    first = np.r_[True, owners[1:] != owners[:-1]] if len(owners) else np.empty(0, bool)
    ranks = np.maximum.accumulate(np.where(first, np.arange(len(owners)), 0)) if len(owners) else order
    channels, sources = (dict(snapshot.rows(query)) for query in (ROWS_SQL.channels, ROWS_SQL.sources))
    return Names(ids[order], owners[order], ranks[order].astype("i8"), iids, channels, sources)


def read_months(snapshot: Snapshot) -> list[tuple[date, int]]:
    """Return each month that has observations, in order, with how many."""
    return [(month, count) for month, count in snapshot.rows(ROWS.months)]


def month_slices(snapshot: Snapshot, names: Names, month: date, count: int, slice_rows: int) -> Iterator[Columns]:
    """Yield the observations of a month, at once or by ranges of IIDs, in any order within each."""
    pieces = snapshot.copy(ROWS.observations, month, month_after(month), format="binary")
    if count <= slice_rows:
        yield joined(pieces)
        return
    # Where a slice begins depends on the IIDs alone, like where a file begins: else every release would differ.
    wanted = 2 ** int(np.ceil(np.log2(count / slice_rows)) + 1)
    mask = (1 << max(0, round(np.log2(len(names.ids) / wanted)))) - 1
    yield from _parted(pieces, names, np.unique(names.ranks[(names.ids & mask) == 0]))


def _parted(pieces: Iterable[bytes], names: Names, firsts: Array) -> Iterator[Columns]:
    """Yield rows by ranges of ranks that begin at `firsts`; they wait in unnamed temporary files.

    To ask the server for each range would have it read the whole month for each.
    """
    with ExitStack() as opened:
        files = [opened.enter_context(TemporaryFile()) for _ in range(len(firsts) + 1)]
        for piece in pieces:
            rows = LAYOUT.rows_in(piece)
            place, known = names.places(rows["item"])
            rows, number = rows[known], np.searchsorted(firsts, names.ranks[place[known]], "right")
            order = np.argsort(number, kind="stable")
            bounds = np.searchsorted(number[order], np.arange(len(files) + 1))
            for file, start, end in zip(files, bounds, bounds[1:], strict=False):
                file.write(rows[order[start:end]].tobytes())
        for file in files:
            file.seek(0)
            yield joined(iter(partial(file.read, _SPOOL_ROWS * LAYOUT.dtype.itemsize), b""))
            file.truncate(0)


def table_batches(snapshot: Snapshot, dataset: Dataset) -> Iterator[Any]:
    """Yield all rows of one of the other datasets as record batches, in the order of its key."""
    rows, currencies = CsvRows(dataset), minor_exceptions()
    query = getattr(ROWS_SQL if dataset.name in SMALL else ROWS, dataset.name)
    for piece in snapshot.copy(query, list(currencies), list(currencies.values()), format="csv"):
        yield rows.batch(piece)


# Rows of an export's part from a release of the same data_version: named, typed and sorted already. Several times as
# fast as PostgreSQL. A request for exactly the stored form is answered by a copy of the file.


SQL = load_queries(__file__, "release.sql")
_BATCH_ROWS = 131_072


class _Source(NamedTuple):
    """One file of the release. `statistics` as releases keep them."""

    position: int
    sha256: str
    rows: int
    bytes: int
    statistics: dict[str, Any]


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
    there = {listed.key: listed.bytes for listed in objects.listed(PREFIX)}
    if any(there.get(key_of(source.sha256)) != source.bytes for source in sources):
        return []
    wanted = [source for source in sources if _overlaps(source, request)]
    return _grouped(wanted, 1 if _is_stored_form(request) else part_rows)


def _has_columns(connection: Connection, request: Request, version: int) -> bool:
    """Return whether the release has every column: one that older code has built may lack newer columns."""
    row = connection.execute(SQL.columns, (request.dataset, version)).fetchone()
    return row is not None and {column["name"] for column in row[0]} >= set(request.columns)


def _grouped(sources: list[_Source], part_rows: int) -> list[tuple[int, int]]:
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


def stored_copy(connection: Connection, objects: ResultStore, part: Part) -> StoredCopy | None:
    """Return the one file of the part's places if it is the part already, else None. Raises ResultGone."""
    request = part.request
    sources = _sources(connection, request.dataset, part.data_version, part.id_from, part.id_to)
    span = _span(sources[0], SHAPES[request.dataset].key) if len(sources) == 1 and _is_stored_form(request) else None
    if span is None:
        return None
    [source] = sources
    key = key_of(source.sha256)
    return StoredCopy(key, source.sha256, source.bytes, source.rows, *span, objects.open(key))


def release_batches(connection: Connection, objects: ResultStore, part: Part) -> Iterator[Any]:
    """Yield the rows of the part's files, narrowed as the request says. Raises ResultGone if a file is missing."""
    request = part.request
    columns = [*request.columns, SHAPES[request.dataset].key]
    if request.dataset == "observations":
        columns += ["day", "channel", "currency"]  # the filters, and the currency that decides the digits of amounts
    for source in _sources(connection, request.dataset, part.data_version, part.id_from, part.id_to):
        with ObjectFile(objects.open(key_of(source.sha256))) as file:
            parquet = pq.ParquetFile(file, pre_buffer=True)
            for batch in parquet.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(columns))):
                yield _narrowed(batch, request)


def _is_stored_form(request: Request) -> bool:
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


class ObjectFile(io.RawIOBase):
    """A stored object as a file that Parquet's reader can seek in."""

    def __init__(self, reader: Reader) -> None:
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
