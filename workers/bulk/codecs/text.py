"""Arrow columns as text: the cells of CSV, the members of NDJSON. Pure. A line is joined from pieces.

Where values are few or repeat, each distinct one is spelled once; others are spelled a row at a time. Text that needs
care (quotes, formulas, control characters) is searched for in a whole column first; a column without it pays nothing
more.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.bulk.request import JSON_COLUMNS
from shared.db.copy_binary import Array
from shared.money import minor_digits
from shared.printable import FORMULA_PREFIX, FORMULA_STARTS
from workers.bulk.codecs.pieces import TABLE_MAX, Parts, Piece, Values, column_of, places_of, text_of

# Letters, digits and hyphens only, and never a hyphen first: nothing to look for, in CSV or in JSON.
_HARMLESS = frozenset({"iid", "survivor_iid"})
# Also after apostrophes: a text that has one by itself would lose it where the prefix is removed.
_FORMULA, _NUMBER = rf"^'*[{re.escape(FORMULA_STARTS)}]", r"^-(\d+\.?\d*|\.\d+)$"
_TO_QUOTE = '[",\r\n]'
_TO_ESCAPE = '["\\\\\x00-\x1f\u2028\u2029]'
_AMOUNT_SCALE = 4
_FRACTION_AT = np.array([0, 1, 11, 111, 1111])
# Ten-thousandths in a minor unit, by the currency's digits.
_MINOR_UNITS = np.array([10_000, 1000, 100, 10, 1])


@cache
def _fractions() -> pa.Array:
    """Return every fraction of up to four digits; made when the first money is written, not when a worker starts."""
    return pa.array([""] + [f".{n:0{digits}d}" for digits in (1, 2, 3, 4) for n in range(10**digits)])


def csv_rows(batch: pa.RecordBatch, names: list[str]) -> memoryview:
    """Return the rows as CSV (RFC 4180), each with its end."""
    return text_of(_csv_pieces(batch, names), batch.num_rows) if batch.num_rows else memoryview(b"")


def csv_head(names: list[str]) -> bytes:
    """Return the first line."""
    return ",".join(names).encode() + b"\r\n"


def ndjson_rows(batch: pa.RecordBatch, names: list[str]) -> memoryview:
    """Return the rows as NDJSON, each with its end."""
    return text_of(_ndjson_pieces(batch, names), batch.num_rows) if batch.num_rows else memoryview(b"")


def _csv_pieces(batch: pa.RecordBatch, names: list[str]) -> Iterator[Piece]:
    repeated = _Repeated(batch)
    for number, name in enumerate(names):
        if number:
            yield ","
        column = batch.column(name)
        cells = repeated.cells(column, _csv_text, "")
        yield _row_by_row(pc.fill_null(_csv(column, name), "")) if cells is None else cells
    yield "\r\n"


def _ndjson_pieces(batch: pa.RecordBatch, names: list[str]) -> Iterator[Piece]:
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

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch
        self._amounts: list[tuple[Array, int, pa.Array, Array]] = []

    def cells(
        self, column: pa.Array, spell: Callable[[pa.Array], pa.Array], absent: str, quote: str = ""
    ) -> Piece | None:
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

    def _numbers(self, column: pa.Array) -> tuple[Parts, Array] | None:
        """Return the distinct numbers of a column as parts of texts, and each row's place: their count for null."""
        kind = column.type
        if pa.types.is_decimal(kind) and kind.scale != _AMOUNT_SCALE:  # prices of one unit: always with all digits
            encoded = pc.dictionary_encode(column)
            return (encoded.dictionary.cast(pa.string()),), places_of(encoded.indices, len(encoded.dictionary))
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

    def _of_amounts(self, column: pa.Array) -> tuple[Parts, Array]:
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


def _row_by_row(texts: pa.Array) -> Values:
    return Values((texts,), len(texts))


def _is_quoted(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_decimal, pa.types.is_date, pa.types.is_timestamp))


def _csv(column: pa.Array, name: str) -> pa.Array:
    if name in _HARMLESS:
        return column
    if pa.types.is_string(column.type):
        return _csv_text(column)
    if pa.types.is_list(column.type):
        return _csv_text(_json_lists(column))
    return _number(column)


def _csv_text(column: pa.Array) -> pa.Array:
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
    return pc.if_else(quoted, _quote(pc.replace_substring(column, '"', '""')), column)


def _json(column: pa.Array, name: str) -> pa.Array:
    kind = column.type
    if name in _HARMLESS:
        return _quote(column)
    if pa.types.is_string(kind):
        return _one_line(column) if name in JSON_COLUMNS else _json_text(column)
    if pa.types.is_list(kind):
        return _json_lists(column)
    text = _number(column)
    return _quote(text) if _is_quoted(kind) else text


def _json_text(column: pa.Array) -> pa.Array:
    quoted = _quote(column)
    special = pc.fill_null(pc.match_substring_regex(column, _TO_ESCAPE), False)
    if not pc.any(special).as_py():
        return quoted
    escaped = [_escape(text) for text in column.filter(special).to_pylist()]
    return pc.replace_with_mask(quoted, special, pa.array(escaped, pa.string()))


def _quote(column: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise('"', column, '"', "", null_handling="emit_null")


def _escape(text: str) -> str:
    return _separators(msgspec.json.encode(text).decode())


def _separators(text: str) -> str:
    # Lines to JavaScript and to some readers of lines.
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _one_line(column: pa.Array) -> pa.Array:
    return pc.replace_substring(pc.replace_substring(column, "\u2028", "\\u2028"), "\u2029", "\\u2029")


def _json_lists(column: pa.Array) -> pa.Array:
    """Lists are short and in small datasets: one at a time."""
    texts = [_separators(msgspec.json.encode(value).decode()) for value in column.to_pylist()]
    return pa.array(texts, pa.string())


def _number(column: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(column.type):
        return pc.strftime(
            column.cast(pa.timestamp("ms", tz="UTC"), safe=False).cast(pa.timestamp("ms")), "%Y-%m-%dT%H:%M:%SZ"
        )
    return column.cast(pa.string())


def _amounts(words: Array, digits: Array) -> tuple[pa.Array, pa.Array]:
    """Spell amounts in ten-thousandths, each with its own number of digits: their whole units, and their fractions."""
    whole, rest = np.divmod(words, 10_000)
    places = _FRACTION_AT.take(digits) + np.where(digits == 0, 0, rest // _MINOR_UNITS.take(digits))
    return pa.array(whole).cast(pa.string()), _fractions().take(pa.array(places))
