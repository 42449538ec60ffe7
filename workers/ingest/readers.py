"""Files of any form as batches of text columns: CSV, JSON, XML, sheets, Parquet; plain, packed, or in an archive."""

import itertools
import queue
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from shared.errors import LoadRefused
from workers.ingest.batches import DEFAULT_BUFFERS, Batch, there_is, unpacks_to_more
from workers.ingest.forms import UNPACKED_BYTES_MAX, Opened, form_of, form_of_text, opened
from workers.ingest.mapping import SECTION_COLUMN, FillDown, Mapping, Sections
from workers.ingest.mended_xml import MendedXml
from workers.ingest.read_csv import read_cells, read_csv
from workers.ingest.read_json import json_rows, read_ndjson, read_objects
from workers.ingest.read_sheet import is_pattern, sheets
from workers.ingest.read_xml import xml_rows
from workers.ingest.text_stream import TextStream

# Parquet as batches of columns: days, times and decimals as they are, all else as text; members of objects by path.


_PLACE_DIGITS_MAX = 5


def read_parquet(path: Path, columns: tuple[str, ...], batch_rows: int, unpacked_bytes_max: int) -> Iterator[Batch]:
    """Read a Parquet file in batches.

    Raises LoadRefused where the file is too large when unpacked, or a column is absent, an object or a list.
    """
    file = pyarrow.parquet.ParquetFile(path)
    groups = (file.metadata.row_group(n).total_byte_size for n in range(file.metadata.num_row_groups))
    if sum(groups) > unpacked_bytes_max:
        raise LoadRefused(unpacks_to_more(unpacked_bytes_max))
    paths = {column: _path(file.schema_arrow, column) for column in columns}
    roots = list(dict.fromkeys(steps[0] for steps in paths.values()))
    line = 1
    for record_batch in file.iter_batches(batch_size=batch_rows, columns=roots):
        listed = {column: _kept(_at(record_batch, steps)) for column, steps in paths.items()}
        yield Batch(listed, range(line, line + record_batch.num_rows))
        line += record_batch.num_rows


def _path(schema: Any, column: str) -> list[str]:
    """Return the steps to a column's values: its name alone, or a name, members of objects and places in lists."""
    steps = [column] if column in schema.names else column.split(".")
    kind: Any = pa.struct(list(schema))
    for step in steps:
        kind = _step(kind, step)
        if kind is None:
            known = [name for field in schema for name in _values(field.name, field.type)]
            raise LoadRefused(f"has no column {column!r}; it has {there_is(column, known)}")
    if pa.types.is_nested(kind):
        members = ", ".join(_values(column, kind))[:500]
        raise LoadRefused(f"column {column!r} holds objects or lists; name a value of them by a path: {members}")
    return steps


def _step(kind: Any, step: str) -> Any:
    """Return the type at a member of an object or a place in a list; None where there is none."""
    if pa.types.is_struct(kind):
        position = kind.get_field_index(step)
        return kind.field(position).type if position >= 0 else None
    if _is_list(kind) and step.isascii() and step.isdigit() and len(step) <= _PLACE_DIGITS_MAX:
        return kind.value_type
    return None


def _values(name: str, kind: Any) -> Iterator[str]:
    """Yield the paths of the single values within a column; of a list its first place."""
    if pa.types.is_struct(kind):
        for member in kind:
            yield from _values(f"{name}.{member.name}", member.type)
    elif _is_list(kind):
        yield from _values(f"{name}.0", kind.value_type)
    else:
        yield name


def _at(record_batch: Any, steps: list[str]) -> Any:
    """Return the values at a path; null where an object or a list before it is null or has no such place."""
    column = record_batch.column(steps[0])
    for step in steps[1:]:
        if pa.types.is_struct(column.type):
            column = pc.struct_field(column, step)
        else:
            # Arrow refuses a place behind a list's end; a slice of fixed size has null there.
            position = int(step)
            column = pc.list_element(pc.list_slice(column, position, position + 1, return_fixed_size_list=True), 0)
    return column


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _kept(column: Any) -> Any:
    """Keep days, times and decimals as they are, dictionaries as dictionaries of text; the rest becomes text."""
    kind = column.type
    if pa.types.is_date32(kind) or pa.types.is_timestamp(kind) or pa.types.is_decimal128(kind):
        return column
    if pa.types.is_dictionary(kind):
        if len(column.dictionary) > len(column):
            # A dictionary is that of a whole group of rows: with millions of items, each batch would clean all of them.
            column = pc.dictionary_encode(column.dictionary_decode())
        return column.cast(pa.dictionary(pa.int32(), pa.string()))
    return column.cast(pa.string())


