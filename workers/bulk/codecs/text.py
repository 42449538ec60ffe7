"""Arrow columns as the text of CSV and NDJSON, and CSV COPY as Arrow columns."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shared.bulk.request import FORMULA_PREFIX, JSON_COLUMNS
from shared.bulk.schema import LIST, Dataset, arrow_schema
from shared.db.copy_binary import Array
from shared.money import minor_digits
from shared.printable import FORMULA_STARTS

# Lines joined from pieces: text that is the same in each row, and columns given by their distinct texts.


TABLE_MAX = 4096
# The texts of a table are made anew for each batch: fewer than its rows, or the table costs more than it spares.
_ROWS_PER_TEXT = 8
# Arrow's views of text are 16 bytes each; numpy copies values of a type of its own of that size fastest.
_VIEW = np.dtype("c16")


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """A column by its `count` texts, none of them null, and the place of each row's text; without places, row by row.

    The texts are given in parts, arrays of them and text that is the same in all, which are joined as late as possible.
    """

    parts: tuple[Any, ...]
    count: int
    places: Array | None = None

    @property
    def texts(self) -> Any:
        return joined(*self.parts) if len(self.parts) > 1 else self.parts[0]

    def beside(self, other: "Values") -> "Values":
        """Return the two as one column, whose values are the pairs; both have places."""
        assert self.places is not None
        assert other.places is not None
        first = self.texts.take(pa.array(np.arange(self.count).repeat(other.count)))
        second = other.texts.take(pa.array(np.tile(np.arange(other.count), self.count)))
        places = self.places * other.count + other.places
        return Values((first, second), self.count * other.count, places)

    @property
    def is_table(self) -> bool:
        """Whether joining text to all texts costs less than to leave it apart in each row."""
        return self.places is not None and self.count <= len(self.places) // 2


Piece = str | Values


def text_of(pieces: Iterable[Piece], rows: int) -> memoryview:
    """Return the text of all rows, one after the other, each of them all pieces joined.

    Text between columns belongs to the columns of few values beside it. What is left is named by views into a table of
    texts, piece by piece and row by row, so that each byte of a line is copied once.
    """
    merged: list[Piece] = []
    for piece in pieces:
        one = _merged(merged[-1], piece) if merged else None
        if one is None:
            merged.append(piece)
        else:
            merged[-1] = one
    columns = [Values((pa.array([part]),), 1) if isinstance(part, str) else part for part in merged]
    table = pa.concat_arrays([column.texts for column in columns]).cast(pa.string_view())
    _, buffer, *texts = table.buffers()
    views = np.frombuffer(buffer, _VIEW)
    chosen = np.empty((rows, len(columns)), _VIEW)
    start = 0
    for number, column in enumerate(columns):
        own = views[start : start + column.count]
        start += column.count
        chosen[:, number] = own if column.places is None else own.take(column.places)
    array = pa.Array.from_buffers(pa.string_view(), chosen.size, [None, pa.py_buffer(chosen), *texts])
    return _bytes_of(array.cast(pa.string()))


def _bytes_of(texts: Any) -> memoryview:
    """Return the text of an array that has no nulls: its values lie one after the other, without a copy."""
    _, offsets, values = texts.buffers()
    if values is None or not len(texts):
        return memoryview(b"")
    ends = np.frombuffer(offsets, "i4", len(texts) + 1, texts.offset * 4)
    return memoryview(values)[ends[0] : ends[-1]]


def _merged(first: Piece, second: Piece) -> Piece | None:
    """Return two neighbouring pieces as one; None where they stay apart."""
    match first, second:
        case str(), str():
            return first + second
        case str(), Values() if second.is_table:
            return Values((first, *second.parts), second.count, second.places)
        case Values(), str() if first.is_table:
            return Values((*first.parts, second), first.count, first.places)
        case Values(), Values() if first.places is not None and first.places is second.places:
            return Values((*first.parts, *second.parts), first.count, first.places)
        case Values(), Values() if first.is_table and second.is_table:
            assert first.places is not None
            if first.count * second.count <= _texts_max(len(first.places)):
                return first.beside(second)
    return None


def _texts_max(rows: int) -> int:
    return min(TABLE_MAX, max(rows // _ROWS_PER_TEXT, 1))


def places_of(indices: Any, count: int) -> Array:
    """Return indices into `count` texts as an array, with `count` for null."""
    if indices.null_count:
        indices = pc.fill_null(indices, pa.scalar(count, indices.type))
    return np.asarray(indices)


def column_of(parts: tuple[Any, ...], count: int, places: Array, absent: str) -> Piece:
    """Return a column of texts by their places, of which `count` stands for `absent`; text if all rows have one."""
    if (places == count).any():
        parts = (pa.concat_arrays([joined(*parts), pa.array([absent])]),)
        count += 1
    return str(joined(*parts)[0]) if count == 1 else Values(parts, count, places)


def joined(*parts: Any) -> Any:
    """Join texts, element by element."""
    return pc.binary_join_element_wise(*parts, "")


# Arrow columns as text: the cells of CSV, the members of NDJSON. Pure. A line is joined from pieces.
# Where values are few or repeat, each distinct one is spelled once; others are spelled a row at a time. Text that
# needs care (quotes, formulas, control characters) is searched for in a whole column first; a column without it pays
# nothing more.


# Letters, digits and hyphens only, and never a hyphen first: nothing to look for, in CSV or in JSON.
_HARMLESS = frozenset({"iid", "survivor_iid"})
# Also after apostrophes: a text that has one by itself would lose it where the prefix is removed.
_FORMULA, _NUMBER = rf"^'*[{re.escape(FORMULA_STARTS)}]", r"^-(\d+\.?\d*|\.\d+)$"
_TO_QUOTE = '[",\r\n]'
_TO_ESCAPE = '["\\\\\x00-\x1f\u2028\u2029]'
_FRACTION_AT = np.array([0, 1, 11, 111, 1111])
# Ten-thousandths in a minor unit, by the currency's digits.
_MINOR_UNITS = np.array([10_000, 1000, 100, 10, 1])


@cache
def _fractions() -> Any:
    """Return every fraction of up to four digits; made when the first money is written, not when a worker starts."""
    return pa.array([""] + [f".{n:0{digits}d}" for digits in (1, 2, 3, 4) for n in range(10**digits)])


def csv_rows(batch: Any, names: list[str]) -> memoryview:
    """Return the rows as CSV (RFC 4180), each with its end."""
    return text_of(_csv_pieces(batch, names), batch.num_rows) if batch.num_rows else memoryview(b"")


def csv_head(names: list[str]) -> bytes:
    """Return the first line."""
    return ",".join(names).encode() + b"\r\n"


def ndjson_rows(batch: Any, names: list[str]) -> memoryview:
    """Return the rows as NDJSON, each with its end."""
    return text_of(_ndjson_pieces(batch, names), batch.num_rows) if batch.num_rows else memoryview(b"")


def _csv_pieces(batch: Any, names: list[str]) -> Iterator[Piece]:
    repeated = _Repeated(batch)
    for number, name in enumerate(names):
        if number:
            yield ","
        column = batch.column(name)
        cells = repeated.cells(column, _csv_text, "")
        yield _row_by_row(pc.fill_null(_csv(column, name), "")) if cells is None else cells
    yield "\r\n"


def _ndjson_pieces(batch: Any, names: list[str]) -> Iterator[Piece]:
    repeated = _Repeated(batch)
    for number, name in enumerate(names):
        yield f'{"," if number else "{"}"{name}":'
        column = batch.column(name)
        cells = repeated.cells(column, _json_text, "null", '"' if _is_quoted(column.type) else "")
        if cells is not None:
            yield cells
        elif name in _HARMLESS and not column.null_count:
            yield '"'
            yield _row_by_row(column)
            yield '"'
        else:
            yield _row_by_row(pc.fill_null(_json(column, name), "null"))
    yield "}\n"


class _Repeated:
    """The columns of one batch whose values are spelled once each: finding a value costs less than spelling it."""

    def __init__(self, batch: Any) -> None:
        self._batch = batch
        self._amounts: list[tuple[Array, int, Any, Array]] = []

    def cells(self, column: Any, spell: Callable[[Any], Any], absent: str, quote: str = "") -> Piece | None:
        """Return a column of texts, days, integers or amounts; None for one that is spelled a row at a time.

        `spell` makes cells of texts, `quote` goes around numbers; null is `absent`.
        """
        kind = column.type
        if column.null_count == len(column) and not pa.types.is_list(kind):
            return absent
        if pa.types.is_dictionary(kind):
            texts = pc.fill_null(spell(column.dictionary.cast(pa.string())), absent)
            return column_of((texts,), len(texts), places_of(column.indices, len(texts)), absent)
        numbers = self._numbers(column)
        if numbers is None:
            return None
        parts, places = numbers
        return column_of((quote, *parts, quote) if quote else parts, len(parts[0]), places, absent)

    def _numbers(self, column: Any) -> tuple[tuple[Any, ...], Array] | None:
        """Return the distinct numbers of a column as parts of texts, and each row's place: their count for null."""
        kind = column.type
        if pa.types.is_decimal(kind):
            return self._of_amounts(column)
        if not (pa.types.is_date32(kind) or pa.types.is_integer(kind)):
            return None
        numbers = column.view(pa.int32()) if pa.types.is_date32(kind) else column
        ends = pc.min_max(numbers).as_py()
        least, most = ends["min"], ends["max"]
        if most - least < TABLE_MAX:
            spelled = pa.array(np.arange(least, most + 1), numbers.type).view(kind).cast(pa.string())
            return (spelled,), places_of(pc.subtract(numbers, pa.scalar(least, numbers.type)), len(spelled))
        for amounts, minor_unit, indices, places in self._amounts:
            minor = pa.array(amounts // minor_unit)
            if minor.take(indices).equals(column):  # amounts in minor units, beside the same as decimals
                return (minor.cast(pa.string()),), places
        encoded = pc.dictionary_encode(column)
        return (encoded.dictionary.cast(pa.string()),), places_of(encoded.indices, len(encoded.dictionary))

    def _of_amounts(self, column: Any) -> tuple[tuple[Any, ...], Array]:
        """Spell amounts with all the minor digits of their currency, and no more: 10.90 HKD, 25 JPY."""
        words = np.frombuffer(column.buffers()[1], "i8", len(column) * 2, column.offset * 16)[::2]
        currency = self._batch.column("currency")
        of_currency = np.array([minor_digits(name) for name in currency.dictionary.to_pylist()] or [2], "i8")
        digits = of_currency.take(np.asarray(currency.indices))
        absent = np.asarray(column.is_null()) if column.null_count else None
        if not (digits == digits[0]).all():
            rows = np.arange(len(column))
            return _amounts(words, digits), rows if absent is None else np.where(absent, len(rows), rows)
        encoded = pc.dictionary_encode(pa.array(words, mask=absent))
        distinct, places = np.asarray(encoded.dictionary), places_of(encoded.indices, len(encoded.dictionary))
        self._amounts.append((distinct, int(_MINOR_UNITS[digits[0]]), encoded.indices, places))
        return _amounts(distinct, digits[:1].repeat(len(distinct))), places


def _row_by_row(texts: Any) -> Values:
    return Values((texts,), len(texts))


def _is_quoted(kind: Any) -> bool:
    return any(test(kind) for test in (pa.types.is_decimal, pa.types.is_date, pa.types.is_timestamp))


def _csv(column: Any, name: str) -> Any:
    if name in _HARMLESS:
        return column
    if pa.types.is_string(column.type):
        return _csv_text(column)
    if pa.types.is_list(column.type):
        return _csv_text(_json_lists(column))
    return _number(column)


def _csv_text(column: Any) -> Any:
    formula = pc.match_substring_regex(column, _FORMULA)
    if pc.any(formula).as_py():
        formula = pc.and_not(formula, pc.match_substring_regex(column, _NUMBER))
        column = pc.if_else(
            formula, pc.binary_join_element_wise(FORMULA_PREFIX, column, "", null_handling="emit_null"), column
        )
    # An empty text is quoted, so that it differs from NULL.
    quoted = pc.or_(pc.match_substring_regex(column, _TO_QUOTE), pc.equal(column, ""))
    if not pc.any(quoted).as_py():
        return column
    return pc.if_else(quoted, _quoted(pc.replace_substring(column, '"', '""')), column)


def _json(column: Any, name: str) -> Any:
    kind = column.type
    if name in _HARMLESS:
        return _quoted(column)
    if pa.types.is_string(kind):
        return _one_line(column) if name in JSON_COLUMNS else _json_text(column)
    if pa.types.is_list(kind):
        return _json_lists(column)
    text = _number(column)
    return _quoted(text) if _is_quoted(kind) else text


def _json_text(column: Any) -> Any:
    quoted = _quoted(column)
    special = pc.fill_null(pc.match_substring_regex(column, _TO_ESCAPE), False)
    if not pc.any(special).as_py():
        return quoted
    escaped = [_escaped(text) for text in column.filter(special).to_pylist()]
    return pc.replace_with_mask(quoted, special, pa.array(escaped, pa.string()))


def _quoted(column: Any) -> Any:
    return pc.binary_join_element_wise('"', column, '"', "", null_handling="emit_null")


def _escaped(text: str) -> str:
    return _separators(msgspec.json.encode(text).decode())


def _separators(text: str) -> str:
    # Lines to JavaScript and to some readers of lines.
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _one_line(column: Any) -> Any:
    return pc.replace_substring(pc.replace_substring(column, "\u2028", "\\u2028"), "\u2029", "\\u2029")


def _json_lists(column: Any) -> Any:
    """Lists are short and in small datasets: one at a time."""
    texts = [_separators(msgspec.json.encode(value).decode()) for value in column.to_pylist()]
    return pa.array(texts, pa.string())


def _number(column: Any) -> Any:
    if pa.types.is_timestamp(column.type):
        return pc.strftime(
            column.cast(pa.timestamp("ms", tz="UTC"), safe=False).cast(pa.timestamp("ms")), "%Y-%m-%dT%H:%M:%SZ"
        )
    return column.cast(pa.string())


def _amounts(words: Array, digits: Array) -> tuple[Any, Any]:
    """Spell amounts in ten-thousandths with so many digits each: their whole units, and their fractions."""
    whole, rest = np.divmod(words, 10_000)
    places = _FRACTION_AT.take(digits) + np.where(digits == 0, 0, rest // _MINOR_UNITS.take(digits))
    return pa.array(whole).cast(pa.string()), _fractions().take(pa.array(places))


# CSV COPY into Arrow: the rows of every dataset but the observations, with the types that the dataset declares.


_SEPARATOR = "\x1f"


class CsvRows:
    """Reads pieces of whole rows of a COPY of one dataset's columns; an unquoted empty field is NULL."""

    def __init__(self, dataset: Dataset) -> None:
        self._schema = arrow_schema(dataset)
        self._lists = {column.name for column in dataset.columns if column.type == LIST}
        self._options = {
            "read_options": pyarrow.csv.ReadOptions(
                column_names=self._schema.names, block_size=1 << 30, use_threads=False
            ),
            "parse_options": pyarrow.csv.ParseOptions(newlines_in_values=True),
            "convert_options": pyarrow.csv.ConvertOptions(
                column_types={field.name: self._read_as(field) for field in self._schema},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        }

    def batch(self, piece: bytes) -> Any:
        """Return a piece's rows as a record batch."""
        table = pyarrow.csv.read_csv(pa.BufferReader(piece), **self._options)
        columns = [self._converted(table[field.name].combine_chunks(), field) for field in self._schema]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _read_as(self, field: Any) -> Any:
        """Return the type that the reader knows: it has no lists, and no timestamps with a zone."""
        if field.name in self._lists:
            return pa.string()
        return pa.timestamp("us") if pa.types.is_timestamp(field.type) else field.type

    def _converted(self, column: Any, field: Any) -> Any:
        if field.name not in self._lists:
            return column.cast(field.type)
        # An empty list arrives as NULL: the dataset has no absent lists.
        split = pc.split_pattern(pc.fill_null(column, ""), _SEPARATOR)
        none = pa.array([[]], pa.list_(pa.string())).take(pa.array([0] * len(column)))
        return pc.if_else(pc.is_null(column), none, split)
