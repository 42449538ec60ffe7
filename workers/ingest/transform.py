"""From a batch of text columns to what the index keeps: items, observations, rejects."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.errors import InvalidIdentifier
from shared.index.identifiers import SCHEMES, normal, slug
from shared.index.iid import canonical_iid
from workers.ingest import calendar_days, clean
from workers.ingest.batches import Batch, Reject
from workers.ingest.clean import Coded, Faults, category, quantity, rejected
from workers.ingest.fields import Field, ItemFields
from workers.ingest.item_tracker import IID_CHANGED, IID_TAKEN, LATEST, NO_DAY, ItemTracker, KnownItems
from workers.ingest.mapping import Mapping
from workers.ingest.observations import (
    FigureColumns,
    Observed,
    Observer,
    Spread,
    StageFigure,
    check_bounds,
    decimals,
    totals,
)

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
    """Note what is wrong with rows as items."""
    _check_nul(batch, bad)
    ids = clean.coded(item.id, batch, path, exact_parts=True)
    bad.where_value(ids, pc.is_null(ids.values), "has no item id", item.id, absent=True)
    long = pc.greater(pc.utf8_length(ids.values), ID_CHARACTERS_MAX)
    bad.where_value(ids, long, f"has an item id of over {ID_CHARACTERS_MAX} characters", item.id)
    if item.name is not None:
        names = clean.coded(item.name, batch, path)
        bad.where_value(names, pc.is_null(names.values), "has no name", item.name, absent=True)
        long = pc.greater(pc.utf8_length(names.values), NAME_CHARACTERS_MAX)
        bad.where_value(names, long, "has a name of over 1,000 characters", item.name)
    for text, limit in _limited(item):
        _check_text(text, limit, batch, path, bad)
    first_seen = None
    if item.first_seen_on is not None:
        read = clean.days(item.first_seen_on, batch, path)
        forms = ", ".join(item.first_seen_on.format)
        bad.check(item.first_seen_on, read, f"has no day of the form {forms}", "has no day since when it is known")
        check_bounds(item.first_seen_on, read, bad)
        first_seen = clean.filled(read.values, NO_DAY)
    iids = None
    if item.iid is not None:
        given = clean.texts(item.iid, batch, path)
        iids = pa.array([canonical_iid(text) if text else None for text in given.to_pylist()], pa.string())
        bad.check(item.iid, clean.Read(given, iids), "has an IID that is not well-formed")
    return Checked(ids, first_seen, iids)


def _limited(item: ItemFields) -> Iterator[tuple[Field, int]]:
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


def _longest(column: Any) -> int:
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
                yield rejected(batch, path, row, reason, source_field, "field")


def _fault(scheme: str, text: str) -> str | None:
    try:
        normal(scheme, text)
    except InvalidIdentifier as error:
        return f"its {scheme} {error.detail}"
    return None


# The items and the observations of one batch: which row speaks for an item, which rows have an observation. Pure.


@dataclass
class BatchItems:
    """The items of a batch: for each good row the place of its item, the items' ids, the newest row of each.

    `newest` is the day of that row, NO_DAY where it has none; `first` and `last` span the days of all rows.
    """

    codes: Any
    ids: list[str]
    chosen: Any
    newest: Any
    first: Any
    last: Any

    def extend_spans(self, days: Any, codes: Any) -> None:
        """Extend the items' spans by days, of which some may be NO_DAY."""
        if len(days) and days.min() == NO_DAY:
            there = np.flatnonzero(days != NO_DAY)
            days, codes = days.take(there), codes.take(there)
        if np.all(days[1:] >= days[:-1]):  # in the order of days the last assignment is the latest day
            first, last = self.first.copy(), self.last.copy()
            first[codes[::-1]], last[codes] = days[::-1], days
            self.first, self.last = np.minimum(first, self.first), np.maximum(last, self.last)
        else:
            np.minimum.at(self.first, codes, days)
            np.maximum.at(self.last, codes, days)


