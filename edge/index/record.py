"""The record of an item: how it is read from PostgreSQL, shown, and kept in memory."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from hashlib import blake2b
from typing import TypedDict

import msgspec
from asyncpg import Record

from edge.index.versioned_cache import EntryKind, VersionedCache
from edge.storage.database import Database
from shared.analytics.footprint import CODES, nearest, weight_of
from shared.analytics.observations import ObservationKind
from shared.clock import rfc3339
from shared.db.queries import load_queries
from shared.errors import ItemMerged, ItemNotFound, ItemWithdrawn
from shared.money import to_text
from shared.redis import keys
from shared.telemetry import metrics

LAYOUT = 2
ENCODER = msgspec.json.Encoder()
# PostgreSQL's numbers are exact; read as decimals they stay so.
_decode = msgspec.json.Decoder(float_hook=Decimal).decode
_NO_LIST, _NO_OBJECT, _NULL = "[]", "{}", "null"


# In this form because `from` is a word of Python.
PriceBandRow = TypedDict(
    "PriceBandRow",
    {
        "currency": str,
        "kind": str,
        "low": int | Decimal,
        "median": int | Decimal,
        "high": int | Decimal,
        "observations": int,
        "set_aside": int,
        "from": str,
        "to": str,
    },
)
"""The prices of 30 days as the statement counts them; amounts in the currency's smallest unit."""
PriceBandDocument = TypedDict(
    "PriceBandDocument",
    {
        "currency": str,
        "kind": str,
        "low": str,
        "median": str,
        "high": str,
        "observations": int,
        "set_aside": int,
        "from": str,
        "to": str,
    },
)
"""The prices of 30 days as a record shows them; amounts in decimal text."""


class SourceRow(TypedDict):
    """A source of the item, with its licence and its last statement, in UTC."""

    source: str
    observed_at: str
    license: str


class MatchRow(TypedDict):
    """A link between two of the item's members, since a moment in UTC; None for a link without one."""

    iids: list[str]
    kind: str
    score: int | Decimal | None
    evidence: object
    since: str | None


class ItemState(StrEnum):
    """What an IID leads to, with its sign in the cache."""

    RECORD = "+"
    ABSENT = "-"
    WITHDRAWN = "x"
    MERGED = ">"


class ItemRecord(msgspec.Struct, frozen=True):
    """The resolution of one IID; one that is merged leads to `survivor`."""

    state: ItemState
    body: bytes
    etag: str
    survivor: str = ""

    def pack(self) -> bytes:
        """Write it as the cache store keeps it."""
        return f"{self.state}\n{self.etag}\n{self.survivor}\n".encode() + self.body

    @classmethod
    def unpack(cls, packed: bytes) -> "ItemRecord":
        """Read what the cache store kept."""
        state, etag, survivor, body = packed.split(b"\n", 3)
        return cls(ItemState(state.decode()), body, etag.decode(), survivor.decode())

    @property
    def size(self) -> int:
        """The bytes of the record."""
        return len(self.body)

    @property
    def is_absent(self) -> bool:
        """Whether no item has the IID."""
        return self.state is ItemState.ABSENT

    def or_raise(self) -> "ItemRecord":
        """Return it if it is a record; raise ItemNotFound, ItemWithdrawn or ItemMerged if not."""
        if self.state is ItemState.ABSENT:
            raise ItemNotFound
        if self.state is ItemState.WITHDRAWN:
            raise ItemWithdrawn
        if self.state is ItemState.MERGED:
            raise ItemMerged(self.survivor)
        return self


class RecordCache(VersionedCache[ItemRecord]):
    """Answers for canonical IIDs."""

    kind = EntryKind("record", LAYOUT, keys.record, ItemRecord.unpack, metrics.record_reads)


ABSENT = ItemRecord(ItemState.ABSENT, b"", "")


def make(row: Record, base_url: str) -> ItemRecord:
    """Make what an item's row leads to: its record, or that it was merged or withdrawn."""
    if row["status"] == "withdrawn":
        return ItemRecord(ItemState.WITHDRAWN, b"", "")
    if row["status"] == "merged":
        return ItemRecord(ItemState.MERGED, b"", "", row["survivor_iid"])
    body = ENCODER.encode(document(row, base_url))
    return ItemRecord(ItemState.RECORD, body, etag_of(row["iid"], row["version"], body))


def etag_of(iid: str, version: int, body: bytes) -> str:
    """Return a record's weak ETag: the same for every content coding.

    It depends on the content too: when a load is undone and another one follows, a version comes a second time.
    """
    return f'W/"{iid}.{version}-{blake2b(body, digest_size=6).hexdigest()}"'


