"""Amounts and numbers of a column, from text as people write it to exact values. Pure Arrow."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.currencies import MARKS, SIGNS
from shared.money import minor_digits
from shared.text import in_ascii
from workers.ingest.batches import Batch
from workers.ingest.clean import Read, origin, texts
from workers.ingest.fields import Field

_WHOLE_DIGITS_MAX = 12
_ROUNDED_DIGITS_MAX = 18
_NUMBER_CHARACTERS_MAX = 1_000
_AMOUNT = rf"^(?P<whole>[0-9]{{1,{_WHOLE_DIGITS_MAX}}})(?:\.(?P<part>[0-9]*))?$"
# An amount between the marks of a currency, without a sign; after it may stand the dash of round prices (12.–, 12/-).
_BARE = (
    r"^(?:\pL\.|[^0-9.,/()%+\-\x{2212}]|[.,]\s)*(?P<bare>[0-9](?:[0-9 .,]*[0-9])?)"
    r"(?:[.,/]?\s?[-\x{2013}\x{2014}]{1,2})?(?:[^0-9/()%]{0,6})$"
)
# The code of a currency or a sign that is no part of a word, in upper case: of "US$" the whole, not the last character.
_MARK = (
    r"(?:^|[^\pL])(?P<mark>"
    + "|".join(["[A-Z]{3}", *map(re.escape, sorted(map(str.upper, SIGNS), key=len, reverse=True))])
    + r")(?:[^\pL]|$)"
)
_SPACED = r"^[0-9]{1,3}(?: [0-9]{3})+(?:[.,][0-9]+)?$"
# Groups of three; in India those above the last are of two (1,23,456.00).
_COMMA_GROUPS = r"^[0-9]{1,3}(?:(?:,[0-9]{3})+|(?:,[0-9]{2})+,[0-9]{3})(?:\.[0-9]+)?$"
_POINT_GROUPS = r"^[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]+)?$"
# An exponent of three digits bounds how many digits a number can have when it is written out.
_NUMBER = r"^(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$"
_ZERO = r"^-?[0.]+(?:[eE]|$)"
# Reports compute with doubles, and with their squares: one figure beyond these would spoil each sum that it is part of.
_SIZES = (1e-100, 1e100)
NO_SIGNED_FIGURE = "is no number, or one beyond 1e-100 to 1e100"
NO_FIGURE = "is no number, a negative one, or one beyond 1e-100 to 1e100"


def amounts(field: Field, batch: Batch, path: Path, currency: str) -> Read:
    """Return amounts in minor units as int64; unread is a text that is no amount which the currency can express."""
    digits = minor_digits(currency)
    typed = origin(field, batch, path)
    if (
        pa.types.is_decimal128(typed.type)
        and typed.type.scale == digits
        and typed.type.precision <= _WHOLE_DIGITS_MAX + digits
    ):
        # A decimal128 is its integer of minor units in 16 bytes, little endian; so few digits fit into the lower half.
        halves = pa.Array.from_buffers(pa.int64(), 2 * len(typed), [None, typed.buffers()[1]], offset=2 * typed.offset)
        minor = pc.if_else(pc.is_valid(typed), pa.array(np.asarray(halves)[::2]), None)
        return Read(typed, pc.if_else(pc.greater_equal(minor, 0), minor, None))
    if field.free_form:
        given = _figures(field, batch, path)
        plain = pc.if_else(_states_another(given, currency), pa.scalar(""), _as_people_write(given, digits))
    else:
        given, plain = _plain_digits(field, batch, path)
    parts = pc.extract_regex(plain, _AMOUNT)
    whole, part = pc.struct_field(parts, [0]), pc.utf8_rtrim(pc.struct_field(parts, [1]), characters="0")
    fine = pc.less_equal(pc.utf8_length(part), digits)
    if field.round and pc.any(pc.invert(fine)).as_py():
        return Read(given, pc.if_else(fine, _minor(whole, part, digits), _round_half_even(whole, part, digits)))
    return Read(given, pc.if_else(fine, _minor(whole, part, digits), None))


def numbers(field: Field, batch: Batch, path: Path, *, signed: bool = False) -> Read:
    """Return plain numbers as text, with every digit that the file has; not negative unless `signed`.

    `multiply` is applied later, to the exact decimal. Unread is also what is beyond `_SIZES` after it.
    """
    given, plain = _plain_digits(field, batch, path)
    pattern = _NUMBER.replace("^", "^-?", 1) if signed else _NUMBER
    fits = pc.and_(
        pc.match_substring_regex(plain, pattern), pc.less_equal(pc.binary_length(plain), _NUMBER_CHARACTERS_MAX)
    )
    plain = pc.if_else(fits, plain, None)
    size = pc.abs(pc.multiply(plain.cast(pa.float64()), float(field.multiply or 1)))
    inside = pc.and_(pc.greater_equal(size, _SIZES[0]), pc.less_equal(size, _SIZES[1]))
    return Read(given, pc.if_else(pc.or_(inside, pc.match_substring_regex(plain, _ZERO)), plain, None))


def whole_numbers(field: Field, batch: Batch, path: Path) -> Read:
    """Return positive whole numbers as int32."""
    column = _figures(field, batch, path)
    whole = pc.match_substring_regex(column, "^[1-9][0-9]{0,8}$")
    return Read(column, pc.if_else(whole, column, None).cast(pa.int32()))


def _figures(field: Field, batch: Batch, path: Path) -> Any:
    """Return a field's cleaned text for each row, with the digits of ASCII in place of those of other scripts."""
    column = texts(field, batch, path)
    if pc.all(pc.string_is_ascii(column), min_count=0).as_py():
        return column
    encoded = pc.dictionary_encode(column)
    plain = [None if text is None else in_ascii(text) for text in encoded.dictionary.to_pylist()]
    return pc.take(pa.array(plain, pa.string()), encoded.indices)


