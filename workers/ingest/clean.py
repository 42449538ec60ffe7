"""Cells of a column, from text as a source writes it to the texts and days that are meant. Pure Arrow."""

import html
import re
from decimal import Context, Decimal
from functools import lru_cache, reduce
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shared.db.copy_binary import EPOCH_DAYS
from shared.errors import LoadRefused
from shared.index.identifiers import slug
from shared.units.names import contents
from workers.ingest.batches import Batch
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


class Coded(NamedTuple):
    """A column as its distinct texts and, for each row, the place of its text; null where there is none."""

    values: pa.Array
    codes: pa.Array

    def rows(self, of_values: pa.Array, absent: int | bool) -> npt.NDArray[np.generic]:
        """Spread what is known of each distinct text over the rows, as numpy; `absent` where there is none."""
        known = np.append(np.asarray(pc.fill_null(of_values, absent)), absent)
        return known.take(np.asarray(pc.fill_null(self.codes, len(known) - 1)))


class Read(NamedTuple):
    """A field of a batch: `given` is null where the file has nothing, `values` also where that cannot be read."""

    given: pa.Array
    values: pa.Array


def clean_distinct(field: Field, batch: Batch, path: Path, *, exact_parts: bool = False) -> Coded:
    """Return a field's cleaned text with each distinct text cleaned once; distinct raw texts may give the same one.

    With `exact_parts` a field of several columns has no text where one of them has none (with `gaps`, the first of
    them), and no two tuples of parts have the same text.
    """
    column = _as_texts(origin(field, batch, path, exact_parts=exact_parts))
    encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    return Coded(_clean(field, encoded.dictionary), encoded.indices)


def texts(field: Field, batch: Batch, path: Path) -> pa.Array:
    """Return a field's cleaned text for each row; null where there is none."""
    column = _as_texts(origin(field, batch, path))
    if pa.types.is_dictionary(column.type):  # each distinct text is cleaned once
        return pc.take(_clean(field, column.dictionary), column.indices)
    return _clean(field, column)


def days(field: Field, batch: Batch, path: Path) -> Read:
    """Return days since 2000-01-01 as int32; unread is a text that fits none of the formats."""
    column = origin(field, batch, path)
    if pa.types.is_timestamp(column.type):  # with a zone Arrow keeps UTC, whose day is meant
        column = column.cast(pa.timestamp(column.type.unit)).cast(pa.date32(), safe=False)
    if pa.types.is_date32(column.type):
        return Read(column, pc.subtract(column.cast(pa.int32()), EPOCH_DAYS))
    # A batch has few distinct days; each is parsed once.
    encoded = pc.dictionary_encode(texts(field, batch, path))
    days = [parsed(text, field.format) for text in encoded.dictionary.to_pylist()]
    return Read(encoded.indices, pc.take(pa.array(days, pa.int32()), encoded.indices))


def fill_nulls(column: pa.Array, empty: int) -> npt.NDArray[np.int64]:
    """Return a numpy array with `empty` where the column is null."""
    return np.asarray(pc.fill_null(column, empty))


def _as_texts(column: pa.Array) -> pa.Array:
    if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
        return column
    return column.cast(pa.string())


def without_html(text: str) -> str:
    """Return a text without the tags of HTML, with the characters that its entities stand for."""
    # Scrapers write tags as entities: what is one only when it is unescaped is one too.
    return " ".join(_TAG.sub(" ", html.unescape(_TAG.sub(" ", text))).split())


def _clean(field: Field, column: pa.Array) -> pa.Array:
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


def origin(field: Field, batch: Batch, path: Path, *, exact_parts: bool = False) -> pa.Array:
    column = _whole_origin(field, batch, path, exact_parts=exact_parts)
    if not field.beside:
        return column
    [other] = _parts(Field(null=field.null), batch, (field.beside,))
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return pc.if_else(pc.is_valid(other), column, None)


def _whole_origin(field: Field, batch: Batch, path: Path, *, exact_parts: bool) -> pa.Array:
    if field.column is not None:
        column = batch.columns[field.column]
        return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if field.columns:
        return _join(field, batch, exact_parts=exact_parts)
    if field.first_of:
        return pc.coalesce(*_parts(field, batch, field.first_of))
    text = field.constant if field.constant is not None else from_name(field.file_name or "", path.name)
    return pa.repeat(pa.scalar(text, pa.string()), batch.rows)


def _join(field: Field, batch: Batch, *, exact_parts: bool) -> pa.Array:
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


def _parts(field: Field, batch: Batch, names: tuple[str, ...]) -> list[pa.Array]:
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


def _walk_across(column: pa.Array, crosswalk: tuple[tuple[str, str], ...]) -> pa.Array:
    keys, values = [key for key, _ in crosswalk], [value for _, value in crosswalk]
    return pc.take(pa.array(values, pa.string()), pc.index_in(column, value_set=pa.array(keys, pa.string())))
