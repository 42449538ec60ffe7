"""Files of a release: where a table is split, and how a file is written, named by its content and described.

The split follows the content: whether a file may begin at a key depends on that key's hash alone. So an added or
removed row changes the file that it is in, and all other files are the same bytes as in the previous release.
"""

import datetime
import hashlib
from collections.abc import Callable
from io import BytesIO
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shared.analytics.outliers import CAUSES, NONE
from shared.bulk.schema import Dataset, FileStatistics, KeptReleaseFile, key_of
from shared.db.copy_binary import Array
from shared.objects.directory import ResultStore
from workers.jobs.services import SplitRows

ROW_GROUP_ROWS = 122_880
_STATISTICS_CHARACTERS_MAX = 64
_STATISTICS_TYPES = ("string", "dictionary", "date", "integer", "long")
_TOO_WIDE = ("name", "identifiers", "attributes", "sources", "prices", "text")
CAUSE_OF_CODE = {ord(NONE): "", **{ord(letter): cause for letter, cause in CAUSES.items()}}


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

    def write(self, dataset: Dataset, table: pa.Table, name: str, key_of_row: Callable[[int], str]) -> KeptReleaseFile:
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
            sha256 = hashlib.file_digest(cast("BytesIO", spool.file), "sha256").hexdigest()
            statistics = _statistics(dataset, pq.read_metadata(spool.file))
            if self._store.size(key_of(sha256)) == size:
                self.shared_bytes += size
            else:
                spool.keep(key_of(sha256))
                self.written_bytes += size
        rows = table.num_rows
        return KeptReleaseFile(name, sha256, rows, size, key_of_row(0), key_of_row(rows - 1), statistics)


def _statistics(dataset: Dataset, metadata: pq.FileMetaData) -> FileStatistics:
    """Return what readers prune by, as Delta Sharing writes it; read from the file itself."""
    statistics: FileStatistics = {"numRecords": metadata.num_rows, "minValues": {}, "maxValues": {}, "nullCount": {}}
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
            least, most = min(statistic.min for statistic in valued), max(statistic.max for statistic in valued)
            _set_ends(statistics, name, least, most)
    return statistics


def _set_ends(statistics: FileStatistics, name: str, *ends: str | float | datetime.date) -> None:
    least, most = (end.isoformat() if isinstance(end, datetime.date) else end for end in ends)
    if any(isinstance(end, str) and len(end) > _STATISTICS_CHARACTERS_MAX for end in (least, most)):
        return  # a truncated value would no longer be the greatest
    statistics["minValues"][name], statistics["maxValues"][name] = least, most
