"""Files of observations: sorted the same whatever the database's order, and split by the items' keys."""

from datetime import date

import numpy as np
import pyarrow as pa

from shared.datasets.schema import DATASETS, ReleaseFile
from shared.db.copy_binary import Array
from workers.datasets.codecs.observations import Columns, OwnDictionaries, observations_batch
from workers.datasets.sources.release_rows import Names
from workers.datasets.writers.release_file import ReleaseWriter, ends_of_files


def write_slice(names: Names, columns: Columns, month: date, number: int, writer: ReleaseWriter) -> list[ReleaseFile]:
    """Write one slice of a month, sorted and split by content; `number` is that of its first file."""
    position = np.minimum(np.searchsorted(names.ids, columns["item"]), max(len(names.ids) - 1, 0))
    known = names.ids[position] == columns["item"] if len(names.ids) else np.zeros(0, bool)
    rank = names.ranks[position] if len(names.ids) else np.empty(0, "i8")
    if len(names.ids):
        columns = columns | {"item": np.where(known, names.owners[position], columns["item"])}
    if not known.all():  # observations of items that were withdrawn
        columns = {name: column[known] for name, column in columns.items()}
        rank = rank[known]
    order = _order(rank, columns)
    rank, item = rank[order], columns["item"][order]
    starts = np.flatnonzero(np.r_[True, item[1:] != item[:-1]]) if len(item) else np.empty(0, "i8")
    ends = ends_of_files(item[starts].astype("u8"), starts, len(item), writer.split_rows.release_observations)
    dictionaries = OwnDictionaries(names.channels, names.sources)
    written: list[ReleaseFile] = []
    for start, end in zip([0, *ends], ends, strict=False):
        iids = names.iids.take(pa.array(rank[start:end]))
        rows = {name: column[order[start:end]] for name, column in columns.items()}
        table = pa.Table.from_batches([observations_batch(iids, rows, dictionaries)])
        written.append(
            writer.write(
                DATASETS["observations"],
                table,
                f"{month:%Y-%m}-{number + len(written):04d}.parquet",
                lambda row, iids=iids: f"{month:%Y-%m}/{iids[row].as_py()}",  # type: ignore[misc]
            )
        )
    return written


def _order(rank: Array, columns: Columns) -> Array:
    """Return an order of the rows that does not depend on the order in which they arrived."""
    day = (columns["day"] - columns["day"].min(initial=2**31 - 1)).astype("u8")  # five bits are enough for a month
    key = (rank.astype("u8") << np.uint64(26)) | (day << np.uint64(21)) | columns["channel"].astype("u8")
    order = np.argsort(key)
    ordered = key[order]
    twin = np.zeros(len(order), bool)
    twin[1:] = ordered[1:] == ordered[:-1]
    twin[:-1] |= twin[1:]
    tied = np.flatnonzero(twin)
    if len(tied):
        rows = order[tied]
        keys = [columns[name][rows] for name in ("units", "source", "currency", "kind", "list", "price")]
        order[tied] = rows[np.lexsort([*keys, ordered[tied]])]
    return order
