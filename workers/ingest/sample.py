"""The beginning of a file of any form as rows of text, with the keys of a mapping that say how the file is written.

Rows come from the readers of a load, so that what is guessed is what a load reads.
"""

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet

from shared.errors import LoadRefused
from shared.printable import many
from workers.ingest.column_names import is_price_on_request
from workers.ingest.encodings import encoding_of
from workers.ingest.forms import UNPACKED_BYTES_MAX, Opened, form_of, form_of_text, opened
from workers.ingest.mapping import SECTION_COLUMN
from workers.ingest.mended_xml import MendedXml, mended_in
from workers.ingest.number_formats import number_formats
from workers.ingest.read_csv import SHEET_COLUMN, SWALLOWS, Block, Records
from workers.ingest.read_json import Constant, json_rows, line_objects, list_path, member_paths, spread
from workers.ingest.read_sheet import SeveralSheets, SheetRow, SheetRows, is_pattern, sheets
from workers.ingest.read_xml import row_path, xml_rows
from workers.ingest.text_stream import ByteStream, TextStream

SAMPLE_BYTES = 1 << 20
SAMPLE_ROWS = 1_000
COLUMNS_MAX = 2_000
_HEADINGS_MIN = 2
_SHEETS_ROWS_MAX = 4 * SAMPLE_ROWS
_FIRST_BYTES = 1 << 9
_HEADER_ROWS_MAX = 50
_DELIMITERS = (",", ";", "\t", "|", "~", "^", "\x01", "\x1f")
_STATED_BYTES = 16
_HEADER_COUNTS = 0.1
_STATED = re.compile(r'"?sep=(.)"?(?:\r\n|\n|\r)', re.IGNORECASE)
_VALUE = re.compile(r"[-+]?[\d.,' ]*\d[\d.,' ]*%?|\d{1,4}[-./]\d{1,2}[-./]\d{1,4}.*", re.ASCII)
_DATED = re.compile(r"(?:19|20)\d\d-[01]\d-[0-3]\d", re.ASCII)
_QUOTED_DAY = re.compile(r'"[0-9]{4}-[0-9]{2}-[0-9]{2}[^"]*"$', re.ASCII)
_ROWS_BELOW_MIN = 3
_EXPLAINING_MAX = 10
_EXPLAINED_MIN = 2
# What programs write where a value is missing.
NOTHING = frozenset((*"NULL null Null (null) N/A n/a #N/A NaN nan".split(), "\\N", "-", "Does not apply"))
_MACHINE_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*(?:[\[#.].*)?")

_PRICED = re.compile("price", re.IGNORECASE)

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Sample:
    """The first rows of a file: of each the cells that are not empty, and its line."""

    columns: tuple[str, ...]
    rows: list[Row]
    lines: list[int]
    form: dict[str, Any] = field(default_factory=dict)
    """The keys of a mapping with which a load reads the file."""
    doubts: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()
    """Columns that the header names more than once: no mapping can name them."""
    header: int = 1
    """The line that names the columns."""
    titles: tuple[str, ...] = ()
    """The texts of the lines above the header, such as the day and the currency of a price list."""
    formats: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The number formats of a sheet's columns, which may be the only place that has the currency."""
    formulas: frozenset[str] = frozenset()
    """Columns in which programs write ="007" to keep a spreadsheet from taking a code for a number; here it is 007."""
    marked_up: frozenset[str] = frozenset()
    """Columns of texts that have entities or tags of HTML in some row of the file."""
    repeated: frozenset[str] = frozenset()
    """Columns with another cell in each of these rows, and none or an earlier one in a row further down."""
    filled_below: frozenset[str] = frozenset()
    """Columns that have no cell in these rows, and some further down."""

    def values(self, column: str) -> list[str]:
        """Return the cells of a column that are not empty."""
        return [row[column] for row in self.rows if column in row]


def sample(path: Path, *, member: str = "", sheet: str = "", unpacked_bytes_max: int = UNPACKED_BYTES_MAX) -> Sample:
    """Read the beginning of a file. Raises LoadRefused where it is empty or broken, or nothing can be made of it."""
    with opened(path, member, unpacked_bytes_max) as (_, found):
        read = _of_form(found, sheet, unpacked_bytes_max)
    if not read.rows:
        below = f" below line {read.header}, which seems to name the columns" if read.header > 1 else ""
        raise LoadRefused(f"{path.name}: the file has no row{below}")
    if member:
        read.form["member"] = member
    return read


def _of_form(found: Opened, sheet: str, unpacked_bytes_max: int) -> Sample:
    form = form_of(found.name, found.file, found.path)
    if form == "parquet":
        return _of_parquet(found)
    if form == "sheet":
        return _of_workbook(found.path, sheet, unpacked_bytes_max)
    with ExitStack() as files:

        def stream(encoding: str) -> TextStream:
            file = files.enter_context(found.path.open("rb"))
            return TextStream(found.name, file, encoding, unpacked_bytes_max)

        return _of_text(found.name, stream)


def _of_workbook(path: Path, sheet: str, unpacked_bytes_max: int) -> Sample:
    """Return the rows of a sheet; of several with the same columns as one table. Raises LoadRefused otherwise."""
    if is_pattern(sheet):
        return _one_table(path, _parts(path, sheet, unpacked_bytes_max), sheet)
    try:
        [only] = _parts(path, sheet, unpacked_bytes_max)
    except SeveralSheets as error:
        try:
            return _one_table(path, _parts(path, "*", unpacked_bytes_max), "*")
        except LoadRefused:
            raise error from None
    return _of_sheet(path, only, {"sheet": sheet} if sheet else {})


def _parts(path: Path, sheet: str, unpacked_bytes_max: int) -> list[SheetRows]:
    read = sheets(path, sheet, unpacked_bytes_max)
    return [one._replace(rows=iter([*itertools.islice(one.rows, SAMPLE_ROWS + _HEADER_ROWS_MAX)])) for one in read]


def _of_sheet(path: Path, sheet: SheetRows, form: dict[str, Any]) -> Sample:
    rows = [*sheet.rows]
    made = _of_cells([(row.number, row.cells) for row in rows], form)
    header = next(row.cells for row in rows if row.number == made.header)
    found = number_formats(path, sheet.name, SAMPLE_ROWS)
    formats = {
        column: found[place + sheet.left]
        for place, title in enumerate(header)
        if (column := title.strip()) in made.columns and place + sheet.left in found
    }
    return replace(made, formats=formats, doubts=(*made.doubts, *_valueless(rows)))


def _one_table(path: Path, parts: list[SheetRows], pattern: str) -> Sample:
    """Return sheets with the same columns as one table, with the name of its sheet as a column of each row.

    Raises LoadRefused where sheets have some of these columns, or other lines above them.
    """
    made = {}
    for part in parts:
        name = part.name
        with suppress(LoadRefused):  # a sheet that is no table, such as a cover
            read = _of_sheet(path, part, {"sheet": pattern})
            made[name] = replace(
                read,
                columns=(*read.columns, SHEET_COLUMN),
                rows=[row | {SHEET_COLUMN: name} for row in read.rows],
            )
    usual = Counter(frozenset(one.columns) for one in made.values()).most_common(1)
    columns = usual[0][0] if usual else frozenset()
    alike = {name: one for name, one in made.items() if columns == set(one.columns)}
    begun = {one.header for one in alike.values()}
    mixed = next(
        (name for name, one in made.items() if name not in alike and len(columns & set(one.columns)) > 1), None
    )
    if len(alike) < 2 or len(begun) > 1 or mixed is not None:
        raise LoadRefused(
            f"{path.name}: the sheets {', '.join(map(repr, made))[:300]} have other columns, or these in other lines: "
            "name one of them by `sheet` (or --sheet of `itemindex ingest guess`)"
        )
    listed = ", ".join(f'"{name[:30]}"' for name in [*alike][:3]) + (" and others" if len(alike) > 3 else "")
    doubts = [f"sheet: {len(alike)} sheets ({listed}) have the same columns and are read as one table: are they one?"]
    if others := [part.name for part in parts if part.name not in alike]:
        left_out = ", ".join(f'"{name[:30]}"' for name in others[:3])
        doubts.append(f"sheet: {many(len(others), 'sheet')} with other columns ({left_out}) not read")
    tables = [*alike.values()]
    return replace(
        tables[0],
        rows=[row for one in tables for row in one.rows][:_SHEETS_ROWS_MAX],
        lines=[line for one in tables for line in one.lines][:_SHEETS_ROWS_MAX],
        doubts=(*doubts, *dict.fromkeys(doubt for one in tables for doubt in one.doubts)),
    )


def _valueless(rows: list[SheetRow]) -> Iterator[str]:
    """Say which cells of a sheet have no value although they are not empty, for each reason."""
    faults = [fault for row in rows for fault in row.faults.values()]
    for reason in dict.fromkeys(fault.reason for fault in faults):
        values = [fault.value for fault in faults if fault.reason == reason]
        shown = (
            f"{many(len(values), 'cell')} {'has' if len(values) == 1 else 'have'} no value, such as {values[0][:40]}"
        )
        yield f"columns: {shown}, which {reason}. Rows with such a cell in a column of the mapping are rejected"


def _of_text(name: str, stream: Callable[[str], TextStream]) -> Sample:
    """Read the rows of a text; `stream` begins it anew in an encoding."""
    raw = _beginning(stream("utf-8"))
    if not raw.strip():
        raise LoadRefused("the file is empty")
    encoding, doubt = encoding_of(raw, lambda: stream("utf-8"))
    if b"\0" in raw[:_FIRST_BYTES] and not encoding.startswith("utf-16"):
        raise LoadRefused("the file is not text, nor in another form that can be read; export it as CSV, JSON or XLSX")
    keys = {"encoding": encoding} if encoding != "utf-8" else {}
    form = form_of_text(name, stream(encoding).beginning)
    if form == "xml":
        made = _of_xml(name, lambda: stream(encoding))
    elif form == "json":
        made = _of_json(name, lambda: stream(encoding))
    elif form == "ndjson":
        made = _of_objects(line_objects(name, io.BytesIO(_beginning(stream(encoding))), []), {})
        if not made.rows:
            raise LoadRefused("no line of the file's beginning is a JSON object")
        if len(made.rows) == 1 and not name.endswith((".ndjson", ".jsonl")):  # a whole document on one line
            document = _of_json(name, lambda: stream(encoding))
            if document.form:
                document.form["form"] = "json"
                made = document
    else:
        text = stream(encoding)
        begun = _beginning(text)
        made = _of_csv(begun, whole=len(begun) < SAMPLE_BYTES or not text.read(1))
    return replace(made, form=keys | made.form, doubts=(*([f"encoding: {doubt}"] if doubt else []), *made.doubts))


def _beginning(stream: ByteStream) -> bytes:
    raw = b""
    while len(raw) < SAMPLE_BYTES and (chunk := stream.read(SAMPLE_BYTES)):
        raw += chunk
    return raw[:SAMPLE_BYTES]


def _of_parquet(found: Opened) -> Sample:
    batches = pyarrow.parquet.ParquetFile(found.path).iter_batches(SAMPLE_ROWS)  # each ends with its row group
    rows = itertools.chain.from_iterable(batch.to_pylist() for batch in batches)
    try:
        return _of_objects(enumerate(rows, 1), {}, lists=False)
    except (OverflowError, ValueError) as error:  # Python has no days after 9999, and no nanoseconds
        raise LoadRefused(f"a day or a time cannot be read: {str(error)[:200]}") from None


def _of_xml(name: str, stream: Callable[[], TextStream]) -> Sample:
    mended = mended_in(stream())

    def text() -> ByteStream:
        return MendedXml(stream()) if mended else stream()

    at = row_path(name, text())
    made = _of_objects(
        map(_by_name, xml_rows(name, text(), at)), {"records": at} | ({"mend_xml": True} if mended else {})
    )
    said = f"mend_xml: the file is no well-formed XML: {mended} are mended; is the text right in the first rows?"
    return replace(made, doubts=(said, *made.doubts)) if mended else made


def _of_json(name: str, stream: Callable[[], TextStream]) -> Sample:
    """Read the objects of a document: those of its list of products, unless the document itself is the item."""

    def rows(path: str, *, in_list: bool) -> Sample:
        found = json_rows(name, stream(), path, in_list=in_list)
        return _of_objects(found, {"records": path} if path else {})

    if stream().beginning.lstrip().startswith(b"["):
        return rows("", in_list=True)
    return rows(list_path(name, stream()), in_list=False)


def _by_name(numbered: tuple[int, Row]) -> tuple[int, Row]:
    """Leave out the places of parts that a row has by their names: in another row another part stands there."""
    number, row = numbered
    pairs = {column.removesuffix(".@name") for column in row if column.endswith(".@name")}
    named = {place for place in pairs if f"{re.sub(r'[.][0-9]+$', '', place)}[{row[f'{place}.@name']}]" in row}
    return number, {
        column: text
        for column, text in row.items()
        if column not in named and column.removesuffix(".@name") not in named
    }


def _of_objects(objects: Iterable[tuple[int, dict[str, Any]]], form: dict[str, Any], *, lists: bool = True) -> Sample:
    """Return objects as rows: each value under the path of its member.

    `lists`: where only the members of a list have prices, each of them is a row, as `each` of a mapping makes them.
    """
    columns: dict[str, None] = {}
    rows, lines = [], []
    begun = list(itertools.islice(objects, SAMPLE_ROWS))
    each = _list_with_prices([row for _, row in begun]) if lists else ""
    form = form | ({"each": each} if each else {})
    members = ((number, one) for number, row in begun for one in spread(row, each))
    for number, row in itertools.islice(members, SAMPLE_ROWS):
        flat = {path: value for path, value in member_paths(row) if not isinstance(value, dict | list | Constant)}
        columns.update(dict.fromkeys(itertools.islice(flat, max(0, COLUMNS_MAX - len(columns)))))
        rows.append({name: text for name, value in flat.items() if value is not None and (text := str(value).strip())})
        lines.append(number)
    filled = {name for row in rows for name in row}
    objects_met = {name.rpartition(".")[0] for name in columns}  # such a one is null in some rows
    return Sample(tuple(name for name in columns if name in filled or name not in objects_met), rows, lines, form)


def _list_with_prices(objects: list[dict[str, Any]]) -> str:
    """Return the list whose members have prices where the objects around it have none; an empty text without one."""
    names = dict.fromkeys(name for one in objects for name in one)
    if any(map(_PRICED.search, names)):
        return ""
    for name in names:
        found = [one[name] for one in objects if isinstance(one.get(name), list)]
        members = {key for listed in found for member in listed if isinstance(member, dict) for key in member}
        if any(len(listed) > 1 for listed in found) and any(map(_PRICED.search, members)):
            return name
    return ""


def _of_csv(text: bytes, *, whole: bool) -> Sample:
    """Return the rows of a CSV as a load reads them; `whole` says that nothing follows the text."""
    stated = _STATED.match(text[:_STATED_BYTES].decode("utf-8", "replace"))
    first = 2 if stated else 1
    body = text[len(stated[0].encode()) :] if stated else text
    delimiter, quote, escape = _dialect(body, (stated[1],) if stated else _DELIMITERS, whole=whole)
    records = Records(delimiter, quote, escape)
    # The width of most rows, by which a load knows of a quotation mark that swallows the rows behind it.
    records.columns = _usual_width(records, _split(records, body, first, whole=whole))
    block = _split(records, body, first, whole=whole)
    # An empty line is none of the block's, though it may stand among its records.
    filled = filter(None, records.rows(block.records.decode("utf-8", "replace")))
    read = zip(block.lines.tolist(), filled, strict=True)
    rows = [
        (line, [cell.strip() for cell in cells])
        for line, cells in itertools.islice(read, SAMPLE_ROWS + _HEADER_ROWS_MAX)
        if any(cell.strip() for cell in cells)
    ]
    _drop_surplus(rows)
    form = {"delimiter": delimiter} if delimiter != "," else {}
    form |= {"quote": ""} if not quote else {}
    form |= {"escape": escape} if escape else {}
    made = _of_cells(rows, form, whole_rows=True)
    return replace(made, doubts=(*_unreadable(block, whole=whole), *made.doubts))


def _split(records: Records, text: bytes, first: int, *, whole: bool) -> Block:
    """Split a text; the record in which a beginning ends belongs to what follows, but not most of the beginning."""
    block = records.split(text, first, final=whole)
    return block if whole or 2 * block.rest > len(text) else records.split(text, first, final=True)


def _unreadable(block: Block, *, whole: bool) -> Iterator[str]:
    """Say which lines are no records, and how those are read that may be text within a cell."""
    where = "" if whole else " of the beginning"
    if swallowed := [(line, text) for line, why, text in block.faults if why == SWALLOWS]:
        yield (
            f"cells_span_lines: {_lines_shown(swallowed, where)}: they look like rows, and stand within a quoted cell. "
            "They are rejected; cells_span_lines = true takes them for the text of that cell"
        )
    if open_cells := [(line, text) for line, why, text in block.faults if why != SWALLOWS]:
        yield (
            f"quote: {_lines_shown(open_cells, where)}: a quotation mark opens a cell there and does not close it, and "
            "they are rejected"
        )


def _lines_shown(lines: list[tuple[int, bytes]], where: str) -> str:
    line, text = lines[0]
    shown = " ".join(text.decode("utf-8", "replace").split())[:60]
    return f'{many(len(lines), "line")}{where}, such as line {line} "{shown}"'


def _usual_width(records: Records, block: Block) -> int:
    widths = Counter(map(len, records.rows(block.records.decode("utf-8", "replace"))))
    return max(widths.items(), key=lambda one: (one[0] > 1, one[1], one[0]), default=(0, 0))[0]


def _drop_surplus(rows: list[tuple[int, list[str]]]) -> None:
    """Drop the empty cell behind the delimiter with which each line ends, except that of the header."""
    while rows:
        usual, _ = Counter(len(cells) for _, cells in rows).most_common(1)[0]
        wide = [cells for _, cells in rows if len(cells) == usual]
        ended = [cells for cells in wide if not cells[-1]]
        if usual == 1 or wide[0][-1] or 2 * len(ended) <= len(wide):
            return
        for cells in ended:
            cells.pop()


def _dialect(text: bytes, delimiters: tuple[str, ...], *, whole: bool) -> tuple[str, str, str]:
    """Return the delimiter, the quotation mark and what escapes it with which most of the text is rows of one width."""
    quotes = [('"', "")] + ([("", "")] if b'"' in text else []) + ([('"', "\\")] if b'\\"' in text else [])
    marks = [mark for mark in delimiters if mark.encode() in text] or list(delimiters[:1])
    fits = {(mark, *quote): _fits(text, mark, *quote, whole=whole) for mark in marks for quote in quotes}
    quoted = [max(((mark, *quote) for quote in quotes), key=lambda form: fits[form].share) for mark in marks]
    return max(quoted, key=lambda form: fits[form].cells)


class _Fit(NamedTuple):
    """The share of rows of the usual width, and that of the text in them, times their cells.

    The first decides how cells are quoted: the lines of long texts are more than the rows, and have commas too. The
    second decides what separates them: each row may have just one decimal comma, and each line of a long text another
    mark.
    """

    share: float = 0.0
    cells: float = 0.0


def _fits(text: bytes, delimiter: str, quote: str, escape: str, *, whole: bool) -> _Fit:
    form = Records(delimiter, quote, escape)
    block = _split(form, text, 1, whole=whole)
    widths: Counter[int] = Counter()
    sizes: Counter[int] = Counter()
    first = 0
    try:
        for cells in form.rows(block.records.decode("utf-8", "replace")):
            first = first or len(cells)
            widths[len(cells)] += 1
            sizes[len(cells)] += sum(map(len, cells)) + len(cells)
    except csv.Error:
        return _Fit()
    widths.pop(0, None)
    width, rows = max(widths.items(), key=lambda one: (one[0] > 1, one[1], one[0]), default=(0, 0))
    alike = max(0, rows - 2 * len(block.faults)) if width > 1 else 0
    share = alike / max(1, widths.total())
    # A header of another width than the rows says more than a row.
    return _Fit(share + _HEADER_COUNTS * (first == width), share * width * sizes[width] / max(1, sizes.total()))


def _of_cells(rows: list[tuple[int, list[str]]], form: dict[str, Any], *, whole_rows: bool = False) -> Sample:
    """Return rows of cells whose header may stand below titles.

    `whole_rows`: all rows of the table have as many cells, as in a CSV; a sheet's rows are filled up.
    """
    if not rows:
        raise LoadRefused("the file is empty")
    places = {place for _, cells in rows for place, cell in enumerate(cells) if _is_formula(cell)}
    if places:
        rows = [(number, [cell[2:-1] if _is_formula(cell) else cell for cell in cells]) for number, cells in rows]
    if dated := _quoted_days(rows):
        places |= dated
        rows = [(number, [c.strip('"') if n in dated else c for n, c in enumerate(cells)]) for number, cells in rows]
    at = _lowest_header(rows, _header_at(rows, whole_rows=whole_rows))
    line, header = rows[at][0], [title.strip() for title in rows[at][1]]
    if len(header) > COLUMNS_MAX:
        raise LoadRefused(f"the header has {len(header):,} columns; {COLUMNS_MAX:,} are read at most")
    doubts = []
    titles = tuple(title for _, cells in rows[:at] if (title := " ".join(filter(None, cells))))
    if at:
        form = form | {"skip_rows": line - 1}
        above = "; ".join(titles)[:100]
        doubts.append(f'skip_rows: the header is in line {line}, below "{above}"')
    named = [title for title in header if title]
    values = [title for title in named if _VALUE.fullmatch(title)]
    if len(values) > len(named) / 2 and not all(map(_DATED.fullmatch, values)):
        raise LoadRefused(
            f'line {line} should name the columns, and has "{values[0]}": add a line with their names above the rows'
        )
    below = rows[at + 1 : at + 1 + SAMPLE_ROWS]
    if further := _names_too(below):
        names = below[0][0]
        doubts.append(
            f'skip_rows: line {names} seems to name the columns too, as in "{further[0][:40]}": if so, make one line '
            f"of both in the file, or write skip_rows = {names - 1} to have the names of line {names}"
        )
    if explaining := _explaining(below):
        first_row = below[explaining][0]
        form = form | {"first_row": first_row}
        text = next(filter(None, below[explaining - 1][1]))
        doubts.append(
            f'first_row: what is between the header and line {first_row}, such as "{text[:40]}", seems to explain the '
            "columns, and is not read"
        )
        below = below[explaining:]
    times = Counter(named)
    twice = tuple(name for name, count in times.items() if count > 1)
    columns = tuple(name for name in dict.fromkeys(named) if name not in twice)
    kept, lines = [], []
    for number, cells in below:
        cells_named = zip(header, cells, strict=False)
        kept.append({name: cell.strip() for name, cell in cells_named if cell.strip() and name and name not in twice})
        lines.append(number)
    for name in twice:
        shown = [
            next((cells[n] for _, cells in below if n < len(cells) and cells[n]), "")
            for n, title in enumerate(header)
            if title == name
        ]
        examples = " and ".join(f'"{text[:30]}"' for text in shown)
        doubts.append(
            f'columns: {times[name]} columns are called "{name}" ({examples}): rename all but one in the file to use it'
        )
    formulas = frozenset(header[place] for place in places if place < len(header))
    if found := _sections(kept):
        column, others = found
        form = form | {"sections": {"column": column, "without": [name for name in columns if name in others]}}
        headings = [row.get(column, "") if len(row) == 1 else "" for row in kept]
        heads: list[str] = []
        for text in headings:
            heads.append(text or (heads[-1] if heads else ""))
        listed = [text for text in headings if text]
        doubts.append(
            f'sections: {len(listed):,} rows with a text in "{column[:60]}" alone, such as "{listed[0][:40]}", are '
            f"taken for headings of the rows below them, which have them as {SECTION_COLUMN}: are they?"
        )
        rest = [place for place, text in enumerate(headings) if not text]
        kept = [kept[place] | ({SECTION_COLUMN: heads[place]} if heads[place] else {}) for place in rest]
        lines = [lines[place] for place in rest]
        columns = (*columns, SECTION_COLUMN)
    return Sample(columns, kept, lines, form, tuple(doubts), twice, line, titles, formulas=formulas)


def _quoted_days(rows: list[tuple[int, list[str]]]) -> set[int]:
    """Return the places of columns whose cells are days within quotation marks, as JSON writes a text."""
    places = {n for _, cells in rows for n, cell in enumerate(cells) if _QUOTED_DAY.match(cell)}
    below = {n: [cells[n] for _, cells in rows[1:] if n < len(cells) and cells[n]] for n in places}
    return {n for n, cells in below.items() if all(map(_QUOTED_DAY.match, cells))}


def _sections(rows: list[Row]) -> tuple[str, set[str]] | None:
    """Return the column of headings among rows, each its only cell, and the columns that other rows have; or None."""
    headings = [row for row in rows if len(row) == 1]
    others = [row for row in rows if len(row) > 1]
    usual = Counter(len(row) for row in others).most_common(1)
    if len(headings) < _HEADINGS_MIN or not usual or usual[0][0] < _ROWS_BELOW_MIN or len(rows[0]) != 1:
        return None
    column = next(iter(headings[0]))
    if any(column not in row for row in headings) or len(headings) > len(others):
        return None
    return column, {name for row in others for name in row} - {column}


def _is_formula(cell: str) -> bool:
    return cell.startswith('="') and len(cell) > len('=""') and cell.find('"', 2) == len(cell) - 1


def _lowest_header(rows: list[tuple[int, list[str]]], at: int) -> int:
    """Return the place of the line below a header that has the names by which programs know the columns; else its own.

    Templates for uploads have titles for people above such a line.
    """
    below = rows[at + 1 : at + 2 + SAMPLE_ROWS]
    names = _names_too(below)
    are_for_programs = any(re.search("[_-]", name) for name in names) and all(
        _MACHINE_NAME.fullmatch(cell) for cell in below[0][1] if cell
    )
    return at + 1 if are_for_programs else at


def _names_too(below: list[tuple[int, list[str]]]) -> list[str]:
    """Return the texts of the row below a header where all further rows have numbers or days; none where it has one."""
    if len(below) < _ROWS_BELOW_MIN:
        return []
    first, lowest = below[0][1], _lowest_texts(below)
    if any(first[place] for place, at in lowest.items() if at < 0 and place < len(first)):
        return []
    texts = [first[place] for place, at in lowest.items() if at == 0]
    # That a cell is required is no name, and neither is a tag of HXL.
    return texts if len(set(texts)) == len(texts) and not any(text.startswith("#") for text in texts) else []


def _explaining(below: list[tuple[int, list[str]]]) -> int:
    """Return how many rows below a header explain the columns, as the templates of marketplaces have them.

    The last of them has texts in columns that have nothing but numbers and days further down, and no number in any.
    """
    lowest = _lowest_texts(below)
    for at in reversed(range(min(_EXPLAINING_MAX, len(below) - _EXPLAINED_MIN))):
        cells = below[at][1]
        texts = [cells[place] for place, last in lowest.items() if last == at]
        has_value = any(cells[place] for place, last in lowest.items() if last < at and place < len(cells))
        if (
            not has_value
            and len(texts) >= _EXPLAINED_MIN
            and NOTHING.isdisjoint(texts)
            and not any(map(is_price_on_request, texts))
        ):
            return at + 1
    return 0


def _lowest_texts(below: list[tuple[int, list[str]]]) -> dict[int, int]:
    """Return which row is the last with a text in a column that ends with numbers and days; -1 where none has one."""
    lowest: dict[int, int] = {}
    for place in range(max((len(cells) for _, cells in below), default=0)):
        filled = ((at, cells[place]) for at, (_, cells) in reversed([*enumerate(below)]) if place < len(cells))
        for at, text in filled:
            if text and _VALUE.fullmatch(text):
                lowest[place] = -1
            elif text:
                lowest |= {place: at} if place in lowest else {}
                break
    return lowest


def _header_at(rows: list[tuple[int, list[str]]], *, whole_rows: bool) -> int:
    """Return the place of the row that names the columns: the first as wide as most rows.

    Not one of comments, as the templates for catalogues of Meta have: each cell says what its column is for.
    """
    widths = Counter(len(cells) if whole_rows else sum(map(bool, cells)) for _, cells in rows[:SAMPLE_ROWS])
    usual = max(widths, key=lambda width: (width > 1, widths[width], width))
    for place, (_, cells) in enumerate(rows[:_HEADER_ROWS_MAX]):
        filled = [cell for cell in cells if cell.strip()]
        wide = len(cells) == usual if whole_rows else len(filled) >= 0.6 * usual
        comments = all(cell.startswith("#") for cell in filled)
        if wide and not comments and len(filled) >= min(usual, 2) and len(filled) >= usual / 2:
            return place
    return 0
