"""Files of a release: sorted, split, named by their content, and described."""

import datetime
import hashlib
import zlib
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from io import BytesIO
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shared.analytics.outliers import CAUSES, NONE
from shared.bulk.schema import DATASETS, Dataset, ReleaseFile, key_of
from shared.db.copy_binary import Array
from shared.objects.directory import ResultStore
from workers.bulk.codecs.observations import Columns, OwnDictionaries, observations_batch
from workers.bulk.sources.release import Names
from workers.jobs.context import SplitRows

# Files of a release: where a table is split, and how a file is written, named by its content and described.
#
# The split follows the content: whether a file may begin at a key depends on that key's hash alone. So an added or
# removed row changes the file that it is in, and all other files are the same bytes as in the previous release.


ROW_GROUP_ROWS = 122_880
_STATISTICS_CHARACTERS_MAX = 64
_STATISTICS_TYPES = ("string", "dictionary", "date", "integer", "long")
_TOO_WIDE = ("name", "identifiers", "attributes", "sources", "prices", "text")
_CAUSES = {ord(NONE): "", **{ord(letter): cause for letter, cause in CAUSES.items()}}


def ends_of_files(hashes: Array, starts: Array, rows: int, part_rows: int, *, more: bool = False) -> list[int]:
    """Return the rows at which files end. `hashes` are of the keys, `starts` the rows at which each key begins.

    With `more` rows to come, the rows after the last safe end are left for the next call.
    """
    # Four places per file on average, so that the first one after half a file comes soon.
    spacing = max(1.0, len(starts) * part_rows / 4 / max(rows, 1))
    mask = (1 << round(np.log2(spacing))) - 1
    ends: list[int] = []
    last = 0
    for start in starts[(hashes & np.uint64(mask)) == 0].tolist():
        if start - last >= part_rows // 2:
            ends.append(start)
            last = start
    return ends if more else [*ends, rows] if rows > last else ends


class ReleaseWriter:
    """Writes files into a store. `shared_bytes` counts those that it had already."""

    def __init__(self, store: ResultStore, split_rows: SplitRows) -> None:
        self._store = store
        self.split_rows = split_rows
        self.written_bytes = 0
        self.shared_bytes = 0

    def write(self, dataset: Dataset, table: pa.Table, name: str, key_of_row: Callable[[int], str]) -> ReleaseFile:
        """Write one file; if the store has these bytes already, nothing is written again."""
        with self._store.spool() as spool:
            order = [pq.SortingColumn(table.schema.get_field_index(column)) for column in dataset.order]
            pq.write_table(
                table,
                spool.file,
                compression="zstd",
                row_group_size=ROW_GROUP_ROWS,
                sorting_columns=order,
                write_page_index=True,
            )
            spool.file.flush()
            size = spool.file.seek(0, 2)
            spool.file.seek(0)
            sha256 = hashlib.file_digest(cast(BytesIO, spool.file), "sha256").hexdigest()
            statistics = _statistics(dataset, pq.read_metadata(spool.file))
            if self._store.size(key_of(sha256)) == size:
                self.shared_bytes += size
            else:
                spool.keep(key_of(sha256))
                self.written_bytes += size
        rows = table.num_rows
        return ReleaseFile(name, sha256, rows, size, key_of_row(0), key_of_row(rows - 1), statistics)


def _statistics(dataset: Dataset, metadata: pq.FileMetaData) -> dict[str, Any]:
    """Return what readers prune by, as Delta Sharing writes it; read from the file itself."""
    statistics: dict[str, Any] = {"numRecords": metadata.num_rows, "minValues": {}, "maxValues": {}, "nullCount": {}}
    columns = {c.name for c in dataset.columns if c.type in _STATISTICS_TYPES and c.name not in _TOO_WIDE}
    groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
    for position in range(metadata.num_columns):
        name = metadata.schema.column(position).path
        of_groups = [group.column(position).statistics for group in groups]
        if name not in columns or not all(statistic is not None for statistic in of_groups):
            continue
        statistics["nullCount"][name] = sum(statistic.null_count for statistic in of_groups)
        valued = [statistic for statistic in of_groups if statistic.has_min_max]
        if valued and len(valued) == sum(1 for statistic in of_groups if statistic.num_values):
            _set_ends(statistics, name, [(statistic.min, statistic.max) for statistic in valued])
    return statistics


