"""From a batch of columns to observations: rows of numbers, with the mark that makes each one itself. Pure."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workers.ingest import clean
from workers.ingest.event_identity import hash64, mix
from workers.ingest.fields import ObservationFields
from workers.ingest.readers import Batch
from workers.ingest.row_errors import Faults

_FIRST_DAY, _LAST_DAY = -3_652, 36_524  # 1990-01-01 to 2099-12-31
OBSERVATION = np.dtype(
    [("item", "i8"), ("mark", "i8"), ("price", "i8"), ("list", "i8"), ("day", "i4"), ("channel", "i4"), ("units", "i4"),
     ("currency", "S3")]
)  # fmt: skip


class Observer:
    """Shapes the observations of one source."""

    def __init__(self, source: str, spec: ObservationFields) -> None:
        self._source = source
        self._spec = spec

    def shape(self, batch: Batch, path: Path, bad: Faults) -> tuple[Any, list[str]]:
        """Return a row for each row of the batch, good or bad, and the channels that their `channel` counts into."""
        spec = self._spec
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
        channels = clean.coded(spec.channel, batch, path)
        bad.where_value(channels, pc.is_null(channels.values), "has no channel", absent=True)
        units = clean.whole_numbers(spec.units, batch, path) if spec.units else None
        if units is not None:
            bad.where_null(units, "has no whole number of units")
        rows["day"], rows["price"] = clean.filled(day, 0), clean.filled(price, 0)
        rows["list"] = -1 if listed is None else clean.filled(listed, -1)
        rows["units"] = 1 if units is None else clean.filled(units, 1)
        rows["channel"] = clean.filled(channels.codes, 0)
        codes = [str(code) for code in channels.values.to_pylist()]
        rows["mark"] = self._marks(batch, path, rows, codes)
        return rows, codes

    def _mixed(self, batch: Batch, path: Path, currencies: Any) -> tuple[Any, Any]:
        """Read prices of several currencies: each by its own number of minor digits."""
        spec = self._spec
        price = pa.nulls(batch.rows, pa.int64())
        listed = pa.nulls(batch.rows, pa.int64()) if spec.list_price else None
        for code in pc.unique(currencies).drop_null().to_pylist():
            here = pc.fill_null(pc.equal(currencies, code), False)
            price = pc.if_else(here, clean.amounts(spec.price, batch, path, code), price)
            if spec.list_price:
                listed = pc.if_else(here, clean.amounts(spec.list_price, batch, path, code), listed)
        return price, listed

    def _marks(self, batch: Batch, path: Path, rows: Any, codes: list[str]) -> Any:
        spec = self._spec
        by_channel = np.array([hash64(f"{self._source}\0{spec.kind}\0{code}") for code in codes] or [0], "u8")
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
