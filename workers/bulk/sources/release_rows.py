"""All rows of a release from one snapshot: observations month by month as columns, the other datasets as batches."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import date
from functools import partial
from tempfile import TemporaryFile
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shared.bulk.request import ID_END, ROWS_SQL, SMALL
from shared.bulk.schema import Dataset
from shared.calendar_periods import month_after
from shared.db.copy_binary import Array
from shared.db.queries import load_queries
from shared.money import minor_exceptions
from workers.bulk.codecs.csv_copy import CsvRows
from workers.bulk.codecs.observations import LAYOUT, Columns, join_columns
from workers.bulk.sources.item_contents import ItemContents, read_item_contents
from workers.bulk.sources.snapshot import Snapshot

ROWS = load_queries(__file__, "release_rows.sql")
_SPOOL_ROWS = 65_536


class ReleaseNames(NamedTuple):
    """The names behind the numbers. `ids` ascend; `ranks` are their items' places among the IIDs in order.

    A merged item has its owner's IID, rank and content; `owners` are the ids of the items whose IIDs they are.
    """

    ids: Array
    owners: Array
    ranks: Array
    iids: pa.Array
    contents: ItemContents
    channels: dict[int, str]
    sources: dict[int, str]

    def places(self, items: Array) -> tuple[Array, Array]:
        """Return each item's place in `ids`, and whether it is there at all; a withdrawn one is not."""
        if not len(self.ids):
            return np.zeros(len(items), "i8"), np.zeros(len(items), bool)
        place = np.minimum(np.searchsorted(self.ids, items), len(self.ids) - 1)
        return place, self.ids[place] == items


def read_names(snapshot: Snapshot) -> ReleaseNames:
    """Read the names of items, channels and sources: some sixty bytes an item, the only memory that grows."""
    rows = snapshot.rows(ROWS.identities)
    ids = np.array([row[0] for row in rows], "i8")
    order = np.argsort(ids)
    iids = pa.array([row[1] for row in rows], pa.string())
    owners = np.array([row[2] for row in rows], "i8")
    first = np.r_[True, owners[1:] != owners[:-1]] if len(owners) else np.empty(0, bool)
    ranks = np.maximum.accumulate(np.where(first, np.arange(len(owners)), 0)) if len(owners) else order
    channels: dict[int, str] = dict(snapshot.rows(ROWS_SQL.channels))
    sources: dict[int, str] = dict(snapshot.rows(ROWS_SQL.sources))
    contents = read_item_contents(snapshot, owners[order], 0, ID_END)
    return ReleaseNames(ids[order], owners[order], ranks[order].astype("i8"), iids, contents, channels, sources)


def read_months(snapshot: Snapshot) -> list[tuple[date, int]]:
    """Return each month that has observations, in order, with how many."""
    return [(month, count) for month, count in snapshot.rows(ROWS.months)]


def month_slices(
    snapshot: Snapshot, names: ReleaseNames, month: date, count: int, slice_rows: int
) -> Iterator[Columns]:
    """Yield the observations of a month, at once or by ranges of IIDs, in any order within each."""
    pieces = snapshot.copy(ROWS.observations, month, month_after(month), format="binary")
    if count <= slice_rows:
        yield join_columns(pieces)
        return
    # Where a slice begins depends on the IIDs alone, like where a file begins: else every release would differ.
    wanted = 2 ** int(np.ceil(np.log2(count / slice_rows)) + 1)
    mask = (1 << max(0, round(np.log2(len(names.ids) / wanted)))) - 1
    yield from _split_by_ranks(pieces, names, np.unique(names.ranks[(names.ids & mask) == 0]))


def _split_by_ranks(pieces: Iterable[bytes], names: ReleaseNames, firsts: Array) -> Iterator[Columns]:
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
            yield join_columns(iter(partial(file.read, _SPOOL_ROWS * LAYOUT.dtype.itemsize), b""))
            file.truncate(0)


def table_batches(snapshot: Snapshot, dataset: Dataset) -> Iterator[pa.RecordBatch]:
    """Yield all rows of one of the other datasets as record batches, in the order of its key."""
    rows, currencies = CsvRows(dataset), minor_exceptions()
    query = getattr(ROWS_SQL if dataset.name in SMALL else ROWS, dataset.name)
    for piece in snapshot.copy(query, list(currencies), list(currencies.values()), format="csv"):
        yield rows.batch(piece)
