"""Cleaning, a column at a time: from text as a source writes it to values, and which rows have none. Pure Arrow."""

import html
import re
from decimal import Context, Decimal
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.db.copy_binary import EPOCH_DAYS
from shared.errors import LoadRefused
from shared.index.identifiers import slug
from shared.money import MARKS, SIGNS, minor_digits
from shared.text import in_ascii
from shared.units.names import contents
from workers.ingest.batches import Batch, Reject, of_sheet, reject
from workers.ingest.calendar_days import parsed
from workers.ingest.fields import Field

# An entity or a tag of HTML, for RE2 and for Python.
MARKED_UP = (
    r"&(?:#[0-9]{2,7}|#x[0-9a-fA-F]{2,6}|[a-zA-Z]{2,8});|"
    r"</?(?:[bipu]|br|em|strong|span|div|font|sup|sub|h[1-6])(?:[ /][^<>]*)?>"
)
# A tag begins with a letter: "a < b" has none.
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->", re.DOTALL)
_EXACT = Context(prec=4_000)
_DIVISION = Context(prec=30)


def quantity(text: str | None, unit: str) -> str | None:
    """Return the weight (unit kg) or the volume (unit l) that a text states of one article, as unit prices read it."""
    amount = next((content.amount for content in contents(text or "", {}) if content.per == unit), None)
    if amount is None:
        return None
    return f"{_DIVISION.divide(Decimal(amount.numerator), Decimal(amount.denominator)):f}"


@lru_cache(maxsize=65_536)
def category(levels: tuple[str | None, ...], splits: tuple[str, ...]) -> tuple[str | None, tuple[str, ...] | None]:
    """Join the levels of a category, each a text or several in one, eight at most; return its code and its path."""
    parts: list[str] = []
    for text, split in zip(levels, splits, strict=True):
        if text:
            parts += [part.strip() for part in text.split(split) if part.strip()] if split else [text]
    path = tuple(parts[:8])
    return ".".join(slug(part) for part in path) or None, path or None


def times(text: str, factor: str) -> Decimal:
    """Return a number times the mapping's factor, exactly."""
    return _EXACT.multiply(Decimal(text), Decimal(factor)) if factor else Decimal(text)


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


class Coded(NamedTuple):
    """A column as its distinct texts and, for each row, the place of its text; null where there is none."""

    values: Any
    codes: Any

    def rows(self, of_values: Any, absent: Any) -> Any:
        """Spread what is known of each distinct text over the rows, as numpy; `absent` where there is none."""
        known = np.append(np.asarray(pc.fill_null(of_values, absent)), absent)
        return known.take(np.asarray(pc.fill_null(self.codes, len(known) - 1)))


class Read(NamedTuple):
    """A field of a batch: `given` is null where the file has nothing, `values` also where that cannot be read."""

    given: Any
    values: Any


def coded(field: Field, batch: Batch, path: Path, *, exact_parts: bool = False) -> Coded:
    """Return a field's cleaned text with each distinct text cleaned once; distinct raw texts may give the same one.

    With `exact_parts` a field of several columns has no text where one of them has none (with `gaps`, the first of
    them), and no two tuples of parts have the same text.
    """
    column = _as_texts(_origin(field, batch, path, exact_parts=exact_parts))
    encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    return Coded(_cleaned(field, encoded.dictionary), encoded.indices)


def texts(field: Field, batch: Batch, path: Path) -> Any:
    """Return a field's cleaned text for each row; null where there is none."""
    column = _as_texts(_origin(field, batch, path))
    if pa.types.is_dictionary(column.type):  # each distinct text is cleaned once
        return pc.take(_cleaned(field, column.dictionary), column.indices)
    return _cleaned(field, column)


def days(field: Field, batch: Batch, path: Path) -> Read:
    """Return days since 2000-01-01 as int32; unread is a text that fits none of the formats."""
    column = _origin(field, batch, path)
    if pa.types.is_timestamp(column.type):  # with a zone Arrow keeps UTC, whose day is meant
        column = column.cast(pa.timestamp(column.type.unit)).cast(pa.date32(), safe=False)
    if pa.types.is_date32(column.type):
        return Read(column, pc.subtract(column.cast(pa.int32()), EPOCH_DAYS))
    # A batch has few distinct days; each is parsed once.
    encoded = pc.dictionary_encode(texts(field, batch, path))
    days = [parsed(text, field.format) for text in encoded.dictionary.to_pylist()]
    return Read(encoded.indices, pc.take(pa.array(days, pa.int32()), encoded.indices))


