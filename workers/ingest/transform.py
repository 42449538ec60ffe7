"""From a batch of text columns to what the index keeps: items, observations, rejects."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.ids import canonical_iid
from shared.slugs import slug
from workers.ingest import clean
from workers.ingest.fields import Field
from workers.ingest.item_tracker import ItemTracker
from workers.ingest.mapping import Mapping
from workers.ingest.normalize import category, kilograms, times
from workers.ingest.observations import Observer
from workers.ingest.readers import Batch, Reject
from workers.ingest.row_errors import Faults

NAME_CHARACTERS_MAX = 1_000
# Asked with IIDs and with a source's own ids: which pairs of id and IID the index has; no id where another source's.
Owners = Callable[[list[str], list[str]], set[tuple[str | None, str]]]


class ItemRow(NamedTuple):
    """An item as staged; `content_hash` tells whether anything but its observations changed."""

    key: int
    iid: str
    source_item_id: str
    name: str
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
    content_hash: int


@dataclass
class Transformed:
    """What a batch gave. `observations.channel` counts into `channels`; `list` is -1 where there is none."""

    items: list[ItemRow] = field(default_factory=list)
    observations: Any = None
    channels: list[str] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    rows: int = 0


class Transformer:
    """Shapes the batches of one source. Remembers keys, so that an item that comes again costs one look-up."""

    def __init__(self, mapping: Mapping, alt_names: dict[str, str], owners: Owners = lambda iids, ids: set()) -> None:
        assert mapping.item is not None
        self._mapping = mapping
        self._item = mapping.item
        self._alt_names = alt_names
        self._owners = owners
        self._observer = Observer(mapping.source, mapping.observation) if mapping.observation else None
        self.registry = ItemTracker(mapping.source)

    def shape(self, batch: Batch, path: Path) -> Transformed:
        """Shape one batch; every row is in an item, in an observation, or among the rejects with its reason."""
        result, finish = self.begin(batch, path)
        finish()
        return result

    def begin(self, batch: Batch, path: Path) -> tuple[Transformed, Callable[[], Transformed]]:
        """Shape a batch's observations; the items follow when what is returned beside them is called."""
        if batch.rows == 0:
            empty = Transformed(rejects=batch.rejects, rows=len(batch.rejects))
            return empty, lambda: empty
        ids, names = clean.coded(self._item.id, batch, path), clean.coded(self._item.name, batch, path)
        bad = Faults(batch.rows)
        bad.where_value(ids, pc.is_null(ids.values), "has no item id", absent=True)
        bad.where_value(names, pc.is_null(names.values), "has no name", absent=True)
        long = pc.greater(pc.utf8_length(names.values), NAME_CHARACTERS_MAX)
        bad.where_value(names, long, "has a name of over 1,000 characters")
        for column in (ids, names):
            bad.where_value(column, pc.match_substring(column.values, "\0"), "holds a NUL")
        rows, channels = self._observer.shape(batch, path, bad) if self._observer else (None, [])
        iids = clean.texts(self._item.iid, batch, path) if self._item.iid else None
        if iids is not None:
            bad.where(_bad_iids(iids), "has an IID that is not well-formed")
            bad.where(self._taken(ids, iids), "has an IID that belongs to another item")
        good = np.flatnonzero(bad.codes == 0)
        result = Transformed(
            rows=batch.rows + len(batch.rejects), rejects=batch.rejects + bad.rejects(batch, path.name)
        )
        if not len(good):
            return result, lambda: result
        met = _BatchItems(*_distinct(ids, good, batch.rows))
        iid_texts = [None] * len(met.ids) if iids is None else pc.take(iids, pa.array(met.firsts)).to_pylist()
        numbers = self.registry.number(met.ids, iid_texts)
        if rows is not None:
            self._place(rows if len(good) == batch.rows else rows.take(good), channels, met, numbers, result)
        return result, lambda: self._finish(batch, path, met, numbers, result)

    def _taken(self, ids: clean.Coded, iids: Any) -> Any:
        """Return which rows would write over an item of another source, or give an item of this one a second IID."""
        source_ids = pc.take(ids.values, ids.codes).to_pylist()
        canonical = [canonical_iid(text) if text else None for text in iids.to_pylist()]
        pairs = [(own, iid) if own and iid else None for own, iid in zip(source_ids, canonical, strict=True)]
        asked = {pair for pair in pairs if pair is not None}
        taken = self._owners(sorted({iid for _, iid in asked}), sorted({own for own, _ in asked}))
        owner_of = {iid: own for own, iid in taken}
        iid_of = dict(taken)
        bad = {(own, iid) for own, iid in asked if owner_of.get(iid, own) != own or iid_of.get(own, iid) != iid}
        return pa.array([pair in bad for pair in pairs])

    def _place(self, rows: Any, channels: list[str], met: "_BatchItems", numbers: Any, result: Transformed) -> None:
        rows["item"] = self.registry.keys(numbers).take(met.codes)
        met.first, met.last = _spans(rows, met.codes, len(met.ids))
        result.observations, result.channels = rows, channels

    def _finish(self, batch: Batch, path: Path, met: "_BatchItems", numbers: Any, result: Transformed) -> Transformed:
        if met.first is None:
            met.first = met.last = self._own_days(batch, path, met.firsts)
        self.registry.widen(numbers, met.first, met.last)
        # Most items of a batch are known from the one before: one hash of their raw columns tells, before any cleaning.
        fresh = self.registry.news(numbers, self._contents(batch, met.firsts))
        result.items = self._items(
            batch, path, met.firsts[fresh], numbers[fresh], [met.ids[n] for n in fresh], met.first[fresh]
        )
        return result

    def _contents(self, batch: Batch, firsts: Any) -> Any:
        chosen = pa.array(firsts)
        columns = [
            pc.fill_null(_plain(pc.take(batch.columns[name], chosen)), "") for name in self._mapping.item_columns
        ]
        joined = pc.binary_join_element_wise(*columns, "\x1f").to_pylist()
        return np.array([hash(text) or 1 for text in joined], "i8")

    def _own_days(self, batch: Batch, path: Path, firsts: Any) -> Any:
        if self._item.first_seen_on is None:
            return np.full(len(firsts), clean.today(), "i4")
        return clean.filled(pc.take(clean.days(self._item.first_seen_on, batch, path), pa.array(firsts)), clean.today())

    def _items(self, batch: Batch, path: Path, firsts: Any, numbers: Any, ids: list[str], days: Any) -> list[ItemRow]:
        chosen = pa.array(firsts, pa.int64())
        small = Batch({n: pc.take(c, chosen) for n, c in batch.columns.items()}, list(firsts))
        registry = self.registry
        keys = registry.keys(numbers).tolist()

        def listed(spec: Field | None) -> list[Any]:
            if spec is None:
                return [None] * len(ids)
            values = clean.texts(spec, small, path).to_pylist()
            return [kilograms(value) for value in values] if spec.unit == "kg" else values

        item = self._item
        brands, types = listed(item.brand), listed(item.product_type)
        levels = list(zip(*(listed(spec) for spec in item.category), strict=True)) or [()] * len(ids)
        splits = tuple(spec.split for spec in item.category)
        identifiers = [(scheme, listed(spec)) for scheme, spec in item.identifiers]
        attributes = [(name, listed(spec)) for name, spec in item.attributes]
        impacts = [(i, clean.numbers(i.value, small, path).to_pylist()) for i in self._mapping.impacts]
        rows = []
        for n, (number, source_id, name) in enumerate(zip(numbers.tolist(), ids, listed(item.name), strict=True)):
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
            own = {i.indicator: times(values[n], i.value.multiply) for i, values in impacts if values[n]}
            digest = _content_hash((content, sorted((k, str(v)) for k, v in own.items())))
            rows.append(ItemRow(keys[n], registry.iids[number], source_id, *content, int(days[n]), own, digest))
        return rows