def distinct(ids: Coded, good: Any, rows: int, days: Any) -> BatchItems:
    """Return the items of the good rows; `days` are those rows' days, or None where no row has one."""
    encoded = pc.dictionary_encode(ids.values)  # texts that were different may be the same when cleaned
    merged = np.asarray(pc.fill_null(encoded.indices, 0))
    codes = merged.take(np.asarray(pc.fill_null(ids.codes, 0)))
    if len(good) < rows:
        codes = codes.take(good)
    chosen, newest = np.full(len(encoded.dictionary), -1), np.full(len(encoded.dictionary), NO_DAY, "i4")
    in_order = days is None or bool(np.all(days[1:] >= days[:-1]))
    order: Any = slice(None) if in_order else np.argsort(days, kind="stable")
    chosen[codes[order]] = good[order]  # of equal places the last assignment stays: the newest row, of these the last
    if days is not None:
        newest[codes[order]] = days[order]
    used = np.flatnonzero(chosen >= 0)
    used = used[np.argsort(chosen[used])]
    positions = np.zeros(len(chosen), "i8")
    positions[used] = np.arange(len(used))
    first, last = np.full(len(used), LATEST, "i4"), np.full(len(used), NO_DAY, "i4")
    listed = pc.take(encoded.dictionary, pa.array(used)).to_pylist()
    return BatchItems(positions.take(codes), listed, chosen[used], newest[used], first, last)


def combine_observations(shaped: list[Observed], good: Any, rows: int) -> tuple[Any, Any, list[str]]:
    """Return the observations of the good rows, their places among these (None: the same), and the channels."""
    if not shaped:
        return None, None, []
    if len(shaped) == 1 and shaped[0].present is None:
        kept = shaped[0].rows if len(good) == rows else shaped[0].rows.take(good)
        return kept, None, shaped[0].channels
    parts, positions, channels = [], [], list[str]()
    for table in shaped:
        at = np.arange(len(good)) if table.present is None else np.flatnonzero(table.present.take(good))
        part = table.rows.take(good.take(at))
        part["channel"] += len(channels)
        channels += table.channels
        parts.append(part)
        positions.append(at)
    kept, at = np.concatenate(parts), np.concatenate(positions)
    if len(parts) > 1:  # rows stay in the order of the file, which decides which one is the newest
        order = np.argsort(at, kind="stable")
        kept, at = kept.take(order), at.take(order)
    return (kept, at, channels) if len(kept) else (None, None, [])


def row_days(observed: tuple[Any, Any, list[str]], first_seen: Any, good: Any) -> Any:
    """Return the days of the good rows, NO_DAY where one has none; None where no row has one."""
    rows, positions, _ = observed
    if rows is None:
        return None if first_seen is None else first_seen.take(good)
    if positions is None:
        return rows["day"]
    days = np.full(len(good), NO_DAY, "i4")
    days[positions] = rows["day"]
    return days


def count_missing(mask: Any, among: Any, good: Any) -> int:
    """Count the good rows that a mask leaves out, among those of another mask; None is a mask of all rows."""
    if mask is None:
        return 0
    counted = np.ones(len(good), bool) if among is None else among.take(good)
    return int(np.count_nonzero(counted & ~mask.take(good)))


# Asked with IIDs and with a source's own ids: which pairs of id and IID the index has; no id where another source's.
Owners = Callable[[list[str], list[str]], set[tuple[str | None, str]]]
_ITEMS_AT_ONCE = 2_048


class ItemRow(NamedTuple):
    """An item as staged; `content_hash` changes with anything but its observations."""

    key: int
    iid: str
    source_item_id: str
    name: str | None
    alt_names: list[str]
    brand_slug: str | None
    brand_name: str | None
    category_code: str | None
    category_path: tuple[str, ...] | None
    product_type: str | None
    identifiers: list[dict[str, str]]
    attributes: dict[str, str]
    day: int
    impacts: dict[str, Decimal]
    spreads: dict[str, Spread]
    content_hash: int


@dataclass
class Transformed:
    """The result of a batch. `observations.channel` counts into `channels`; `list` is -1 where there is none.

    `rows` are those of the file, also those that could not be read. `counts` are for the account of the load.
    """

    items: list[ItemRow] = field(default_factory=list)
    observations: Any = None
    channels: list[str] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    stage_figures: list[StageFigure] = field(default_factory=list)