# Making the next batches in a thread while the server takes the last one: both then have a core.


T = TypeVar("T")
_READ_AHEAD = 4
_STOP_SECONDS = 0.1
# The thread that sends to the server needs the interpreter for moments only: with the usual 5 ms it waits longer
# than it sends.
_SWITCH_SECONDS = 0.0005


def alternating(first: Iterator[T], second: Iterator[T]) -> Iterator[T]:
    """Yield what is made of two kinds in turn, the first of the first kind, and then the rest of the longer one."""
    for item in first:
        yield item
        yield from itertools.islice(second, 1)
    yield from second


def prefetch(made: Iterator[T]) -> Generator[T, None, None]:
    """Yield what is made, while a thread makes the next few. The thread ends when the generator is closed."""
    switch_seconds = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    ready: queue.Queue[Any] = queue.Queue(_READ_AHEAD)
    stop = threading.Event()

    def hand_over(one: Any) -> bool:
        """Put what is next into the queue; False when the load has ended, which a full queue must not hide."""
        while not stop.is_set():
            with suppress(queue.Full):
                ready.put(one, timeout=_STOP_SECONDS)
                return True
        return False

    def work() -> None:
        end: BaseException | None = None
        try:
            for item in made:
                if not hand_over(item):
                    return
        except BaseException as error:  # noqa: BLE001 - whatever it is is raised where the values are used
            end = error
        hand_over(end)

    thread = threading.Thread(target=work, name="read-ahead", daemon=True)
    thread.start()
    try:
        while (one := ready.get()) is not None:
            if isinstance(one, BaseException):
                raise one
            yield one
    finally:
        stop.set()
        sys.setswitchinterval(switch_seconds)
        thread.join()


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
        batches = _batches(found, mapping, batch_rows, unpacked_bytes_max, block_bytes)
        for batch in reshaped(batches, mapping.fill_down, mapping.rows_with, mapping.sections):
            report_progress(min(outer.tell(), size))
            rows += batch.rows + len(batch.rejects)
            yield batch
        report_progress(size)
        if not rows:
            raise LoadRefused(
                f"{path.name}: has {size:,} bytes and not one row: leave the file out if nothing is missing from it, "
                "else make `delimiter`, `quote` and `encoding` of the mapping those of the file"
            )


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


def _batches(
    found: Opened, mapping: Mapping, batch_rows: int, unpacked_bytes_max: int, block_bytes: int
) -> Iterator[Batch]:
    """Read a file by its form."""
    name, path = found.name, found.path
    form = mapping.form or form_of(name, found.file, path)
    if form not in ("parquet", "sheet"):
        # It is held until the last batch is used: Arrow closes the file with its stream.
        stream = TextStream(name, found.file, mapping.encoding, unpacked_bytes_max)
        form = form or form_of_text(name, stream.beginning)
    if mapping.each and form not in ("json", "ndjson"):
        raise LoadRefused(f"`each` names a list within a JSON object, and the file is {form.upper()}: leave it out")
    if mapping.mend_xml and form != "xml":
        raise LoadRefused(f"`mend_xml` is for XML, and the file is {form.upper()}: leave it out")
    if form == "parquet":
        yield from read_parquet(path, mapping.columns, batch_rows, unpacked_bytes_max)
    elif form == "sheet":
        yield from _of_sheets(name, path, mapping, batch_rows, unpacked_bytes_max)
    elif form == "ndjson":
        yield from read_ndjson(name, stream, mapping, batch_rows)
    elif form == "json":
        in_list = stream.beginning.lstrip().startswith(b"[")
        yield from read_objects(name, json_rows(name, stream, mapping.records, in_list=in_list), mapping, batch_rows)
    elif form == "xml":
        if not mapping.records:
            raise LoadRefused('XML needs `records`, the path of the elements that are rows, such as "rss/channel/item"')
        text = MendedXml(stream) if mapping.mend_xml else stream
        yield from read_objects(name, xml_rows(name, text, mapping.records), mapping, batch_rows)
    else:
        yield from read_csv(name, stream, mapping, block_bytes)


