"""Arrow columns as text, a column at a time: the cells of CSV, the members of NDJSON. Pure.

A column of few distinct values is spelled once per value and indexed. Text that needs care (quotes, formulas, control
characters) is searched for in a whole column first; a column without it pays nothing more.
"""

from functools import cache
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.exports.contract import FORMULA_PREFIX, JSON_COLUMNS
from shared.money import minor_digits

_TABLE_MAX = 4096
# Letters, digits and hyphens only, and never a hyphen first: nothing to look for, in CSV or in JSON.
_HARMLESS = frozenset({"iid", "survivor_iid"})
_FORMULA, _NUMBER = r"^[=+\-@\t\r\n]", r"^-(\d+\.?\d*|\.\d+)$"
_TO_QUOTE = '[",\r\n]'
_TO_ESCAPE = '["\\\\\x00-\x1f\u2028\u2029]'
_FRACTION_AT = np.array([0, 1, 11, 111, 1111])


@cache
def _fractions() -> Any:
    """Return every fraction of up to four digits; made when the first money is written, not when a worker starts."""
    return pa.array([""] + [f".{n:0{digits}d}" for digits in (1, 2, 3, 4) for n in range(10**digits)])


def csv_lines(batch: Any, names: list[str]) -> Any:
    """Return each row as a line of CSV (RFC 4180), its end included."""
    cells = [batch.column(name) if name in _HARMLESS else _csv(batch.column(name), batch) for name in names]
    cells[-1] = pc.binary_join_element_wise(cells[-1], "\r\n", "", **_ABSENT)
    return pc.binary_join_element_wise(*cells, ",", **_ABSENT) if len(cells) > 1 else cells[0]


def csv_head(names: list[str]) -> bytes:
    """Return the first line."""
    return ",".join(names).encode() + b"\r\n"


def ndjson_lines(batch: Any, names: list[str]) -> Any:
    """Return each row as a line of NDJSON, its end included."""
    pieces: list[Any] = []
    for number, name in enumerate(names):
        pieces.append(f'{"," if number else "{"}"{name}":')
        pieces.append(_json(batch.column(name), batch, name))
    return pc.binary_join_element_wise(*pieces, "}\n", "", **_ABSENT)


def bytes_of(lines: Any) -> memoryview:
    """Return the text of an array that has no nulls: its values lie one after the other, without a copy."""
    _, offsets, values = lines.buffers()
    if values is None or not len(lines):
        return memoryview(b"")
    at = np.frombuffer(offsets, "i4", len(lines) + 1, lines.offset * 4)
    return memoryview(values)[at[0] : at[-1]]


_ABSENT: dict[str, Any] = {"null_handling": "replace", "null_replacement": ""}


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
    if pa.types.is_decimal(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind):
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
    if column.null_count == len(column):
        return pa.nulls(len(column), pa.string())
    if pa.types.is_decimal(kind):
        return _money(column, batch)
    if pa.types.is_timestamp(kind):
        return pc.strftime(
            column.cast(pa.timestamp("ms", tz="UTC"), safe=False).cast(pa.timestamp("ms")), "%Y-%m-%dT%H:%M:%SZ"
        )
    if pa.types.is_date(kind):
        return _by_table(column, column.view(pa.int32()))
    return _by_table(column, column) if pa.types.is_integer(kind) else column.cast(pa.string())


def _by_table(column: Any, numbers: Any) -> Any:
    """Spell numbers that lie close together by a table of all of them between."""
    ends = pc.min_max(numbers).as_py()
    least, most = ends["min"], ends["max"]
    if least is None or most - least > _TABLE_MAX:
        return column.cast(pa.string())
    table = pa.array(np.arange(least, most + 1), numbers.type).view(column.type).cast(pa.string())
    return table.take(pc.subtract(numbers, pa.scalar(least, numbers.type)))


def _money(column: Any, batch: Any) -> Any:
    """Spell amounts with all the minor digits of their currency, and no more: 10.90 HKD, 25 JPY."""
    words = np.frombuffer(column.buffers()[1], "u8", len(column) * 2, column.offset * 16)[::2]
    currency = batch.column("currency")
    of_currency = np.array([minor_digits(name) for name in currency.dictionary.to_pylist()] or [2], "i8")
    digits = of_currency.take(np.asarray(currency.indices))
    whole, rest = np.divmod(words, np.uint64(10_000))
    places = _FRACTION_AT.take(digits) + np.where(
        digits == 0, 0, rest // np.array([1, 1000, 100, 10, 1], "u8").take(digits)
    ).astype("i8")
    whole_text = pa.array(whole.astype("i8")).cast(pa.string())
    text = pc.binary_join_element_wise(whole_text, _fractions().take(pa.array(places)), "")
    return pc.if_else(column.is_valid(), text, pa.scalar(None, pa.string())) if column.null_count else text


def _taken(column: Any, spell: Any) -> Any:
    return spell(column.dictionary.cast(pa.string())).take(column.indices)
