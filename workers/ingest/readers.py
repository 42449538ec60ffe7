"""Files of any of three forms as batches of text columns: CSV, NDJSON, Parquet; plain, gzip or zstd. Flat memory."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

from shared.errors import LoadRefused
from workers.ingest.batches import Batch
from workers.ingest.buffers import DEFAULT_BUFFERS
from workers.ingest.mapping import Mapping
from workers.ingest.read_csv import read_csv
from workers.ingest.read_ndjson import read_ndjson
from workers.ingest.read_parquet import read_parquet
from workers.ingest.text_stream import TextStream

UNPACKED_BYTES_MAX = 1 << 36
_PARQUET = b"PAR1"


def read(
    path: Path,
    mapping: Mapping,
    *,
    batch_rows: int,
    report_progress: Callable[[int], None] = lambda done: None,
    unpacked_bytes_max: int = UNPACKED_BYTES_MAX,
    block_bytes: int = DEFAULT_BUFFERS.block_bytes,
) -> Iterator[Batch]:
    """Read a file in batches; `report_progress` is called with the number of bytes read so far.

    Raises LoadRefused where the file is broken, empty, too large when unpacked, or lacks one of the columns.
    """
    try:
        yield from _read(path, mapping, batch_rows, report_progress, unpacked_bytes_max, block_bytes)
    except LoadRefused as error:
        raise LoadRefused(str(error) if path.name in str(error) else f"{path.name}: {error}") from None
    except (OSError, pa.ArrowException, EOFError) as error:
        raise LoadRefused(f"{path.name}: the file is broken: {str(error).splitlines()[0][:300]}") from None


def read_all(
    files: list[Path], mapping: Mapping, report_progress: Callable[[int], None], **options: int
) -> Iterator[tuple[Path, Batch]]:
    """Read files one after the other, as `read` does each; `report_progress` hears the bytes read of all of them."""
    before = 0
    for path in files:

        def of_all(done: int, before: int = before) -> None:
            report_progress(before + done)

        for batch in read(path, mapping, report_progress=of_all, **options):
            yield path, batch
        before += path.stat().st_size


def _read(
    path: Path,
    mapping: Mapping,
    batch_rows: int,
    report_progress: Callable[[int], None],
    unpacked_bytes_max: int,
    block_bytes: int,
) -> Iterator[Batch]:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(4)
        file.seek(0)
        if not head:
            raise LoadRefused(f"{path.name}: the file is empty")
        if head == _PARQUET:
            batches = read_parquet(path, mapping.columns, batch_rows, unpacked_bytes_max)
        else:
            stream = TextStream(path.name, file, mapping.encoding, unpacked_bytes_max)
            inner = path.name.removesuffix(".gz").removesuffix(".zst")
            if inner.endswith((".ndjson", ".jsonl")):
                batches = read_ndjson(path.name, stream, mapping, batch_rows)
            else:
                batches = read_csv(path.name, stream, mapping, block_bytes)
        for batch in batches:
            report_progress(min(file.tell(), size))
            yield batch
    report_progress(size)