@dataclass
class _BatchItems:
    """The items of a batch: for each good row the place of its item, the items' ids, the first row of each."""

    codes: Any
    ids: list[str]
    firsts: Any
    first: Any = None
    last: Any = None


def _distinct(ids: clean.Coded, good: Any, rows: int) -> tuple[Any, list[str], Any]:
    encoded = pc.dictionary_encode(ids.values)  # texts that were different may be the same when cleaned
    merged = np.asarray(pc.fill_null(encoded.indices, 0))
    codes = merged.take(np.asarray(pc.fill_null(ids.codes, 0)))
    if len(good) < rows:
        codes = codes.take(good)
    firsts = np.full(len(encoded.dictionary), rows)
    firsts[codes[::-1]] = good[::-1]  # of equal places the last assignment stays, here the first row
    used = np.flatnonzero(firsts < rows)
    used = used[np.argsort(firsts[used])]
    places = np.zeros(len(firsts), "i8")
    places[used] = np.arange(len(used))
    return places.take(codes), pc.take(encoded.dictionary, pa.array(used)).to_pylist(), firsts[used]


def _bad_iids(iids: Any) -> Any:
    return pa.array([text is not None and canonical_iid(text) is None for text in iids.to_pylist()])


def _spans(rows: Any, codes: Any, items: int) -> tuple[Any, Any]:
    """Return the first and the last day of each item of a batch."""
    days = rows["day"]
    first, last = np.full(items, np.iinfo("i4").max, "i4"), np.full(items, np.iinfo("i4").min, "i4")
    if np.all(days[1:] >= days[:-1]):  # in the order of days the last assignment is the latest day
        first[codes[::-1]], last[codes] = days[::-1], days
    else:
        np.minimum.at(first, codes, days)
        np.maximum.at(last, codes, days)
    return first, last


def _plain(column: Any) -> Any:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column.cast(pa.string())


def _content_hash(content: Any) -> int:
    return int.from_bytes(hashlib.blake2b(msgspec.msgpack.encode(content), digest_size=8).digest(), signed=True)
