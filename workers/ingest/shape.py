"""From a batch of text columns to what the index keeps: items, observations, rejects."""

import hashlib
import json
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.ids import canonical_iid
from workers.ingest import clean
from workers.ingest.fields import Field
from workers.ingest.mapping import Mapping
from workers.ingest.marks import hash64, mix, number_equal
from workers.ingest.naming import category_path, kilograms, slug, times
from workers.ingest.readers import RAW_CHARACTERS_MAX, Batch, Reject
from workers.ingest.registry import Registry

NAME_CHARACTERS_MAX = 1_000
_FIRST_DAY, _LAST_DAY = -3_652, 36_524  # 1990-01-01 to 2099-12-31


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
    category_path: list[str] | None
    product_type: str | None
    identifiers: list[dict[str, str]]
    attributes: dict[str, str]
    day: int
    impacts: dict[str, Decimal]
    content_hash: int


OBSERVATION = np.dtype(
    [("item", "i8"), ("mark", "i8"), ("price", "i8"), ("list", "i8"), ("day", "i4"), ("channel", "i4"), ("units", "i4"),
     ("currency", "S3")]
)  # fmt: skip


@dataclass
class Shaped:
    """What a batch gave. `observations.channel` counts into `channels`; `list` is -1 where there is none."""

    items: list[ItemRow] = field(default_factory=list)
    observations: Any = None
    channels: list[str] = field(default_factory=list)
    brand_channels: set[tuple[str, str]] = field(default_factory=set)
    rejects: list[Reject] = field(default_factory=list)
    rows: int = 0


