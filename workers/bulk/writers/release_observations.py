"""Files of observations: sorted the same whatever the database's order, and split by the items' keys."""

from datetime import date

import numpy as np
import pyarrow as pa

from shared.bulk.schema import DATASETS, KeptReleaseFile
from shared.db.copy_binary import Array
from workers.bulk.codecs.observations import Columns, OwnDictionaries, observations_batch
from workers.bulk.sources.release_rows import ReleaseNames
from workers.bulk.writers.release_file import CAUSE_OF_CODE, ReleaseWriter, ends_of_files


def write_slice(
    names: ReleaseNames, columns: Columns, month: date, number: int, writer: ReleaseWriter
) -> list[KeptReleaseFile]:
    """Write one slice of a month, sorted and split by content; `number` is that of its first file."""
    place, known = names.places(columns["item"])
    if not known.all():  # observations of items that were withdrawn
        columns, place = {name: column[known] for name, column in columns.items()}, place[known]
    rank = names.ranks[place]
    columns = columns | {"item": names.owners[place]} | names.contents.columns(place)
    order = _order(rank, columns, names)
    rank, item = rank[order], columns["item"][order]
    starts = np.flatnonzero(np.r_[True, item[1:] != item[:-1]]) if len(item) else np.empty(0, "i8")
    ends = ends_of_files(item[starts].astype("u8"), starts, len(item), writer.split_rows.release_observations)
    dictionaries = OwnDictionaries(names.channels, names.sources)
    written: list[KeptReleaseFile] = []
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


def _order(rank: Array, columns: Columns, names: ReleaseNames) -> Array:
    """Return an order of the rows that depends on what the file says alone, so that a reader's copy can have it too."""
    channel = _places(names.channels)[columns["channel"]]
    day = (columns["day"] - columns["day"].min(initial=2**31 - 1)).astype("u8")  # five bits are enough for a month
    key = (rank.astype("u8") << np.uint64(26)) | (day << np.uint64(21)) | channel.astype("u8")
    order = np.argsort(key)
    ordered = key[order]
    twin = np.zeros(len(order), bool)
    twin[1:] = ordered[1:] == ordered[:-1]
    twin[:-1] |= twin[1:]
    tied = np.flatnonzero(twin)
    if len(tied):
        rows = order[tied]
        source, outlier = (_places(texts) for texts in (names.sources, CAUSE_OF_CODE))
        others = [columns[name][rows] for name in ("currency", "kind", "list", "price")]
        keys = [outlier[columns["outlier"][rows]], columns["units"][rows], source[columns["source"][rows]], *others]
        order[tied] = rows[np.lexsort([*keys, ordered[tied]])]
    return order


def _places(texts: dict[int, str]) -> Array:
    """Return the place of each number's text among all of them in order, at the number."""
    places = np.zeros(max(texts, default=0) + 1, "i8")
    places[sorted(texts, key=texts.__getitem__)] = np.arange(len(texts))
    return places
