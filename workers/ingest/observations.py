"""From a batch of columns to observations: rows of numbers, with the mark that makes each one itself. Pure."""

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shared.currencies import CODES
from shared.text import fold
from workers.ingest import calendar_days, clean, read_amounts
from workers.ingest.batches import Batch
from workers.ingest.clean import Coded, Read
from workers.ingest.fields import Field, ObservationFields
from workers.ingest.row_faults import Faults, Mask

_CURRENCY_SHIFT = 45
CHANNEL_CHARACTERS_MAX = 200
Rows = npt.NDArray[np.void]
_CURRENCIES = pa.array(sorted(CODES))
_NO_PRICE = "is not a price: no plain amount, negative, or finer than its currency"

OBSERVATION = np.dtype(
    [
        ("item", "i8"),
        ("mark", "i8"),
        ("price", "i8"),
        ("list", "i8"),
        ("day", "i4"),
        ("channel", "i4"),
        ("units", "i4"),
        ("currency", "S3"),
        ("kind", "S1"),
    ]
)


def mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scatter 64-bit integers (the finalizer of splitmix64; Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def hash64(text: str) -> int:
    """Return 64 bits of a text's hash."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def currency_bits(currencies: npt.NDArray[np.bytes_]) -> npt.NDArray[np.int64]:
    """Return what a currency (three capital letters, S3) adds to a mark by XOR: 15 bits, another for each currency.

    Simple enough for SQL: migration 0017 adds the same bits to the marks of rows that had none.
    """
    positions = np.ascontiguousarray(currencies).view("u1").reshape(-1, 3).astype("i8") - ord("A")
    bits: npt.NDArray[np.int64] = (positions @ np.array([676, 26, 1], "i8") + 1) << _CURRENCY_SHIFT
    return bits


class ObservationRows(NamedTuple):
    """The result of a batch for one table of observations: a row for each row of the batch, good or bad.

    `priced` is a mask of the rows that have a price, `present` of those that have an observation if they are not
    rejected; None where all have. The rows' `channel` counts into `channels`; `list` is -1 where there is none.
    """

    rows: Rows
    channels: list[str]
    priced: Mask
    present: Mask


class Observer:
    """Shapes the observations of one source. `spellings` are the channels known so far, by their folded text."""

    def __init__(self, source: str, spec: ObservationFields, spellings: dict[str, str]) -> None:
        self._source = source
        self._spec = spec
        self._spellings = spellings

    def shape(self, batch: Batch, path: Path, bad: Faults) -> ObservationRows:
        """Shape the observations of a batch, and note the faults of its rows."""
        spec = self._spec
        rows = np.zeros(batch.rows, OBSERVATION)
        currencies = None if spec.currency.constant is not None else clean.texts(spec.currency, batch, path)
        price = self._amounts(spec.price, batch, path, currencies)
        priced = None if not price.given.null_count else np.asarray(pc.is_valid(price.given))
        lost = [
            bad.check(spec.price, price, _NO_PRICE, "has no price"),
            self._days(batch, path, bad, priced, rows),
            self._currencies(currencies, bad, priced, rows),
            self._kinds(batch, path, bad, priced, rows),
        ]
        channels, fault = self._channels(batch, path, bad, priced)
        lost.append(fault)
        if spec.list_price is not None:
            listed = self._amounts(spec.list_price, batch, path, currencies)
            bad.check(spec.list_price, listed, f"list price: {_NO_PRICE}", among=priced)
            rows["list"] = clean.fill_nulls(listed.values, -1)
        else:
            rows["list"] = -1
        if spec.units is not None:
            units = read_amounts.whole_numbers(spec.units, batch, path)
            lost.append(
                bad.check(spec.units, units, "is no positive whole number of units", "has no units", among=priced)
            )
            rows["units"] = clean.fill_nulls(units.values, 1)
        else:
            rows["units"] = 1
        rows["price"] = clean.fill_nulls(price.values, 0)
        rows["channel"] = clean.fill_nulls(channels.codes, 0)
        codes = [self._spelling(text) for text in channels.values.to_pylist()]
        rows["mark"] = self._marks(batch, path, rows, codes)
        present = priced
        for mask in lost:
            if mask is not None:
                present = ~mask if present is None else present & ~mask
        return ObservationRows(rows, codes, priced, present)

    def _days(self, batch: Batch, path: Path, bad: Faults, priced: Mask, rows: Rows) -> Mask:
        spec = self._spec.day
        read = clean.days(spec, batch, path)
        rows["day"] = clean.fill_nulls(read.values, 0)
        unread = f"has no day of the form {', '.join(spec.format)}"
        return _either(
            bad.check(spec, read, unread, "has no day", among=priced), check_bounds(spec, read, bad, among=priced)
        )

    def _currencies(self, currencies: pa.Array | None, bad: Faults, priced: Mask, rows: Rows) -> Mask:
        spec = self._spec.currency
        if currencies is None:
            rows["currency"] = (spec.constant or "").encode()
            return None
        known = pc.is_in(currencies, value_set=_CURRENCIES)
        read = Read(currencies, pc.if_else(known, currencies, None))
        rows["currency"] = np.asarray(pc.fill_null(read.values, "XXX")).astype("S3")
        return bad.check(spec, read, "is no currency (ISO 4217)", "has no currency (ISO 4217)", among=priced)

    def _kinds(self, batch: Batch, path: Path, bad: Faults, priced: Mask, rows: Rows) -> Mask:
        spec = self._spec.kind
        if spec.constant is not None:
            rows["kind"] = spec.constant[:1].encode()
            return None
        kinds = clean.texts(spec, batch, path)
        known = pc.is_in(kinds, value_set=pa.array(["listing", "sale"]))
        read = Read(kinds, pc.if_else(known, kinds, None))
        rows["kind"] = np.asarray(pc.fill_null(read.values, "listing")).astype("S1")
        return bad.check(spec, read, "is neither listing nor sale", "has no kind (listing or sale)", among=priced)

    def _channels(self, batch: Batch, path: Path, bad: Faults, priced: Mask) -> tuple[Coded, Mask]:
        spec = self._spec.channel
        channels = clean.clean_distinct(spec, batch, path)
        short = pc.less_equal(pc.utf8_length(channels.values), CHANNEL_CHARACTERS_MAX)
        if channels.codes.null_count or channels.values.null_count or not pc.all(short).as_py():
            given = pc.take(channels.values, channels.codes)
            read = Read(given, pc.take(pc.if_else(short, channels.values, None), channels.codes))
            long = f"is a channel of over {CHANNEL_CHARACTERS_MAX} characters"
            return channels, bad.check(spec, read, long, "has no channel", among=priced)
        return channels, None

    def _spelling(self, text: str | None) -> str:
        """Return the first spelling of a channel that was met."""
        return self._spellings.setdefault(fold(text or ""), text or "")

    def _amounts(self, field: Field, batch: Batch, path: Path, currencies: pa.Array | None) -> Read:
        """Read prices, each by the minor digits of its own currency."""
        if currencies is None:
            return read_amounts.amounts(field, batch, path, self._spec.currency.constant or "")
        given, values = read_amounts.amounts(field, batch, path, "")
        met = pc.unique(currencies)
        # Each currency costs a reading of the whole batch: texts that are none, of which there may be as many as rows,
        # share the one above, and are rejected as currencies.
        for code in pc.filter(met, pc.is_in(met, value_set=_CURRENCIES)).to_pylist():
            read = read_amounts.amounts(field, batch, path, code)
            values = pc.if_else(pc.fill_null(pc.equal(currencies, code), False), read.values, values)
        return Read(given, values)

    def _marks(self, batch: Batch, path: Path, rows: Rows, codes: list[str]) -> npt.NDArray[np.int64]:
        spec = self._spec
        mixed = np.zeros(batch.rows, "u8")
        for kind in ("listing", "sale"):
            if spec.kind.constant in (None, kind):
                by_channel = np.array([hash64(f"{self._source}\0{kind}\0{code}") for code in codes] or [0], "u8")
                of_kind = by_channel.take(rows["channel"])
                mixed = of_kind if spec.kind.constant else np.where(rows["kind"] == kind[:1].encode(), of_kind, mixed)
        # What is the same in all rows is mixed once.
        if spec.identity == "event":
            lists = rows["list"] if spec.list_price is not None else rows["list"][:1]
            mixed = mix(mixed ^ rows["price"].astype("u8")) ^ mix(lists.astype("u8") + np.uint64(1))
            mixed ^= rows["units"].astype("u8")
        for key in spec.event_key:
            encoded = pc.dictionary_encode(pc.fill_null(clean.texts(key, batch, path), ""))
            hashes = np.array([hash64(text) for text in encoded.dictionary.to_pylist()], "u8")
            mixed = mix(mixed + hashes[np.asarray(encoded.indices)])
        # The low 16 bits count equal events; the high bit stays free, because a mark is a signed integer.
        currencies = rows["currency"] if spec.currency.constant is None else rows["currency"][:1]
        return (mixed & np.uint64(0x7FFFFFFFFFFF0000)).astype("i8") ^ currency_bits(currencies)


def check_bounds(field: Field, read: Read, bad: Faults, *, among: Mask = None) -> Mask:
    """Note days that are not allowed; None where there are none, else a mask as `Faults.check` returns it."""
    first, last = calendar_days.bounds(field.min, field.max)
    outside = pc.or_(pc.less(read.values, first), pc.greater(read.values, last))
    reason = f"is a day before {calendar_days.shown(first)} or after {field.max or 'tomorrow'}"
    return bad.note(field, outside, reason, among)


def _either(one: Mask, other: Mask) -> Mask:
    return other if one is None else one if other is None else one | other