def amounts(field: Field, batch: Batch, path: Path, currency: str) -> Read:
    """Return amounts in minor units as int64; unread is a text that is no amount which the currency can express."""
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
        return Read(given, pc.if_else(fine, _minor(whole, part, digits), _rounded(whole, part, digits)))
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


def filled(column: Any, empty: Any) -> Any:
    """Return a numpy array with `empty` where the column is null."""
    return np.asarray(pc.fill_null(column, empty))


def raw(field: Field, batch: Batch, path: Path, row: int) -> str | None:
    """Return what a row's file has for a field, before any cleaning."""
    if field.constant is not None:
        return field.constant
    if field.file_name is not None:
        return path.name
    names = field.columns or field.first_of or (field.column or "",)
    cells = [batch.columns[name][row].as_py() for name in names]
    texts = [str(cell) for cell in cells if cell is not None]
    if field.first_of:
        return next((text for text in texts if text.strip() not in field.null), None)
    return (field.join or " ").join(texts) if texts else None


def _as_texts(column: Any) -> Any:
    if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
        return column
    return column.cast(pa.string())


def without_html(text: str) -> str:
    """Return a text without the tags of HTML, with the characters that its entities stand for."""
    return " ".join(html.unescape(_TAG.sub(" ", text)).split())


def _cleaned(field: Field, column: Any) -> Any:
    if field.html and pc.any(pc.match_substring_regex(column, "[<&]"), min_count=0).as_py():
        texts = (None if text is None else without_html(text) for text in column.to_pylist())
        column = pa.array(texts, pa.string())
    if field.trim:
        column = pc.utf8_trim_whitespace(column)
    if field.pad:
        whole = pc.replace_substring_regex(column, r"^([0-9]+)\.0+$", r"\1")
        digits = pc.match_substring_regex(whole, rf"^[0-9]{{1,{field.pad}}}$")
        column = pc.if_else(digits, pc.utf8_lpad(whole, width=field.pad, padding="0"), column)
    if field.match:
        column = pc.struct_field(pc.extract_regex(column, field.match), field.group or "value")
    for old, new in field.replace:
        column = pc.replace_substring(column, old, new)
    if field.case:
        column = (pc.utf8_lower if field.case == "lower" else pc.utf8_upper)(column)
    column = pc.if_else(pc.is_in(column, value_set=pa.array(field.null)), pa.scalar(None, pa.string()), column)
    return _walk_across(column, field.crosswalk) if field.crosswalk is not None else column


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


def _rounded(whole: Any, part: Any, digits: int) -> Any:
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


def _origin(field: Field, batch: Batch, path: Path, *, exact_parts: bool = False) -> Any:
    column = _whole_origin(field, batch, path, exact_parts=exact_parts)
    if not field.beside:
        return column
    [other] = _parts(Field(null=field.null), batch, (field.beside,))
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return pc.if_else(pc.is_valid(other), column, None)


def _whole_origin(field: Field, batch: Batch, path: Path, *, exact_parts: bool) -> Any:
    if field.column is not None:
        column = batch.columns[field.column]
        return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if field.columns:
        return _joined(field, batch, exact_parts=exact_parts)
    if field.first_of:
        return pc.coalesce(*_parts(field, batch, field.first_of))
    text = field.constant if field.constant is not None else from_name(field.file_name or "", path.name)
    return pa.repeat(pa.scalar(text, pa.string()), batch.rows)


def _joined(field: Field, batch: Batch, *, exact_parts: bool) -> Any:
    parts, join = _parts(field, batch, field.columns), field.join or ("|" if exact_parts else " ")
    if field.gaps:
        parts[1:] = [pc.fill_null(part, "") for part in parts[1:]]
    if exact_parts:
        parts = [pc.replace_substring(pc.replace_substring(part, "\\", "\\\\"), join, f"\\{join}") for part in parts]
        return pc.binary_join_element_wise(*parts, join, null_handling="emit_null")
    absent = reduce(pc.and_, map(pc.is_null, parts))
    # Arrow would leave out a row whose parts are all null, and each row below it would have another row's text.
    parts[0] = pc.if_else(absent, "", parts[0])
    return pc.if_else(absent, None, pc.binary_join_element_wise(*parts, join, null_handling="skip"))


