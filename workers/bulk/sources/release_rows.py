"""All rows of a release from one snapshot: observations month by month as columns, the other datasets as batches."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.bulk.schema import Dataset
from shared.db.copy_binary import Array
from shared.db.queries import beside
from workers.bulk.codecs.csv_rows import CsvRows
from workers.bulk.codecs.observations import Columns, joined
from workers.bulk.sources.snapshot import Snapshot

SQL = beside(__file__, "release_rows.sql")
_AFTER_ALL = "~"  # sorts after every IID


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


def read_names(snapshot: Snapshot) -> Names:
    """Read the names of items, channels and sources: some forty bytes an item, the only memory that grows."""
    rows = snapshot.rows(SQL.identities)
    ids = np.array([row[0] for row in rows], "i8")
    order = np.argsort(ids)
    iids = pa.array([row[1] for row in rows], pa.string())
    owners = np.array([row[2] for row in rows], "i8")
    first = np.r_[True, owners[1:] != owners[:-1]] if len(owners) else np.empty(0, bool)
    ranks = np.maximum.accumulate(np.where(first, np.arange(len(owners)), 0)) if len(owners) else order
    channels, sources = (dict(snapshot.rows(query)) for query in (SQL.channels, SQL.sources))
    return Names(ids[order], owners[order], ranks[order].astype("i8"), iids, channels, sources)


def read_months(snapshot: Snapshot) -> list[tuple[date, int]]:
    """Return each month that has observations, in order, with how many."""
    return [(month, count) for month, count in snapshot.rows(SQL.months)]


def month_slices(snapshot: Snapshot, names: Names, month: date, count: int, slice_rows: int) -> Iterator[Columns]:
    """Yield the observations of a month, at once or by ranges of IIDs, in any order within each."""
    after = (month + timedelta(days=32)).replace(day=1)
    if count <= slice_rows:
        yield joined(snapshot.copy(SQL.observations, month, after, format="binary"))
        return
    # Where a slice begins depends on the IIDs alone, like where a file begins: else every release would differ.
    wanted = 2 ** int(np.ceil(np.log2(count / slice_rows)) + 1)
    mask = (1 << max(0, round(np.log2(len(names.ids) / wanted)))) - 1
    firsts = sorted(names.iids[int(rank)].as_py() for rank in names.ranks[(names.ids & mask) == 0])
    for low, high in zip(["", *firsts], [*firsts, _AFTER_ALL], strict=True):
        yield joined(snapshot.copy(SQL.observations_of_range, month, after, low, high, format="binary"))


def table_batches(snapshot: Snapshot, dataset: Dataset) -> Iterator[Any]:
    """Yield all rows of one of the other datasets as record batches, in the order of its key."""
    rows = CsvRows(dataset)
    for piece in snapshot.copy(getattr(SQL, dataset.name), format="csv"):
        yield rows.batch(piece)