def document(row: Record, base_url: str) -> dict[str, object]:
    """Return the record's members, in the contract's order; an unknown value is None, never absent."""
    attributes = _decode(row["attributes"] or _NO_OBJECT)
    impacts, factors = (_decode(row[name] or _NO_LIST) for name in ("impacts", "factors"))
    self_url = f"{base_url}/index/lookup/{row['iid']}"
    brand = row["brand_slug"] is not None
    return {
        "iid": row["iid"],
        "name": row["name"],
        "alt_names": row["alt_names"],
        "status": row["status"],
        "brand": {"id": row["brand_id"], "name": row["brand_name"], "slug": row["brand_slug"]} if brand else None,
        "product_type": row["product_type"],
        "category": {"code": row["category_code"], "path": row["category_path"]} if row["category_code"] else None,
        "identifiers": _decode(row["identifiers"] or _NO_LIST),
        "attributes": attributes,
        "channels": _decode(row["channels"] or _NO_LIST),
        "price_band": price_band(_decode(row["price_band"] or _NULL)),
        "sustainability": sustainability(impacts, factors, attributes),
        "sources": [_source(source) for source in _decode(row["sources"] or _NO_LIST)],
        "provenance": provenance(row),
        "members": _decode(row["members"] or _NO_LIST),
        "matches": [_match(match) for match in _decode(row["matches"] or _NO_LIST)],
        "version": row["version"],
        "first_seen_on": row["first_seen_on"].isoformat(),
        "updated_at": rfc3339(row["updated_at"]),
        "links": {
            "self": self_url,
            "brand": f"{base_url}/index/brands?q={row['brand_slug']}" if brand else None,
            "pricing": f"{base_url}/index/pricing/{row['iid']}",
            "sustainability": f"{base_url}/index/sustainability/{row['iid']}",
        },
    }


def provenance(row: Record) -> dict[str, str]:
    """Return the source of each field that is known. An item of one source has all of them from it."""
    kept = _decode(row["field_sources"] or _NULL)
    if kept is not None:
        return dict(sorted(kept.items()))
    sources = _decode(row["sources"] or _NO_LIST)
    if not sources:
        return {}
    known = [
        name
        for name, value in (
            ("name", row["name"]),
            ("alt_names", row["alt_names"]),
            ("brand", row["brand_slug"]),
            ("category", row["category_code"]),
            ("product_type", row["product_type"]),
        )
        if value
    ]
    known += [f"identifiers.{identifier['scheme']}" for identifier in _decode(row["identifiers"] or _NO_LIST)]
    known += [f"attributes.{name}" for name in _decode(row["attributes"] or _NO_OBJECT)]
    return dict.fromkeys(sorted(known), sources[0]["source"])


def price_band(band: PriceBandRow | None) -> PriceBandDocument | None:
    """Write the amounts as decimal text of their currency."""
    if band is None:
        return None
    currency = band["currency"]
    return {
        "currency": currency,
        "kind": ObservationKind(band["kind"]).text,
        "low": to_text(Decimal(band["low"]), currency),
        "median": to_text(Decimal(band["median"]), currency),
        "high": to_text(Decimal(band["high"]), currency),
        "observations": band["observations"],
        "set_aside": band["set_aside"],
        "from": band["from"],
        "to": band["to"],
    }


def sustainability(
    impacts: Sequence[Mapping[str, object]], factors: Sequence[Mapping[str, object]], attributes: Mapping[str, object]
) -> dict[str, object] | None:
    """Return each indicator's best figure; what is said of the data is of the first indicator that has one."""
    weight = weight_of(*(attributes.get(name) for name in ("weight_kg", "volume_l", "density_kg_per_l")))
    nearest_figures = nearest(impacts, factors, weight)
    first = next((nearest_figures[name] for name in CODES if name in nearest_figures), None)
    if first is None:
        return None
    figures = {name: float(nearest_figures[name].per_unit) if name in nearest_figures else None for name in CODES}
    return {
        **figures,
        "basis": first.basis,
        "method": first.method,
        "samples": first.samples,
        "pedigree": first.pedigree,
        "reference_year": first.reference_year,
    }


def _source(source: SourceRow) -> SourceRow:
    observed = datetime.fromisoformat(source["observed_at"]).replace(tzinfo=UTC)
    return {"source": source["source"], "observed_at": rfc3339(observed), "license": source["license"]}


def _match(match: MatchRow) -> MatchRow:
    since = match["since"]
    return {**match, "since": since and rfc3339(datetime.fromisoformat(since).replace(tzinfo=UTC))}


SQL = load_queries(__file__, "record.sql")


class RecordLoader:
    """Reads records from PostgreSQL, for `RecordCache`."""

    def __init__(self, database: Database, base_url: str) -> None:
        self._database = database
        self._base_url = base_url

    async def __call__(self, iids: Sequence[str]) -> dict[str, ItemRecord]:
        """Return what each canonical IID leads to, in one query. Raises StoreUnavailable."""
        rows = {row["iid"]: row for row in await self._database.fetch(SQL.records, list(iids))}
        return {iid: make(rows[iid], self._base_url) if iid in rows else ABSENT for iid in iids}
