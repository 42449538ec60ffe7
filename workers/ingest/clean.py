"""Cleaning, a column at a time: from text as a source writes it to values, and which rows have none. Pure Arrow."""

import re
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.clock import utc_now
from shared.errors import LoadRefused
from shared.money import minor_digits
from workers.ingest.fields import Field
from workers.ingest.readers import Batch

_EPOCH_2000_DAYS = 10_957
_WHOLE_DIGITS_MAX = 12
_ROUNDED_DIGITS_MAX = 18
_AMOUNT = rf"^(?P<whole>[0-9]{{1,{_WHOLE_DIGITS_MAX}}})(?:\.(?P<part>[0-9]*))?$"
_NUMBER = r"^[0-9]{1,15}(\.[0-9]{1,15})?([eE]-?[0-9]{1,2})?$"


class Coded(NamedTuple):
    """A column as its distinct texts and, for each row, the place of its text; null where there is none."""

    values: Any
    codes: Any

    def rows(self, of_values: Any, absent: Any) -> Any:
        """Spread what is known of each distinct text over the rows, as numpy; `absent` where there is none."""
        known = np.append(np.asarray(pc.fill_null(of_values, absent)), absent)
        return known.take(np.asarray(pc.fill_null(self.codes, len(known) - 1)))


def coded(field: Field, batch: Batch, path: Path) -> Coded:
    """Return a field's cleaned text with each distinct text cleaned once; distinct raw texts may give the same one."""
    column = _as_texts(_origin(field, batch, path))
    encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    return Coded(_cleaned(field, encoded.dictionary), encoded.indices)


def texts(field: Field, batch: Batch, path: Path) -> Any:
    """Return a field's cleaned text for each row; null where there is none."""
    column = _as_texts(_origin(field, batch, path))
    if pa.types.is_dictionary(column.type):  # each distinct text is cleaned once
        return pc.take(_cleaned(field, column.dictionary), column.indices)
    return _cleaned(field, column)


def _as_texts(column: Any) -> Any:
    typed = pa.types.is_date32(column.type) or pa.types.is_decimal(column.type)
    return column.cast(pa.string()) if typed else column


def _cleaned(field: Field, column: Any) -> Any:
    if field.trim:
        column = pc.utf8_trim_whitespace(column)
    if field.match:
        column = pc.struct_field(pc.extract_regex(column, _named(field.match)), [0])
    for old, new in field.replace:
        column = pc.replace_substring(column, old, new)
    if field.case:
        column = (pc.utf8_lower if field.case == "lower" else pc.utf8_upper)(column)
    column = pc.if_else(pc.is_in(column, value_set=pa.array(field.null)), pa.scalar(None, pa.string()), column)
    return _walk_across(column, field.crosswalk) if field.crosswalk is not None else column


def days(field: Field, batch: Batch, path: Path) -> Any:
    """Return days since 2000-01-01 (PostgreSQL's epoch) as int32; null where the text is no date of that format."""
    column = _origin(field, batch, path)
    if pa.types.is_date32(column.type):
        return pc.subtract(column.cast(pa.int32()), _EPOCH_2000_DAYS)
    # A batch has few distinct days; each is parsed once.
    encoded = pc.dictionary_encode(texts(field, batch, path))
    return pc.take(_days(encoded.dictionary, field.format), encoded.indices)


def _days(column: Any, form: str) -> Any:
    if form == "%Y":  # a year alone stands for its last day: that is when it is complete
        year = pc.match_substring_regex(column, "^[0-9]{4}$")
        column = pc.if_else(year, pc.binary_join_element_wise(column, "12-31", "-"), None)
        form = "%Y-%m-%d"
    moments = pc.strptime(column, format=form, unit="s", error_is_null=True)
    # strptime takes 2026-02-30 and turns it over into March; written back, it differs from what was read.
    if form == "%Y-%m-%d":
        moments = pc.if_else(pc.equal(pc.strftime(moments, format=form), column), moments, None)
    return pc.subtract(moments.cast(pa.date32()).cast(pa.int32()), _EPOCH_2000_DAYS)


