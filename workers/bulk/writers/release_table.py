"""Files of the smaller datasets: batches in the order of their key, split as they come."""

import zlib
from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa

from shared.bulk.schema import Dataset, KeptReleaseFile
from workers.bulk.writers.release_file import ReleaseWriter, ends_of_files


def write_table(
    batches: Iterable[pa.RecordBatch],
    dataset: Dataset,
    writer: ReleaseWriter,
    progress: Callable[[int], None],
    prefix: str = "",
) -> list[KeptReleaseFile]:
    """Write a whole dataset; return its files in their order, their names with the prefix before the number."""
    files: list[KeptReleaseFile] = []
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
