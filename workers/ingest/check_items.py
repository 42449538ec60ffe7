"""What is wrong with the rows of a batch as items: ids, names, lengths, IIDs, identifiers. Pure."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from shared.errors import InvalidIdentifier
from shared.index.identifiers import CUT, SCHEMES, is_cut_number, normal
from shared.index.iid import canonical_iid
from workers.ingest import clean
from workers.ingest.batches import Batch, Reject
from workers.ingest.fields import Field, ItemFields
from workers.ingest.item_tracker import NO_DAY
from workers.ingest.observations import check_bounds
from workers.ingest.row_faults import Faults, reject_of

NAME_CHARACTERS_MAX = 1_000
ID_CHARACTERS_MAX = 500
IDENTIFIER_CHARACTERS_MAX = 200
LEVEL_CHARACTERS_MAX = 300
ATTRIBUTE_CHARACTERS_MAX = 65_536


class Checked(NamedTuple):
    """The ids of a batch's rows, the days since when they are known (NO_DAY where none is given), and their IIDs.

    The last two are None where the mapping has no such field.
    """

    ids: clean.Coded
    first_seen: Any
    iids: Any


def check_items(item: ItemFields, batch: Batch, path: Path, bad: Faults) -> Checked:
    """Note the faults of rows as items."""
    _check_nul(batch, bad)
    ids = clean.clean_distinct(item.id, batch, path, exact_parts=True)
    bad.where_value(ids, pc.is_null(ids.values), "has no item id", item.id, absent=True)
    long = pc.greater(pc.utf8_length(ids.values), ID_CHARACTERS_MAX)
    bad.where_value(ids, long, f"has an item id of over {ID_CHARACTERS_MAX} characters", item.id)
    bad.where_value(ids, _cut_numbers(ids.values), f"has an item id that is {CUT}", item.id)
    if item.name is not None:
        names = clean.clean_distinct(item.name, batch, path)
        bad.where_value(names, pc.is_null(names.values), "has no name", item.name, absent=True)
        long = pc.greater(pc.utf8_length(names.values), NAME_CHARACTERS_MAX)
        bad.where_value(names, long, "has a name of over 1,000 characters", item.name)
    for text, limit in _bounded_texts(item):
        _check_text(text, limit, batch, path, bad)
    first_seen = None
    if item.first_seen_on is not None:
        read = clean.days(item.first_seen_on, batch, path)
        forms = ", ".join(item.first_seen_on.format)
        bad.check(item.first_seen_on, read, f"has no day of the form {forms}", "has no day since when it is known")
        check_bounds(item.first_seen_on, read, bad)
        first_seen = clean.fill_nulls(read.values, NO_DAY)
    iids = None
    if item.iid is not None:
        given = clean.texts(item.iid, batch, path)
        iids = pa.array([canonical_iid(text) if text else None for text in given.to_pylist()], pa.string())
        bad.check(item.iid, clean.Read(given, iids), "has an IID that is not well-formed")
    return Checked(ids, first_seen, iids)


def _cut_numbers(texts: pa.Array) -> pa.Array:
    """Return which texts are numbers that a spreadsheet has cut: another item may have the same."""
    suspected = pc.fill_null(pc.match_substring(texts, "E+", ignore_case=True), False)
    if not pc.any(suspected, min_count=0).as_py():
        return suspected
    return pa.array([bool(text) and is_cut_number(text) for text in texts.to_pylist()], pa.bool_())


def _bounded_texts(item: ItemFields) -> Iterator[tuple[Field, int]]:
    """Yield the optional texts of an item and how many characters each may have."""
    for spec in (*item.category, item.brand, item.product_type):
        if spec is not None:
            yield spec, LEVEL_CHARACTERS_MAX
    yield from ((spec, IDENTIFIER_CHARACTERS_MAX) for _, spec in item.identifiers)
    yield from ((spec, ATTRIBUTE_CHARACTERS_MAX) for _, spec in item.attributes)


def _check_text(field: Field, limit: int, batch: Batch, path: Path, bad: Faults) -> None:
    """Note texts that are too long, and those that must not be empty. Looks closer only where a raw text is as long."""
    names = (field.column,) if field.column else field.columns or field.first_of
    bytes_max = sum(_longest(batch.columns[name]) for name in names)
    if bytes_max <= limit and not field.required:
        return
    given = clean.texts(field, batch, path)
    short = pc.less_equal(pc.utf8_length(given), limit)
    bad.check(field, clean.Read(given, pc.if_else(short, given, None)), f"is longer than {limit:,} characters")


def _check_nul(batch: Batch, bad: Faults) -> None:
    """Reject rows with the character that PostgreSQL has in no text."""
    for name, column in batch.columns.items():
        dictionary = pa.types.is_dictionary(column.type)
        values = column.dictionary if dictionary else column
        if pa.types.is_string(values.type):
            held = pc.match_substring(values, "\0")
            if pc.any(held).as_py():
                bad.where(pc.take(held, column.indices) if dictionary else held, "holds a NUL", Field(column=name))


def _longest(column: pa.Array) -> int:
    column = column.dictionary if pa.types.is_dictionary(column.type) else column
    if not pa.types.is_string(column.type):
        return 0
    return pc.max(pc.binary_length(column)).as_py() or 0


def wrong_identifiers(
    item: ItemFields, values: Sequence[Sequence[str | None]], rows: Sequence[int], batch: Batch, path: Path
) -> Iterator[Reject]:
    """Yield a reject for each identifier that can be none; `values` are those of each scheme for these rows.

    Neither the row nor the text is lost: the record shows it as its source writes it, and it identifies nothing.
    """
    for (scheme, source_field), texts in zip(item.identifiers, values, strict=True):
        if scheme not in SCHEMES:
            continue
        for row, text in zip(rows, texts, strict=True):
            reason = _fault(scheme, text) if text else None
            if reason is not None:
                yield reject_of(batch, path, row, reason, source_field, "field")


def _fault(scheme: str, text: str) -> str | None:
    try:
        normal(scheme, text)
    except InvalidIdentifier as error:
        return f"its {scheme} {error.detail}"
    return None