def amounts(field: Field, batch: Batch, path: Path, currency: str) -> Any:
    """Return amounts in minor units as int64; null where the text is no amount that the currency can express."""
    digits = minor_digits(currency)
    typed = _origin(field, batch, path)
    if (
        pa.types.is_decimal128(typed.type)
        and typed.type.scale == digits
        and typed.type.precision <= _WHOLE_DIGITS_MAX + digits
    ):
        # A decimal128 is its integer of minor units in 16 bytes, little endian; so few digits fit into the lower half.
        halves = pa.Array.from_buffers(pa.int64(), 2 * len(typed), [None, typed.buffers()[1]], offset=2 * typed.offset)
        minor = pc.if_else(pc.is_valid(typed), pa.array(np.asarray(halves)[::2]), None)
        return pc.if_else(pc.greater_equal(minor, 0), minor, None)
    column = pc.utf8_trim_whitespace(_plain_digits(field, batch, path))
    parts = pc.extract_regex(column, _AMOUNT)
    whole, part = pc.struct_field(parts, [0]), pc.utf8_rtrim(pc.struct_field(parts, [1]), characters="0")
    fine = pc.less_equal(pc.utf8_length(part), digits)
    if field.round and pc.any(pc.invert(fine)).as_py():
        return pc.if_else(fine, _minor(whole, part, digits), _rounded(whole, part, digits))
    return pc.if_else(fine, _minor(whole, part, digits), None)


def _minor(whole: Any, part: Any, digits: int) -> Any:
    """Join whole and part of amounts to minor units; what is finer than the currency is cut off."""
    if not digits:
        return whole.cast(pa.int64())
    part = pc.utf8_slice_codeunits(pc.fill_null(part, ""), 0, digits)
    return pc.binary_join_element_wise(whole, pc.utf8_rpad(part, width=digits, padding="0"), "").cast(pa.int64())


def _rounded(whole: Any, part: Any, digits: int) -> Any:
    """Return amounts rounded half to even; null where there are more digits than can be rounded exactly."""
    part = pc.utf8_rpad(pc.fill_null(part, ""), width=digits + 1, padding="0")
    exact = pc.less_equal(pc.utf8_length(part), digits + _ROUNDED_DIGITS_MAX)
    finer = pc.utf8_slice_codeunits(part, digits, digits + _ROUNDED_DIGITS_MAX)
    cut = pc.utf8_slice_codeunits(part, 0, digits) if digits else pa.repeat(pa.scalar(""), len(part))
    shifted = pc.binary_join_element_wise(pc.binary_join_element_wise(whole, cut, ""), finer, ".")
    minor = shifted.cast(pa.decimal128(38, _ROUNDED_DIGITS_MAX))
    return pc.if_else(exact, pc.round(minor, ndigits=0, round_mode="half_to_even").cast(pa.int64()), None)


def numbers(field: Field, batch: Batch, path: Path) -> Any:
    """Return plain non-negative numbers as text; null where the text is none. `multiply` is applied later."""
    column = _plain_digits(field, batch, path)
    return pc.if_else(pc.match_substring_regex(column, _NUMBER), column, None)


def whole_numbers(field: Field, batch: Batch, path: Path) -> Any:
    """Return positive whole numbers as int32; null where the text is none."""
    column = texts(field, batch, path)
    return pc.if_else(pc.match_substring_regex(column, "^[1-9][0-9]{0,8}$"), column, None).cast(pa.int32())


def today() -> int:
    """Return today in days since 2000-01-01, for what a source gives no day."""
    return (utc_now().date() - date(2000, 1, 1)).days


def filled(column: Any, empty: Any) -> Any:
    """Return a numpy array with `empty` where the column is null."""
    return np.asarray(pc.fill_null(column, empty))


def _plain_digits(field: Field, batch: Batch, path: Path) -> Any:
    """Return a number's text with a decimal point and nothing else that people put into numbers."""
    column = texts(field, batch, path)
    for character in (*field.strip, field.thousands):
        if character:
            column = pc.replace_substring(column, character, "")
    if field.decimal != ".":
        column = pc.replace_substring(column, field.decimal, ".")
    return column


def _origin(field: Field, batch: Batch, path: Path) -> Any:
    if field.column is not None:
        column = batch.columns[field.column]
        return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    text = field.constant if field.constant is not None else _from_name(field.file_name or "", path.name)
    return pa.repeat(pa.scalar(text, pa.string()), batch.rows)


@lru_cache(maxsize=256)
def _from_name(pattern: str, name: str) -> str:
    found = re.search(pattern, name)
    if found is None:
        raise LoadRefused(f"{name}: the file's name does not match {pattern!r}, which the mapping takes a value from")
    return found[1] if found.groups() else found[0]


def _named(pattern: str) -> str:
    """Name the group that holds the value: the one group of the pattern, or all of it."""
    return (
        re.sub(r"\((?!\?)", "(?P<value>", pattern, count=1) if re.compile(pattern).groups else f"(?P<value>{pattern})"
    )


def _walk_across(column: Any, crosswalk: tuple[tuple[str, str], ...]) -> Any:
    keys, values = [key for key, _ in crosswalk], [value for _, value in crosswalk]
    return pc.take(pa.array(values, pa.string()), pc.index_in(column, value_set=pa.array(keys, pa.string())))