def _set_ends(statistics: dict[str, Any], name: str, spans: Sequence[tuple[Any, Any]]) -> None:
    least, most = min(span[0] for span in spans), max(span[1] for span in spans)
    if isinstance(least, datetime.date):
        least, most = least.isoformat(), most.isoformat()
    if isinstance(most, str) and max(len(least), len(most)) > _STATISTICS_CHARACTERS_MAX:
        return  # a truncated value would no longer be the greatest
    statistics["minValues"][name], statistics["maxValues"][name] = least, most


# Files of the smaller datasets: batches in the order of their key, split as they come.


def write_table(
    batches: Iterable[Any], dataset: Dataset, writer: ReleaseWriter, progress: Callable[[int], None], prefix: str = ""
) -> list[ReleaseFile]:
    """Write a whole dataset; return its files in their order, their names with the prefix before the number."""
    files: list[ReleaseFile] = []
    file_rows = writer.split_rows.release_table
    pending: list[pa.Table] = []
    done = 0

    def write(table: pa.Table, *, more: bool) -> pa.Table:
        """Write the files that are complete; return the rows that are left."""
        ends = _ends(table, dataset, file_rows, more=more)
        for start, end in zip([0, *ends], ends, strict=False):
            rows = _own_dictionaries(table.slice(start, end - start))
            keys = rows.column(dataset.order[0])
            name = f"{prefix}{len(files):04d}.parquet"
            files.append(writer.write(dataset, rows, name, lambda row, keys=keys: str(keys[row].as_py())))  # type: ignore[misc]
        return table.slice(ends[-1] if ends else 0)

    for batch in batches:
        pending.append(pa.Table.from_batches([batch]))
        done += batch.num_rows
        progress(done)
        if sum(table.num_rows for table in pending) >= file_rows:
            pending = [write(pa.concat_tables(pending), more=True)]
    rest = pa.concat_tables(pending) if pending else None
    if rest is not None and rest.num_rows:
        write(rest, more=False)
    return files


def _own_dictionaries(table: pa.Table) -> pa.Table:
    """Encode anew what this part holds: with the texts of a whole batch, one that comes elsewhere would change it."""
    columns = [
        column.cast(pa.string()).combine_chunks().dictionary_encode() if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)


def _ends(table: pa.Table, dataset: Dataset, file_rows: int, *, more: bool) -> list[int]:
    keys = table.column(dataset.order[0]).to_pylist()
    starts = np.array([row for row, key in enumerate(keys) if row == 0 or key != keys[row - 1]], "i8")
    hashes = np.array([zlib.crc32(keys[row].encode()) for row in starts.tolist()], "u8")
    # As if it were one full part and more: the spacing of possible ends must not depend on how much is pending.
    return ends_of_files(hashes, starts, len(keys), file_rows, more=more)


# Files of observations: sorted the same whatever the database's order, and split by the items' keys.


def write_slice(names: Names, columns: Columns, month: date, number: int, writer: ReleaseWriter) -> list[ReleaseFile]:
    """Write one slice of a month, sorted and split by content; `number` is that of its first file."""
    place, known = names.places(columns["item"])
    if not known.all():  # observations of items that were withdrawn
        columns, place = {name: column[known] for name, column in columns.items()}, place[known]
    rank, columns = names.ranks[place], columns | {"item": names.owners[place]}
    order = _order(rank, columns, names)
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


def _order(rank: Array, columns: Columns, names: Names) -> Array:
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
        source, outlier = (_places(texts) for texts in (names.sources, _CAUSES))
        others = [columns[name][rows] for name in ("currency", "kind", "list", "price")]
        keys = [outlier[columns["outlier"][rows]], columns["units"][rows], source[columns["source"][rows]], *others]
        order[tied] = rows[np.lexsort([*keys, ordered[tied]])]
    return order


def _places(texts: dict[int, str]) -> Array:
    """Return the place of each number's text among all of them in order, at the number."""
    places = np.zeros(max(texts, default=0) + 1, "i8")
    places[sorted(texts, key=texts.__getitem__)] = np.arange(len(texts))
    return places