class Shaper:
    """Shapes the batches of one source. Remembers keys, so that an item that comes again costs one look-up."""

    def __init__(self, mapping: Mapping, alt_names: dict[str, str]) -> None:
        assert mapping.item is not None
        self._mapping = mapping
        self._item = mapping.item
        self._alt_names = alt_names
        self.registry = Registry(mapping.source)

    def shape(self, batch: Batch, path: Path) -> Shaped:
        """Shape one batch; every row is in an item, in an observation, or among the rejects with its reason."""
        if batch.rows == 0:
            return Shaped(rejects=batch.rejects, rows=len(batch.rejects))
        columns = {"id": clean.texts(self._item.id, batch, path), "name": clean.texts(self._item.name, batch, path)}
        bad = _Faults(batch.rows)
        bad.where_null(columns["id"], "has no item id")
        bad.where_null(columns["name"], "has no name")
        bad.where(
            pc.greater(pc.utf8_length(columns["name"]), NAME_CHARACTERS_MAX), "has a name of over 1,000 characters"
        )
        for column in columns.values():
            bad.where(pc.match_substring(column, "\0"), "holds a NUL")
        observed = self._observations(batch, path, bad) if self._mapping.observation else None
        iids = clean.texts(self._item.iid, batch, path) if self._item.iid else None
        if iids is not None:
            bad.where(_bad_iids(iids), "has an IID that is not well-formed")
        good = np.flatnonzero(bad.codes == 0)
        result = Shaped(rows=batch.rows + len(batch.rejects), rejects=batch.rejects + bad.rejects(batch, path.name))
        self._place_items(batch, path, columns["id"], iids, good, observed, result)
        return result

    def _observations(self, batch: Batch, path: Path, bad: "_Faults") -> tuple[Any, list[str]]:
        spec = self._mapping.observation
        assert spec is not None
        rows = np.zeros(batch.rows, OBSERVATION)
        day = clean.days(spec.day, batch, path)
        bad.where_null(day, f"has no day of the form {spec.day.format}")
        bad.where(pc.or_(pc.less(day, _FIRST_DAY), pc.greater(day, _LAST_DAY)), "has a day before 1990 or after 2099")
        currency = spec.currency.constant or "XXX"
        if spec.currency.constant is None:
            currencies = clean.texts(spec.currency, batch, path)
            bad.where(
                pc.invert(pc.fill_null(pc.match_substring_regex(currencies, "^[A-Z]{3}$"), False)),
                "has no currency (ISO 4217)",
            )
            rows["currency"] = np.asarray(pc.fill_null(currencies, "XXX")).astype("S3")
            price, listed = self._mixed(batch, path, currencies)
        else:
            rows["currency"] = currency.encode()
            price = clean.amounts(spec.price, batch, path, currency)
            listed = clean.amounts(spec.list_price, batch, path, currency) if spec.list_price else None
        bad.where_null(price, "has no price, or one that is negative or finer than its currency")
        channels = pc.dictionary_encode(clean.texts(spec.channel, batch, path))
        bad.where_null(channels.indices, "has no channel")
        units = clean.whole_numbers(spec.units, batch, path) if spec.units else None
        if units is not None:
            bad.where_null(units, "has no whole number of units")
        rows["day"], rows["price"] = clean.filled(day, 0), clean.filled(price, 0)
        rows["list"] = -1 if listed is None else clean.filled(listed, -1)
        rows["units"] = 1 if units is None else clean.filled(units, 1)
        rows["channel"] = clean.filled(channels.indices, 0)
        codes = [str(code) for code in channels.dictionary.to_pylist()]
        rows["mark"] = self._marks(batch, path, rows, codes)
        return rows, codes

    def _mixed(self, batch: Batch, path: Path, currencies: Any) -> tuple[Any, Any]:
        """Read prices of several currencies: each by its own number of minor digits."""
        spec = self._mapping.observation
        assert spec is not None
        price = pa.nulls(batch.rows, pa.int64())
        listed = pa.nulls(batch.rows, pa.int64()) if spec.list_price else None
        for code in pc.unique(currencies).drop_null().to_pylist():
            here = pc.fill_null(pc.equal(currencies, code), False)
            price = pc.if_else(here, clean.amounts(spec.price, batch, path, code), price)
            if spec.list_price:
                listed = pc.if_else(here, clean.amounts(spec.list_price, batch, path, code), listed)
        return price, listed

    def _marks(self, batch: Batch, path: Path, rows: Any, codes: list[str]) -> Any:
        spec = self._mapping.observation
        assert spec is not None
        by_channel = np.array([hash64(f"{self._mapping.source}\0{spec.kind}\0{code}") for code in codes] or [0], "u8")
        mixed = by_channel[rows["channel"]]
        if spec.identity == "event":
            mixed = mix(mixed ^ rows["price"].astype("u8")) ^ mix(rows["list"].astype("u8") + np.uint64(1))
            mixed ^= rows["units"].astype("u8")
        for key in spec.event_key:
            encoded = pc.dictionary_encode(pc.fill_null(clean.texts(key, batch, path), ""))
            hashes = np.array([hash64(text) for text in encoded.dictionary.to_pylist()], "u8")
            mixed = mix(mixed + hashes[np.asarray(encoded.indices)])
        # The low 16 bits count equal events; the high bit stays free, because a mark is a signed integer.
        return (mixed & np.uint64(0x7FFFFFFFFFFF0000)).astype("i8")

    def _place_items(
        self, batch: Batch, path: Path, ids: Any, iids: Any, good: Any, observed: Any, result: Shaped
    ) -> None:
        if not len(good):
            return
        registry = self.registry
        encoded = pc.dictionary_encode(pc.take(ids, pa.array(good)))
        codes, distinct = np.asarray(encoded.indices), encoded.dictionary.to_pylist()
        # Codes are given in the order of first appearance: a first row is where their maximum grows.
        firsts = good[np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))]
        iid_texts = [None] * len(distinct) if iids is None else pc.take(iids, pa.array(firsts)).to_pylist()
        numbers = registry.number(distinct, iid_texts)
        if observed is not None:
            rows, result.channels = observed
            rows = rows[good]
            rows["item"] = registry.keys(numbers)[codes]
            if self._mapping.observation and self._mapping.observation.identity == "event":
                number_equal(rows)
            result.observations = rows
            first, last = _spans(rows, codes, len(distinct))
        else:
            first = last = self._own_days(batch, path, firsts)
        registry.widen(numbers, first, last)
        # Most items of a batch are known from the one before: one hash of their raw columns tells, before any cleaning.
        fresh = registry.news(numbers, self._contents(batch, firsts))
        result.items = self._items(
            batch, path, firsts[fresh], numbers[fresh], [distinct[n] for n in fresh], first[fresh]
        )
        if observed is not None:
            result.brand_channels = self._brand_channels(numbers[codes], rows["channel"], result.channels)

    def _brand_channels(self, numbers: Any, channels: Any, names: list[str]) -> set[tuple[str, str]]:
        brands = self.registry.brands
        pairs = np.unique(self.registry.brand_codes(numbers) * len(names) + channels).tolist()
        seen = ((brands[pair // len(names)], names[pair % len(names)]) for pair in pairs)
        return {(brand, channel) for brand, channel in seen if brand is not None}

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
        levels = [listed(spec) for spec in item.category]
        splits = [spec.split for spec in item.category]
        identifiers = [(scheme, listed(spec)) for scheme, spec in item.identifiers]
        attributes = [(name, listed(spec)) for name, spec in item.attributes]
        impacts = [(i, clean.numbers(i.value, small, path).to_pylist()) for i in self._mapping.impacts]
        rows = []
        for n, (number, source_id, name) in enumerate(zip(numbers.tolist(), ids, listed(item.name), strict=True)):
            path_parts = category_path([(level[n], split) for level, split in zip(levels, splits, strict=True)])
            other = self._alt_names.get(source_id)
            content = (
                name,
                [other] if other and other != name else [],
                slug(brands[n]) if brands[n] else None,
                brands[n],
                ".".join(slug(part) for part in path_parts) or None,
                path_parts or None,
                types[n],
                [{"scheme": scheme, "value": values[n]} for scheme, values in identifiers if values[n]],
                {key: values[n] for key, values in attributes if values[n]},
            )
            own = {i.indicator: times(values[n], i.value.multiply) for i, values in impacts if values[n]}
            digest = _content_hash((content, sorted((k, str(v)) for k, v in own.items())))
            registry.set_brand(number, content[2])
            rows.append(ItemRow(keys[n], registry.iids[number], source_id, *content, int(days[n]), own, digest))
        return rows


class _Faults:
    """For each row the first thing that is wrong with it."""

    def __init__(self, rows: int) -> None:
        self.codes = np.zeros(rows, "i2")
        self._reasons: list[str] = []

    def where(self, mask: Any, reason: str) -> None:
        self._reasons.append(reason)
        hit = np.asarray(pc.fill_null(mask, False)) & (self.codes == 0)
        self.codes[hit] = len(self._reasons)

    def where_null(self, column: Any, reason: str) -> None:
        self.where(pc.is_null(column), reason)

    def rejects(self, batch: Batch, name: str) -> list[Reject]:
        rows = np.flatnonzero(self.codes)
        return [Reject(name, int(batch.lines[r]), self._reasons[self.codes[r] - 1], _raw(batch, int(r))) for r in rows]


def _raw(batch: Batch, row: int) -> str:
    cells = {name: column[row].as_py() for name, column in batch.columns.items()}
    return json.dumps(cells, ensure_ascii=False, default=str).replace("\\u0000", "\ufffd")[:RAW_CHARACTERS_MAX]


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