class Transformer:
    """Shapes the batches of one source. Remembers keys, so that an item that comes again costs one lookup.

    `channels` are the spellings of channels that the index has, by their folded text; `known` finds the items that a
    mapping with `join_by` speaks of.
    """

    def __init__(
        self,
        mapping: Mapping,
        alt_names: dict[str, str],
        owners: Owners = lambda iids, ids: set(),
        channels: Dictionary[str, str] = MappingProxyType({}),
        known: KnownItems | None = None,
    ) -> None:
        assert mapping.item is not None
        self._mapping = mapping
        self._item = mapping.item
        self._alt_names = alt_names
        self._owners = owners
        spellings = dict(channels)
        self._observers = [Observer(mapping.source, spec, spellings) for spec in mapping.observations]
        self.registry = ItemTracker(mapping.source, known)

    def shape(self, batch: Batch, path: Path) -> Transformed:
        """Shape one batch; every row is in an item, in an observation, or among the rejects with its reason."""
        result, items = self.begin(batch, path)
        for part in items:
            result.items += part.items
            result.rejects += part.rejects
        return result

    def begin(self, batch: Batch, path: Path) -> tuple[Transformed, Iterator[Transformed]]:
        """Shape a batch's observations; its items are cleaned when they are taken, some thousand at a time."""
        if batch.rows == 0:
            return Transformed(rejects=batch.rejects, rows=batch.rows_in_file), iter(())
        bad = Faults(batch.rows)
        ids, first_seen, iids = check_items(self._item, batch, path, bad)
        figures = FigureColumns(self._mapping.impacts, batch, path, bad)
        shaped = [observer.shape(batch, path, bad) for observer in self._observers]
        if self._item.join_by:
            self._check_known(ids, bad)
        if iids is not None:
            bad.where(self._taken(ids, iids), "has an IID that belongs to another item", self._item.iid)
            self._check_claims(ids, iids, bad)
        good = np.flatnonzero(bad.codes == 0)
        rejects = batch.rejects + bad.rejects(batch, path)
        result = Transformed(rejects=rejects, rows=batch.rows_in_file)
        result.counts["rows_used"] = len(good)
        figures.count(good, result.counts)
        if not len(good):
            return result, iter(())
        rows, positions, result.channels = observed = combine_observations(shaped, good, batch.rows)
        met = distinct(ids, good, batch.rows, row_days(observed, first_seen, good))
        numbers = self.registry.number(met.ids)
        result.stage_figures = figures.of_stages(good, self.registry.keys(numbers).take(met.codes))
        if rows is not None:
            codes = met.codes if positions is None else met.codes.take(positions)
            rows["item"] = self.registry.keys(numbers).take(codes)
            met.extend_spans(rows["day"], codes)
            result.observations = rows
        result.counts["observations_absent"] = sum(count_missing(table.priced, None, good) for table in shaped)
        result.counts["observations_rejected"] = sum(
            count_missing(table.present, table.priced, good) for table in shaped
        )
        if first_seen is not None:
            met.extend_spans(first_seen.take(good), met.codes)
        return result, self._fresh_items(batch, path, met, numbers)

    def _check_known(self, ids: clean.Coded, bad: Faults) -> None:
        """Reject rows that do not name exactly one item of the index."""
        faults = self.registry.find(ids.values.to_pylist())
        for reason in sorted({fault for fault in faults if fault is not None}):
            bad.where_value(ids, pa.array([fault == reason for fault in faults]), reason, self._item.id)

    def _taken(self, ids: clean.Coded, iids: Any) -> Any:
        """Return which rows would write over an item of another source, or give an item of this one a second IID."""
        source_ids = pc.take(ids.values, ids.codes).to_pylist()
        pairs = [(own, iid) if own and iid else None for own, iid in zip(source_ids, iids.to_pylist(), strict=True)]
        requested = {pair for pair in pairs if pair is not None}
        taken = self._owners(sorted({iid for _, iid in requested}), sorted({own for own, _ in requested}))
        owner_of = {iid: own for own, iid in taken}
        iid_of = dict(taken)
        bad = {(own, iid) for own, iid in requested if owner_of.get(iid, own) != own or iid_of.get(own, iid) != iid}
        return pa.array([pair in bad for pair in pairs])

    def _check_claims(self, ids: clean.Coded, iids: Any, bad: Faults) -> None:
        """Reject rows that claim an IID which another id has, or another IID than their id has."""
        texts, own = ids.values.to_pylist(), iids.to_pylist()
        codes = np.asarray(pc.fill_null(ids.codes, 0))
        claimed = {
            row: self.registry.claim(texts[codes[row]], own[row]) for row in np.flatnonzero(bad.codes == 0).tolist()
        }
        for reason in (IID_TAKEN, IID_CHANGED):
            mask = np.zeros(len(bad.codes), bool)
            mask[[row for row, refused in claimed.items() if refused == reason]] = True
            bad.where(mask, reason, self._item.iid)

    def _fresh_items(self, batch: Batch, path: Path, met: BatchItems, numbers: Any) -> Iterator[Transformed]:
        self.registry.extend_spans(numbers, met.first, met.last)
        # An older row says nothing of the item: its text and its price come from the same, newest row.
        at = self.registry.newer(numbers, met.newest)
        # Most items of a batch are known from the one before: a hash of their raw values shows it before cleaning.
        fresh = at[self.registry.changed(numbers[at], self._contents(batch, path, met.chosen[at]))]
        days = np.where(met.newest[fresh] == NO_DAY, calendar_days.today(), met.newest[fresh])
        if self._item.join_by and not self._mapping.impacts:
            return iter(())  # observations alone say nothing of the item itself
        ids = [met.ids[n] for n in fresh]
        parts = (slice(n, n + _ITEMS_AT_ONCE) for n in range(0, len(fresh), _ITEMS_AT_ONCE))
        return (
            self._items(batch, path, met.chosen[fresh[part]], numbers[fresh[part]], ids[part], days[part])
            for part in parts
        )

    def _contents(self, batch: Batch, path: Path, firsts: Any) -> Any:
        chosen = pa.array(firsts)
        of_file = str([clean.from_name(pattern, path.name) for pattern in self._mapping.item_file_names])
        columns = [
            pc.fill_null(_plain(pc.take(batch.columns[name], chosen)), "") for name in self._mapping.item_columns
        ]
        joined = pc.binary_join_element_wise(pa.repeat(of_file, len(chosen)), *columns, "\x1f").to_pylist()
        return np.array([hash(text) or 1 for text in joined], "i8")

    def _items(
        self,
        batch: Batch,
        path: Path,
        firsts: Any,
        numbers: Any,
        ids: list[str],
        days: Any,
    ) -> Transformed:
        chosen = pa.array(firsts, pa.int64())
        small = Batch({n: pc.take(c, chosen) for n, c in batch.columns.items()}, list(firsts))
        registry = self.registry
        keys = registry.keys(numbers).tolist()

        def listed(spec: Field | None, limit: int) -> list[Any]:
            """Return a field's texts; None where one is too long, which then cost no more than the field."""
            if spec is None:
                return [None] * len(ids)
            if spec.multiply and not spec.unit:  # a unit converts by itself
                return [None if number is None else f"{number.normalize():f}" for number in decimals(spec, small, path)]
            texts = clean.texts(spec, small, path)
            if (pc.max(pc.binary_length(texts)).as_py() or 0) > limit:
                texts = pc.if_else(pc.less_equal(pc.utf8_length(texts), limit), texts, None)
            values = texts.to_pylist()
            return [quantity(value, spec.unit) for value in values] if spec.unit else values

        item = self._item
        brands, types = listed(item.brand, LEVEL_CHARACTERS_MAX), listed(item.product_type, LEVEL_CHARACTERS_MAX)
        of_levels = (listed(spec, LEVEL_CHARACTERS_MAX) for spec in item.category)
        levels = list(zip(*of_levels, strict=True)) or [()] * len(ids)
        names = listed(item.name, NAME_CHARACTERS_MAX)
        splits = tuple(spec.split for spec in item.category)
        identifiers = [(scheme, listed(spec, IDENTIFIER_CHARACTERS_MAX)) for scheme, spec in item.identifiers]
        rejects = list(wrong_identifiers(item, [values for _, values in identifiers], firsts.tolist(), batch, path))
        attributes = [(name, listed(spec, ATTRIBUTE_CHARACTERS_MAX)) for name, spec in item.attributes]
        figures = totals(self._mapping.impacts, small, path)
        rows = []
        for n, (iid, source_id, name) in enumerate(zip(registry.iids(numbers), ids, names, strict=True)):
            other = self._alt_names.get(source_id)
            content = (
                name,
                [other] if other and other != name else [],
                slug(brands[n]) if brands[n] else None,
                brands[n],
                *category(levels[n], splits),
                types[n],
                [{"scheme": scheme, "value": values[n]} for scheme, values in identifiers if values[n]],
                {key: values[n] for key, values in attributes if values[n]},
            )
            own, wide = figures[n]
            digest = _content_hash((content, sorted((k, str(v)) for k, v in own.items())))
            rows.append(ItemRow(keys[n], iid, source_id, *content, int(days[n]), own, wide, digest))
        return Transformed(items=rows, rejects=rejects)


def _plain(column: Any) -> Any:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column.cast(pa.string())


def _content_hash(content: Any) -> int:
    return int.from_bytes(hashlib.blake2b(msgspec.msgpack.encode(content), digest_size=8).digest(), signed=True)
