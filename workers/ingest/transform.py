"""From a batch of text columns to what the index keeps: items, observations, rejects."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shared.index.identifiers import slug
from workers.ingest import calendar_days, clean
from workers.ingest.batch_items import BatchItems, combine_observations, count_missing, distinct, row_days
from workers.ingest.batches import Batch, Reject
from workers.ingest.check_items import (
    ATTRIBUTE_CHARACTERS_MAX,
    IDENTIFIER_CHARACTERS_MAX,
    LEVEL_CHARACTERS_MAX,
    NAME_CHARACTERS_MAX,
    check_items,
    wrong_identifiers,
)
from workers.ingest.clean import category, quantity
from workers.ingest.fields import Field
from workers.ingest.figures import DataQuality, DecimalSpread, FigureColumns, StagedFigure, decimals, totals
from workers.ingest.item_tracker import IID_CHANGED, IID_TAKEN, NO_DAY, ItemTracker, KnownItems
from workers.ingest.mapping import Mapping
from workers.ingest.observations import Observer
from workers.ingest.row_faults import Faults

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
    spreads: dict[str, DecimalSpread]
    quality: dict[str, DataQuality]
    content_hash: int


@dataclass
class Transformed:
    """The result of a batch. `observations.channel` counts into `channels`; `list` is -1 where there is none.

    `rows` are those of the file, also those that could not be read. `counts` are for the account of the load.
    """

    items: list[ItemRow] = field(default_factory=list)
    observations: npt.NDArray[np.void] | None = None
    channels: list[str] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    stage_figures: list[StagedFigure] = field(default_factory=list)


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
            self._check_items_exist(ids, bad)
        if iids is not None:
            bad.where(self._rows_of_others(ids, iids), "has an IID that belongs to another item", self._item.iid)
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

    def _check_items_exist(self, ids: clean.Coded, bad: Faults) -> None:
        """Reject rows that do not name exactly one item of the index."""
        faults = self.registry.find(ids.values.to_pylist())
        for reason in sorted({fault for fault in faults if fault is not None}):
            bad.where_value(ids, pa.array([fault == reason for fault in faults]), reason, self._item.id)

    def _rows_of_others(self, ids: clean.Coded, iids: pa.Array) -> pa.Array:
        """Return which rows would write over an item of another source, or give an item of this one a second IID."""
        source_ids = pc.take(ids.values, ids.codes).to_pylist()
        pairs = [(own, iid) if own and iid else None for own, iid in zip(source_ids, iids.to_pylist(), strict=True)]
        requested = {pair for pair in pairs if pair is not None}
        taken = self._owners(sorted({iid for _, iid in requested}), sorted({own for own, _ in requested}))
        owner_of = {iid: own for own, iid in taken}
        iid_of = dict(taken)
        bad = {(own, iid) for own, iid in requested if owner_of.get(iid, own) != own or iid_of.get(own, iid) != iid}
        return pa.array([pair in bad for pair in pairs])

    def _check_claims(self, ids: clean.Coded, iids: pa.Array, bad: Faults) -> None:
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

    def _fresh_items(
        self, batch: Batch, path: Path, met: BatchItems, numbers: npt.NDArray[np.int64]
    ) -> Iterator[Transformed]:
        self.registry.extend_spans(numbers, met.first, met.last)
        # An older row says nothing of the item: its text and its price come from the same, newest row.
        at = self.registry.newer(numbers, met.newest)
        # Most items of a batch are known from the one before: a hash of their raw values shows it before cleaning.
        fresh = at[self.registry.take_changed(numbers[at], self._contents(batch, path, met.chosen[at]))]
        days = np.where(met.newest[fresh] == NO_DAY, calendar_days.today(), met.newest[fresh])
        if self._item.join_by and not self._mapping.impacts:
            return iter(())  # observations alone say nothing of the item itself
        ids = [met.ids[n] for n in fresh]
        parts = (slice(n, n + _ITEMS_AT_ONCE) for n in range(0, len(fresh), _ITEMS_AT_ONCE))
        return (
            self._items(batch, path, met.chosen[fresh[part]], numbers[fresh[part]], ids[part], days[part])
            for part in parts
        )

    def _contents(self, batch: Batch, path: Path, firsts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
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
        firsts: npt.NDArray[np.int64],
        numbers: npt.NDArray[np.int64],
        ids: list[str],
        days: npt.NDArray[np.int64],
    ) -> Transformed:
        chosen = pa.array(firsts, pa.int64())
        small = Batch({n: pc.take(c, chosen) for n, c in batch.columns.items()}, list(firsts))
        registry = self.registry
        keys = registry.keys(numbers).tolist()

        def listed(spec: Field | None, limit: int) -> list[str | None]:
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
            found = {scheme: values[n] for scheme, values in identifiers}
            given = {key: values[n] for key, values in attributes}
            content = (
                name,
                [other] if other and other != name else [],
                slug(brands[n]) if brands[n] else None,
                brands[n],
                *category(levels[n], splits),
                types[n],
                [{"scheme": scheme, "value": value} for scheme, value in found.items() if value],
                {key: value for key, value in given.items() if value},
            )
            own = figures[n]
            digest = _content_hash((content, sorted((k, str(v)) for k, v in own.impacts.items())))
            rows.append(ItemRow(keys[n], iid, source_id, *content, int(days[n]), *own, digest))
        return Transformed(items=rows, rejects=rejects)


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column.cast(pa.string())


def _content_hash(content: tuple[object, ...]) -> int:
    return int.from_bytes(hashlib.blake2b(msgspec.msgpack.encode(content), digest_size=8).digest(), signed=True)
