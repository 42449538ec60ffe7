"""A mapping and the rows that a file has by it, for tests of readers."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workers.ingest.batches import Batch
from workers.ingest.files import read_file
from workers.ingest.files.read_sheet import Workbook
from workers.ingest.mapping import Mapping
from workers.ingest.mapping import read as read_mapping

HEAD = 'source = "s"\ntitle = "T"\nlicense = "L"\n'

TEXT = 'source = "s"\ntitle = "T"\nlicense = "L"\n[item]\nid = "id"\nname = "name"\nbrand = "brand"\n'


def a_mapping(folder: Path, text: str = TEXT, before: str = "") -> Mapping:
    path = folder / "m.toml"
    path.write_text(before + text)
    return read_mapping(path)


def rows_of(path: Path, mapping: Mapping, **options: Any) -> tuple[list[tuple[int, ...]], list[tuple[int, str]]]:
    """Read a file; return its rows with their lines first, and the rejects' lines and reasons."""
    return gathered(read_file.read(path, mapping, batch_rows=1_000, **options))


def gathered(batches: Iterable[Batch]) -> tuple[list[tuple[int, ...]], list[tuple[int, str]]]:
    """Return the rows of batches as `rows_of` does."""
    rows, rejects = [], []
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns.values()]
        rows += list(zip([int(line) for line in batch.lines], *columns, strict=True))
        rejects += [(reject.line, reject.reason) for reject in batch.rejects]
    return rows, sorted(rejects)


def cells_of(path: Path) -> list[list[str]]:
    """Return the texts of the one sheet with rows of a workbook."""
    [rows] = ([*one.rows] for one in Workbook(path, 1 << 24).sheets(""))
    return [row.cells for row in rows]


def put(folder: Path, content: str | bytes, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