def _of_sheets(name: str, path: Path, mapping: Mapping, batch_rows: int, unpacked_bytes_max: int) -> Iterator[Batch]:
    """Read the sheets that the mapping means; of several those that have any of its columns."""
    several = is_pattern(mapping.sheet)
    others, is_one_read = [], False
    for sheet, _, rows in sheets(path, mapping.sheet, unpacked_bytes_max, mapping.skip_rows):
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


def reshaped(
    batches: Iterator[Batch], fill_down: FillDown | None, needed: str, sections: Sections | None = None
) -> Iterator[Batch]:
    """Take headings out, fill cells down, leave out the rows without a value in a column; each where it is given."""
    batches = batches if sections is None else with_sections(batches, sections)
    batches = batches if fill_down is None else filled_down(batches, fill_down)
    return rows_with(batches, needed) if needed else batches


def with_sections(batches: Iterator[Batch], rule: Sections) -> Iterator[Batch]:
    """Give each row the heading above it as a column, and leave the headings out."""
    heading, sheet = None, None
    for batch in batches:
        if batch.sheet != sheet:  # no row has a heading of another sheet
            heading, sheet = None, batch.sheet
        texts = _trimmed(batch.columns[rule.column])
        others = zip(*(_trimmed(batch.columns[name]) for name in rule.without), strict=True)
        kept, headings = [], []
        for text, cells in zip(texts, others, strict=True):
            is_heading = bool(text) and not any(cells)
            heading = text if is_heading else heading
            kept.append(not is_heading)
            headings.append(heading)
        chosen = pa.array(kept, pa.bool_())
        columns = batch.columns | {SECTION_COLUMN: pa.array(headings, pa.string())}
        lines = [line for line, is_kept in zip(batch.lines, kept, strict=True) if is_kept]
        yield Batch(
            {name: values.filter(chosen) for name, values in columns.items()}, lines, batch.rejects, batch.sheet
        )


def _trimmed(values: Any) -> list[str]:
    texts: list[str] = pc.utf8_trim_whitespace(pc.fill_null(values.cast(pa.string()), "")).to_pylist()
    return texts


def filled_down(batches: Iterator[Batch], rule: FillDown) -> Iterator[Batch]:
    """Give empty cells the value of the row above that has one, as long as `within` is the same, or filled itself."""
    above: dict[str, tuple[Any, Any]] = {}
    last, sheet = None, None
    for batch in batches:
        if batch.sheet != sheet:  # no row has a value of another sheet
            above, last, sheet = dict.fromkeys(rule.columns, (None, None)), None, batch.sheet
        groups = batch.columns[rule.within].to_pylist()
        if rule.within in rule.columns:
            groups = [last := group or last for group in groups]
        for name in rule.columns:
            group, value = above[name]
            filled = []
            for own_group, own in zip(groups, batch.columns[name].to_pylist(), strict=True):
                if own not in (None, "") or own_group != group:
                    group, value = own_group, own
                filled.append(value)
            above[name] = (group, value)
            batch.columns[name] = pa.array(filled, batch.columns[name].type)
        yield batch


def rows_with(batches: Iterator[Batch], column: str) -> Iterator[Batch]:
    """Leave out the rows that have no value in a column."""
    for batch in batches:
        texts = pc.utf8_trim_whitespace(pc.fill_null(batch.columns[column].cast(pa.string()), ""))
        kept = pc.not_equal(texts, "")
        lines = [line for line, is_kept in zip(batch.lines, kept.to_pylist(), strict=True) if is_kept]
        columns = {name: values.filter(kept) for name, values in batch.columns.items()}
        yield Batch(columns, lines, batch.rejects, batch.sheet)
