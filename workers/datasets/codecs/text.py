"""Arrow columns as text: the cells of CSV, the members of NDJSON. Pure.

A line is joined from pieces (pieces.py): columns of few values are spelled once per value, the others a row at a time.
Text that needs care (quotes, formulas, control characters) is searched for in a whole column first; a column without it
pays nothing more.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.exports.contract import FORMULA_PREFIX, JSON_COLUMNS
from shared.money import minor_digits
from workers.datasets.codecs.pieces import TABLE_MAX, Piece, Values, lines, with_absent

# Letters, digits and hyphens only, and never a hyphen first: nothing to look for, in CSV or in JSON.
_HARMLESS = frozenset({"iid", "survivor_iid"})
_FORMULA, _NUMBER = r"^[=+\-@\t\r\n]", r"^-(\d+\.?\d*|\.\d+)$"
_TO_QUOTE = '[",\r\n]'
_TO_ESCAPE = '["\\\\\x00-\x1f\u2028\u2029]'
_FRACTION_AT = np.array([0, 1, 11, 111, 1111])
# Ten-thousandths in a minor unit, by the currency's digits.
_MINOR_UNITS = np.array([10_000, 1000, 100, 10, 1], "u8")


@cache
def _fractions() -> Any:
    """Return every fraction of up to four digits; made when the first money is written, not when a worker starts."""
    return pa.array([""] + [f".{n:0{digits}d}" for digits in (1, 2, 3, 4) for n in range(10**digits)])


def csv_lines(batch: Any, names: list[str]) -> Any:
    """Return each row as a line of CSV (RFC 4180), its end included."""
    return lines(_csv_pieces(batch, names))


def csv_head(names: list[str]) -> bytes:
    """Return the first line."""
    return ",".join(names).encode() + b"\r\n"


def ndjson_lines(batch: Any, names: list[str]) -> Any:
    """Return each row as a line of NDJSON, its end included."""
    return lines(_ndjson_pieces(batch, names))


def _csv_pieces(batch: Any, names: list[str]) -> Iterator[Piece]:
    for number, name in enumerate(names):
        if number:
            yield ","
        column = batch.column(name)
        cells = _values(column, _csv_text, "", "{}")
        if cells is not None:
            yield cells
        else:
            yield pc.fill_null(column if name in _HARMLESS else _csv(column, batch), "")
    yield "\r\n"


def _ndjson_pieces(batch: Any, names: list[str]) -> Iterator[Piece]:
    for number, name in enumerate(names):
        yield f'{"," if number else "{"}"{name}":'
        column = batch.column(name)
        cells = _values(column, _json_text, "null", '"{}"' if _is_quoted(column.type) else "{}")
        if cells is not None:
            yield cells
        elif column.null_count or not (name in _HARMLESS or _is_quoted(column.type)):
            yield _json(column, batch, name)
        else:
            yield '"'
            yield column if name in _HARMLESS else _number(column, batch)
            yield '"'
    yield "}\n"


def bytes_of(lines: Any) -> memoryview:
    """Return the text of an array that has no nulls: its values lie one after the other, without a copy."""
    _, offsets, values = lines.buffers()
    if values is None or not len(lines):
        return memoryview(b"")
    at = np.frombuffer(offsets, "i4", len(lines) + 1, lines.offset * 4)
    return memoryview(values)[at[0] : at[-1]]


def _values(column: Any, spell: Callable[[Any], Any], absent: str, form: str) -> Values | None:
    """Return a column of few values with their texts, `absent` for null; None for one that has many."""
    kind = column.type
    if column.null_count == len(column) and not pa.types.is_list(kind):
        return Values([absent], np.zeros(len(column), "i4"))
    if pa.types.is_dictionary(kind):
        if len(column.dictionary) >= TABLE_MAX:
            return None
        texts = pc.fill_null(spell(column.dictionary.cast(pa.string())), absent).to_pylist()
        return with_absent(texts, column.indices, absent)
    if pa.types.is_date32(kind) or pa.types.is_integer(kind):
        numbers = column.view(pa.int32()) if pa.types.is_date32(kind) else column
        ends = pc.min_max(numbers).as_py()
        least, most = ends["min"], ends["max"]
        if most - least >= TABLE_MAX:
            return None
        spelled = pa.array(np.arange(least, most + 1), numbers.type).view(kind).cast(pa.string())
        texts = [form.format(text) for text in spelled.to_pylist()]
        return with_absent(texts, pc.subtract(numbers, pa.scalar(least, numbers.type)), absent)
    return None


def _is_quoted(kind: Any) -> bool:
    return any(test(kind) for test in (pa.types.is_decimal, pa.types.is_date, pa.types.is_timestamp))


def _csv(column: Any, batch: Any) -> Any:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _taken(column, _csv_text)
    if pa.types.is_string(kind):
        return _csv_text(column)
    if pa.types.is_list(kind):
        return _csv_text(_json_lists(column))
    return _number(column, batch)


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


def _json(column: Any, batch: Any, name: str) -> Any:
    kind = column.type
    if name in _HARMLESS:
        return pc.fill_null(_quoted(column), "null")
    if pa.types.is_dictionary(kind):
        return pc.fill_null(_taken(column, _json_text), "null")
    if pa.types.is_string(kind):
        return pc.fill_null(_one_line(column) if name in JSON_COLUMNS else _json_text(column), "null")
    if pa.types.is_list(kind):
        return _json_lists(column)
    text = _number(column, batch)
    if _is_quoted(kind):
        text = _quoted(text)
    return pc.fill_null(text, "null")


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


def _number(column: Any, batch: Any) -> Any:
    kind = column.type
    if pa.types.is_decimal(kind):
        return _money(column, batch)
    if pa.types.is_timestamp(kind):
        return pc.strftime(
            column.cast(pa.timestamp("ms", tz="UTC"), safe=False).cast(pa.timestamp("ms")), "%Y-%m-%dT%H:%M:%SZ"
        )
    if pa.types.is_integer(kind):
        return _each_once(column, lambda numbers: numbers.cast(pa.string()))
    return column.cast(pa.string())


def _each_once(numbers: Any, spell: Callable[[Any], Any]) -> Any:
    """Spell each distinct number once: prices repeat, and finding a number costs less than spelling it."""
    encoded = pc.dictionary_encode(numbers)
    return spell(encoded.dictionary).take(encoded.indices)


def _money(column: Any, batch: Any) -> Any:
    """Spell amounts with all the minor digits of their currency, and no more: 10.90 HKD, 25 JPY."""
    words = np.frombuffer(column.buffers()[1], "u8", len(column) * 2, column.offset * 16)[::2]
    currency = batch.column("currency")
    of_currency = np.array([minor_digits(name) for name in currency.dictionary.to_pylist()] or [2], "i8")
    digits = of_currency.take(np.asarray(currency.indices))
    text = _amounts(words, digits)
    return pc.if_else(column.is_valid(), text, pa.scalar(None, pa.string())) if column.null_count else text


def _amounts(words: Any, digits: Any) -> Any:
    """Spell amounts in ten-thousandths with so many digits each."""
    if len(digits) and (digits == digits[0]).all():
        return _each_once(
            pa.array(words), lambda distinct: _spelled_amounts(np.asarray(distinct), digits[:1].repeat(len(distinct)))
        )
    return _spelled_amounts(words, digits)


def _spelled_amounts(words: Any, digits: Any) -> Any:
    whole, rest = np.divmod(words, np.uint64(10_000))
    places = _FRACTION_AT.take(digits) + np.where(digits == 0, 0, rest // _MINOR_UNITS.take(digits)).astype("i8")
    whole_text = pa.array(whole.astype("i8")).cast(pa.string())
    return pc.binary_join_element_wise(whole_text, _fractions().take(pa.array(places)), "")


def _taken(column: Any, spell: Any) -> Any:
    return spell(column.dictionary.cast(pa.string())).take(column.indices)