def _parts(field: Field, batch: Batch, names: tuple[str, ...]) -> list[Any]:
    """Return the texts of several columns; null where one has none."""
    parts = []
    for name in names:
        part = batch.columns[name].cast(pa.string())
        part = pc.utf8_trim_whitespace(part) if field.trim else part
        parts.append(pc.if_else(pc.is_in(part, value_set=pa.array(field.null)), pa.scalar(None, pa.string()), part))
    return parts


@lru_cache(maxsize=256)
def from_name(pattern: str, name: str) -> str:
    """Return what a pattern, or its group, matches in a file's name. Raises LoadRefused where it does not match."""
    match = re.search(pattern, name)
    if match is None:
        raise LoadRefused(f"{name}: the file's name does not match {pattern!r}, which the mapping takes a value from")
    return match[1] if match.groups() else match[0]


def _walk_across(column: Any, crosswalk: tuple[tuple[str, str], ...]) -> Any:
    keys, values = [key for key, _ in crosswalk], [value for _, value in crosswalk]
    return pc.take(pa.array(values, pa.string()), pc.index_in(column, value_set=pa.array(keys, pa.string())))


class Faults:
    """For each row the first thing that is wrong with it; `codes` is 0 where nothing is."""

    def __init__(self, rows: int) -> None:
        self.codes = np.zeros(rows, "i2")
        self._faults: list[tuple[str, Field | None]] = []
        self._in_fields: list[tuple[str, Field, Any]] = []

    def where(self, mask: Any, reason: str, field: Field | None = None) -> None:
        """Reject the rows of a mask."""
        hit = mask if isinstance(mask, np.ndarray) else np.asarray(pc.fill_null(mask, False))
        if hit.any():
            self._faults.append((reason, field))
            self.codes[hit & (self.codes == 0)] = len(self._faults)

    def where_value(self, column: Coded, mask: Any, reason: str, field: Field, *, absent: bool = False) -> None:
        """Reject by what is known of each distinct text; `absent` says whether to have none is a fault too."""
        if absent or pc.any(mask).as_py():
            self.where(column.rows(mask, absent), reason, field)

    def check(self, field: Field, read: Read, unread: str, absent: str = "is empty", *, among: Any = None) -> Any:
        """Note texts that cannot be read and, where a value is required, empty ones; return None where there are none.

        Looks at the rows of the mask `among` only. Returns a mask of the rows that have no value by a fault which costs
        no more than the field.
        """
        lost = None
        missing = read.values.null_count
        if missing > read.given.null_count:
            lost = self.note(field, pc.and_(pc.is_valid(read.given), pc.is_null(read.values)), unread, among)
        if field.required and read.given.null_count:
            more = self.note(field, pc.is_null(read.given), absent, among)
            lost = more if lost is None else lost if more is None else lost | more
        return lost

    def rejects(self, batch: Batch, path: Path) -> list[Reject]:
        """Return a reject for each row that has a fault, and for each field of the others that has one."""
        rows = np.flatnonzero(self.codes).tolist()
        rejects = [rejected(batch, path, row, *self._faults[self.codes[row] - 1]) for row in rows]
        for reason, field, hit in self._in_fields:
            rows = np.flatnonzero(hit & (self.codes == 0)).tolist()
            rejects += [rejected(batch, path, row, reason, field, "field") for row in rows]
        return rejects

    def note(self, field: Field, mask: Any, reason: str, among: Any = None) -> Any:
        """Note the values of a mask, which are not allowed; None where there are none, else as `check`."""
        hit = np.asarray(pc.fill_null(mask, False))
        if among is not None:
            hit = hit & among
        if not hit.any():
            return None
        if field.on_error == "field":
            self._in_fields.append((reason, field, hit))
            return hit
        self.where(hit, reason, field)
        return None


def rejected(batch: Batch, path: Path, row: int, reason: str, field: Field | None, scope: str = "row") -> Reject:
    """Return the reject of a row, or of its field."""
    cells = {name: column[row].as_py() for name, column in batch.columns.items()}
    column, value = (_column_of(field), raw(field, batch, path, row)) if field else (None, None)
    return reject(of_sheet(path.name, batch.sheet), int(batch.lines[row]), reason, cells, column, value, scope)


def _column_of(field: Field) -> str:
    """Name the column or columns of a field, or their substitute."""
    if field.constant is not None:
        return "(constant)"
    if field.file_name is not None:
        return "(file name)"
    return field.column or ", ".join(field.columns or field.first_of)