def _minor(whole: Any, part: Any, digits: int) -> Any:
    """Join whole and part of amounts to minor units; digits finer than the currency's are cut off."""
    if not digits:
        return whole.cast(pa.int64())
    part = pc.utf8_slice_codeunits(pc.fill_null(part, ""), 0, digits)
    return pc.binary_join_element_wise(whole, pc.utf8_rpad(part, width=digits, padding="0"), "").cast(pa.int64())


def _round_half_even(whole: Any, part: Any, digits: int) -> Any:
    """Return amounts rounded half to even; null where there are more digits than can be rounded exactly."""
    part = pc.utf8_rpad(pc.fill_null(part, ""), width=digits + 1, padding="0")
    exact = pc.less_equal(pc.utf8_length(part), digits + _ROUNDED_DIGITS_MAX)
    finer = pc.utf8_slice_codeunits(part, digits, digits + _ROUNDED_DIGITS_MAX)
    cut = pc.utf8_slice_codeunits(part, 0, digits) if digits else pa.repeat(pa.scalar(""), len(part))
    shifted = pc.binary_join_element_wise(pc.binary_join_element_wise(whole, cut, ""), finer, ".")
    minor = shifted.cast(pa.decimal128(38, _ROUNDED_DIGITS_MAX))
    return pc.if_else(exact, pc.round(minor, ndigits=0, round_mode="half_to_even").cast(pa.int64()), None)


def _plain_digits(field: Field, batch: Batch, path: Path) -> tuple[Any, Any]:
    """Return a number's text, and it with a decimal point and without what people put between digits.

    Digits in groups of other sizes are left as they are: "1,2" with thousands "," is no twelve.
    """
    given = _figures(field, batch, path)
    column = given
    strip, thousands, decimal = map(in_ascii, (field.strip, field.thousands, field.decimal))
    for character in strip:
        column = pc.replace_substring(column, character, "")
    column = pc.utf8_trim_whitespace(column)
    if thousands:
        mark, point = re.escape(thousands), re.escape(decimal)
        grouped = rf"^-?[0-9]{{1,3}}(?:{mark}[0-9]{{2,3}})*{mark}[0-9]{{3}}(?:{point}[0-9]*)?$"
        joined = pc.replace_substring(column, thousands, "")
        column = pc.if_else(pc.match_substring_regex(column, grouped), joined, column)
        plain = pc.invert(pc.match_substring(column, thousands))
        column = pc.if_else(plain, column, pa.scalar("", pa.string()))
    if decimal != ".":
        pointed = pc.match_substring(column, ".")
        column = pc.replace_substring(column, decimal, ".")
        column = pc.if_else(pointed, pa.scalar("", pa.string()), column)
    return given, column


def _states_another(column: Any, currency: str) -> Any:
    """Return which amounts state the code or the sign of another currency."""
    others = [mark.upper() for mark, meant in MARKS.items() if currency and currency not in meant]
    stated = pc.struct_field(pc.extract_regex(pc.utf8_upper(column), _MARK), ["mark"])
    return pc.is_in(stated, value_set=pa.array(others, pa.string()))


def _as_people_write(column: Any, minor: int) -> Any:
    """Return amounts with a decimal point and nothing else; an empty text where none can be read, or two can.

    `minor`: the currency's digits. One mark before three digits separates thousands of a currency without decimals and
    is the decimal mark of one with three; of all others it may be either, unless zero alone stands before it.
    """
    spaced = pc.replace_substring_regex(column, "[\u00a0\u2009\u202f'\u2019\u2018`]", " ")
    bare = pc.struct_field(pc.extract_regex(pc.utf8_trim_whitespace(spaced), _BARE), ["bare"])
    grouped = pc.match_substring_regex(bare, _SPACED)
    bare = pc.if_else(grouped, pc.replace_substring(bare, " ", ""), bare)
    points, commas = pc.count_substring(bare, "."), pc.count_substring(bare, ",")
    one = pc.equal(pc.add(points, commas), 1)
    thousand = pc.match_substring_regex(bare, r"^[1-9][0-9]{0,2}[.,][0-9]{3}$")
    one_is_group = thousand if minor == 0 else pa.repeat(pa.scalar(False), len(bare))
    doubtful = thousand if minor not in (0, 3) else None
    with_point = pc.replace_substring(bare, ",", ".")
    without = pc.replace_substring_regex(bare, "[.,]", "")
    read = pc.if_else(pc.and_(one, pc.invert(one_is_group)), with_point, without)
    comma_groups = pc.match_substring_regex(bare, _COMMA_GROUPS)
    point_groups = pc.match_substring_regex(bare, _POINT_GROUPS)
    both = pc.invert(pc.or_(one, pc.equal(pc.add(points, commas), 0)))
    read = pc.if_else(pc.and_(both, comma_groups), pc.replace_substring(bare, ",", ""), read)
    decimal_comma = pc.replace_substring(pc.replace_substring(bare, ".", ""), ",", ".")
    read = pc.if_else(pc.and_(both, point_groups), decimal_comma, read)
    unread = pc.and_(both, pc.invert(pc.or_(comma_groups, point_groups)))
    if doubtful is not None:
        unread = pc.or_(unread, doubtful)
    read = pc.if_else(unread, pa.scalar("", pa.string()), read)
    return pc.if_else(pc.is_valid(column), pc.fill_null(read, ""), None)
