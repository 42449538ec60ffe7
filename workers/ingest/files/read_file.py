"""A file of any form as batches of text columns, read by its form."""

import itertools
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from shared.errors import LoadRefused
from workers.ingest.batches import DEFAULT_BUFFERS, Batch
from workers.ingest.files.forms import UNPACKED_BYTES_MAX, Opened, form_of, form_of_text, opened
from workers.ingest.files.mended_xml import MendedXml
from workers.ingest.files.object_batches import read_objects
from workers.ingest.files.read_cells import read_cells
from workers.ingest.files.read_csv import read_csv
from workers.ingest.files.read_json import json_rows
from workers.ingest.files.read_ndjson import read_ndjson
from workers.ingest.files.read_parquet import read_parquet
from workers.ingest.files.read_sheet import is_pattern
from workers.ingest.files.read_xml import xml_rows
from workers.ingest.files.reshape import reshape
from workers.ingest.files.text_stream import TextStream
from workers.ingest.mapping import Mapping


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

    Raises LoadRefused where the file is broken, too large when unpacked, lacks one of the columns, or has no row.
    """
    rows = 0
    with opened(path, mapping.member, unpacked_bytes_max) as (outer, found):
        size = path.stat().st_size
        for batch in read_opened(found, mapping, batch_rows=batch_rows, block_bytes=block_bytes):
            report_progress(min(outer.tell(), size))
            rows += batch.rows + len(batch.rejects)
            yield batch
        report_progress(size)
        if not rows:
            raise LoadRefused(
                f"{path.name}: has {size:,} bytes and not one row: leave the file out if nothing is missing from it, "
                "else make `delimiter`, `quote` and `encoding` of the mapping those of the file"
            )


def read_opened(
    found: Opened, mapping: Mapping, *, batch_rows: int, block_bytes: int = DEFAULT_BUFFERS.block_bytes
) -> Iterator[Batch]:
    """Read a file that is open in batches, as `read` does. It may be none that is read anew, as an archive's member."""
    batches = _batches(found, mapping, batch_rows, block_bytes)
    yield from reshape(batches, mapping.fill_down, mapping.rows_with, mapping.sections)


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


def _batches(found: Opened, mapping: Mapping, batch_rows: int, block_bytes: int) -> Iterator[Batch]:
    """Read a file by its form."""
    name = found.name
    form = mapping.form or form_of(name, found.file, found.path)
    if form not in ("parquet", "sheet"):
        # It is held until the last batch is used: Arrow closes the file with its stream.
        stream = TextStream(name, found.file, mapping.encoding, found.unpacked_bytes_max)
        form = form or form_of_text(name, stream.beginning)
    if mapping.each and form not in ("json", "ndjson"):
        raise LoadRefused(f"`each` names a list within a JSON object, and the file is {form.upper()}: leave it out")
    if mapping.mend_xml and form != "xml":
        raise LoadRefused(f"`mend_xml` is for XML, and the file is {form.upper()}: leave it out")
    if form == "parquet":
        yield from read_parquet(found.path, mapping.columns, batch_rows, found.unpacked_bytes_max)
    elif form == "sheet":
        yield from _of_sheets(found, mapping, batch_rows)
    elif form == "ndjson":
        yield from read_ndjson(name, stream, mapping, batch_rows)
    elif form == "json":
        in_list = stream.beginning.lstrip().startswith(b"[")
        yield from read_objects(name, json_rows(name, stream, mapping.records, in_list=in_list), mapping, batch_rows)
    elif form == "xml":
        if not mapping.records:
            raise LoadRefused('XML needs `records`, the path of the elements that are rows, such as "rss/channel/item"')
        text = MendedXml(stream) if mapping.mend_xml else stream
        yield from read_objects(name, xml_rows(name, text, mapping.records, _enough(mapping)), mapping, batch_rows)
    else:
        yield from read_csv(name, stream, mapping, block_bytes)


def _enough(mapping: Mapping) -> Collection[str] | None:
    """Return the columns that are enough of a file; None where all are read.

    The others are for the refusal that a column is none of them, which no column that may be missing needs.
    """
    return mapping.columns if mapping.sparse_columns.issuperset(mapping.columns) else None


def _of_sheets(found: Opened, mapping: Mapping, batch_rows: int) -> Iterator[Batch]:
    """Read the sheets that the mapping means; of several those that have any of its columns."""
    name, several = found.name, is_pattern(mapping.sheet)
    others, is_one_read = [], False
    for sheet, _, rows in found.workbook.sheets(mapping.sheet, mapping.skip_rows, _enough(mapping)):
        if not several:
            yield from read_cells(name, rows, mapping, batch_rows)
            return
        header = next((row for row in rows if row.number > mapping.skip_rows), None)
        if header is None or (mapping.columns and not {t.strip() for t in header.cells} & set(mapping.columns)):
            others.append(sheet)
            continue
        is_one_read = True
        yield from read_cells(name, itertools.chain([header], rows), mapping, batch_rows, sheet)
    if not is_one_read:
        raise LoadRefused(
            f"{name}: no sheet has one of the columns {', '.join(map(repr, mapping.columns))[:300]} in its first row "
            f"below `skip_rows`: {', '.join(map(repr, others))[:300]} are looked at"
        )
