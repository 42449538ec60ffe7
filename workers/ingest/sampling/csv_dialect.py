"""The beginning of a CSV: the delimiter, the quotation mark and what escapes it with which it is rows of one width."""

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from shared.printable import many
from workers.ingest.files.csv_records import SWALLOWS, Block, Records
from workers.ingest.sampling.sample import HEADER_ROWS_MAX, SAMPLE_ROWS, Sample
from workers.ingest.sampling.table_header import sample_of_cells

_DELIMITERS = (",", ";", "\t", "|", "~", "^", "\x01", "\x1f")
_STATED_BYTES = 16
_HEADER_COUNTS = 0.1
_STATED = re.compile(r'"?sep=(.)"?(?:\r\n|\n|\r)', re.IGNORECASE)


def sample_of_csv(text: bytes, *, whole: bool) -> Sample:
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
        for line, cells in itertools.islice(read, SAMPLE_ROWS + HEADER_ROWS_MAX)
        if any(cell.strip() for cell in cells)
    ]
    _drop_surplus(rows)
    form = {"delimiter": delimiter} if delimiter != "," else {}
    form |= {"quote": ""} if not quote else {}
    form |= {"escape": escape} if escape else {}
    made = sample_of_cells(rows, form, whole_rows=True)
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
