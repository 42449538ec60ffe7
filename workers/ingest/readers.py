"""Files of any of three forms as batches of text columns: CSV, NDJSON, Parquet; plain, gzip or zstd. Flat memory."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from shared.errors import LoadRefused
from workers.ingest.batches import Batch
from workers.ingest.mapping import Mapping
from workers.ingest.read_csv import read_csv
from workers.ingest.read_ndjson import read_ndjson
from workers.ingest.text_stream import TextStream

UNPACKED_BYTES_MAX = 1 << 36
_BLOCK_BYTES = 16 * 1024 * 1024
_PARQUET = b"PAR1"


def read(
    path: Path,
    mapping: Mapping,
    *,
    batch_rows: int,
    told: Callable[[int], None] = lambda done: None,
    unpacked_bytes_max: int = UNPACKED_BYTES_MAX,
) -> Iterator[Batch]:
    """Read a file in batches; `told` is called with the number of bytes read so far.

    Raises LoadRefused where the file is broken, empty, too large when unpacked, or lacks one of the columns.
    """
    try:
        yield from _read(path, mapping, batch_rows, told, unpacked_bytes_max)
    except LoadRefused as error:
        raise LoadRefused(str(error) if path.name in str(error) else f"{path.name}: {error}") from None
    except (OSError, pa.ArrowException, EOFError) as error:
        raise LoadRefused(f"{path.name}: the file is broken: {str(error).splitlines()[0][:300]}") from None


def _read(
    path: Path, mapping: Mapping, batch_rows: int, told: Callable[[int], None], unpacked_bytes_max: int
) -> Iterator[Batch]:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(4)
        file.seek(0)
        if not head:
            raise LoadRefused(f"{path.name}: the file is empty")
        if head == _PARQUET:
            batches = _parquet(path, mapping.columns, batch_rows, unpacked_bytes_max)
        else:
            stream = TextStream(path.name, file, mapping.encoding, unpacked_bytes_max)
            inner = path.name.removesuffix(".gz").removesuffix(".zst")
            if inner.endswith((".ndjson", ".jsonl")):
                batches = read_ndjson(path.name, stream, mapping, batch_rows)
            else:
                batches = read_csv(path.name, stream, mapping, _BLOCK_BYTES)
        for batch in batches:
            told(min(file.tell(), size))
            yield batch
    told(size)


def _parquet(path: Path, columns: tuple[str, ...], batch_rows: int, unpacked_bytes_max: int) -> Iterator[Batch]:
    file = pyarrow.parquet.ParquetFile(path)
    groups = (file.metadata.row_group(n).total_byte_size for n in range(file.metadata.num_row_groups))
    if sum(groups) > unpacked_bytes_max:
        raise LoadRefused(f"unpacks to more than {unpacked_bytes_max:,} bytes (INGEST_UNPACKED_BYTES_MAX)")
    missing = [column for column in columns if column not in file.schema_arrow.names]
    if missing:
        raise LoadRefused(
            f"{path.name}: has no column {missing[0]!r}; it has {', '.join(file.schema_arrow.names)[:500]}"
        )
    line = 1
    for record_batch in file.iter_batches(batch_size=batch_rows, columns=list(columns)):
        listed = {n: _kept(c) for n, c in zip(record_batch.schema.names, record_batch.columns, strict=True)}
        yield Batch(listed, range(line, line + record_batch.num_rows))
        line += record_batch.num_rows


def _kept(column: Any) -> Any:
    """Keep days, times and decimals as they are, dictionaries as dictionaries of text; the rest becomes text."""
    kind = column.type
    if pa.types.is_date32(kind) or pa.types.is_timestamp(kind) or pa.types.is_decimal128(kind):
        return column
    if pa.types.is_dictionary(kind):
        return column.cast(pa.dictionary(pa.int32(), pa.string()))
    return column.cast(pa.string())
