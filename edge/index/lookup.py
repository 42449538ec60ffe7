"""Records by IID: /index/lookup, one or many in a call, from memory, the cache store or PostgreSQL."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from hashlib import blake2b
from typing import Any

import msgspec
from aiohttp import hdrs, web

from edge.http.context import CONTEXT, principal_of
from edge.http.json import CACHE_CONTROL
from edge.http.parameters import BODY, PATH, QUERY
from edge.http.problems import Problem, problem_of
from edge.http.representation import none_match
from edge.http.routing import operation
from edge.index import schemas
from edge.index.versioned_cache import EntryKind, VersionedCache
from edge.quota.billing import Billing
from edge.rules import BATCH, IIDS_PER_UNIT
from edge.storage.data_version import DataVersionWatcher
from edge.storage.database import Database
from shared.analytics.footprint import CODES, nearest, weight_of
from shared.clock import rfc3339
from shared.db.queries import load_queries
from shared.errors import (
    InvalidIid,
    InvalidParameter,
    ItemIndexError,
    ItemMerged,
    ItemMistyped,
    ItemNotFound,
    ItemWithdrawn,
    StoreUnavailable,
)
from shared.index.iid import canonical_iid, is_mistyped
from shared.money import to_text
from shared.organizations.accounts import Plan
from shared.redis import keys
from shared.telemetry import metrics


class Record(msgspec.Struct, frozen=True):
    """The resolution of one IID. `state`: `+` a record, `-` nothing, `x` withdrawn, `>` merged into `survivor`."""

    state: str
    body: bytes
    etag: str
    survivor: str = ""

    def pack(self) -> bytes:
        """Write it as the cache store keeps it."""
        return f"{self.state}\n{self.etag}\n{self.survivor}\n".encode() + self.body

    @classmethod
    def unpack(cls, packed: bytes) -> "Record":
        """Read what the cache store kept."""
        state, etag, survivor, body = packed.split(b"\n", 3)
        return cls(state.decode(), body, etag.decode(), survivor.decode())

    @property
    def size(self) -> int:
        """The bytes of the record."""
        return len(self.body)

    @property
    def is_absent(self) -> bool:
        """Whether no item has the IID."""
        return self.state == "-"

    def or_raise(self) -> "Record":
        """Return it if it is a record; raise ItemNotFound, ItemWithdrawn or ItemMerged if not."""
        if self.state == "-":
            raise ItemNotFound
        if self.state == "x":
            raise ItemWithdrawn
        if self.state == ">":
            raise ItemMerged(self.survivor)
        return self


LAYOUT = 1
"""Grows with each change of what is packed for the same row, also of the record's members."""


class RecordCache(VersionedCache[Record]):
    """Answers for canonical IIDs."""

    kind = EntryKind("record", LAYOUT, keys.record, Record.unpack, metrics.record_reads)


ABSENT = Record("-", b"", "")
_ENCODER = msgspec.json.Encoder()
# PostgreSQL's numbers are exact; read as decimals they stay so.
_DECODER = msgspec.json.Decoder(float_hook=Decimal)


def make(row: Mapping[str, Any], base_url: str) -> Record:
    """Make what an item's row leads to: its record, or that it was merged or withdrawn."""
    if row["status"] == "withdrawn":
        return Record("x", b"", "")
    if row["status"] == "merged":
        return Record(">", b"", "", row["survivor_iid"])
    body = _ENCODER.encode(document(row, base_url))
    return Record("+", body, etag_of(row["iid"], row["version"], body))


def etag_of(iid: str, version: int, body: bytes) -> str:
    """Return a record's weak ETag: the same for every content coding.

    It depends on the content too: when a load is undone and another one follows, a version comes a second time.
    """
    return f'W/"{iid}.{version}-{blake2b(body, digest_size=6).hexdigest()}"'


def document(row: Mapping[str, Any], base_url: str) -> dict[str, Any]:
    """Return the record's members, in the contract's order; an unknown value is None, never absent."""
    attributes = _json(row["attributes"]) or {}
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
        "identifiers": _json(row["identifiers"]) or [],
        "attributes": attributes,
        "channels": _json(row["channels"]) or [],
        "price_band": price_band(_json(row["price_band"])),
        "sustainability": sustainability(_json(row["impacts"]), _json(row["factors"]), attributes),
        "sources": [_source(source) for source in _json(row["sources"]) or []],
        "provenance": provenance(row),
        "members": _json(row["members"]) or [],
        "matches": [_match(match) for match in _json(row["matches"]) or []],
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


def provenance(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the source of each field that is known. An item of one source has all of them from it."""
    kept = _json(row["field_sources"])
    if kept is not None:
        return dict(sorted(kept.items()))
    sources = _json(row["sources"]) or []
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
    known += [f"identifiers.{identifier['scheme']}" for identifier in _json(row["identifiers"]) or []]
    known += [f"attributes.{name}" for name in _json(row["attributes"]) or {}]
    return dict.fromkeys(sorted(known), sources[0]["source"])


def price_band(band: dict[str, Any] | None) -> dict[str, Any] | None:
    """Write the amounts as decimal text of their currency."""
    if band is None:
        return None
    money = {name: to_text(Decimal(band[name]), band["currency"]) for name in ("low", "median", "high")}
    return {
        "currency": band["currency"],
        "kind": "listing" if band["kind"] == "l" else "sale",
        **money,
        "observations": band["observations"],
        "set_aside": band["set_aside"],
        "from": band["from"],
        "to": band["to"],
    }


def sustainability(
    impacts: list[dict[str, Any]] | None, factors: list[dict[str, Any]] | None, attributes: dict[str, Any]
) -> dict[str, Any] | None:
    """Return each indicator's best figure; basis, method and samples are those of the first that has one."""
    weight = weight_of(*(attributes.get(name) for name in ("weight_kg", "volume_l", "density_kg_per_l")))
    nearest_figures = nearest(impacts or (), factors or (), weight)
    first = next((nearest_figures[name] for name in CODES if name in nearest_figures), None)
    if first is None:
        return None
    figures = {name: float(nearest_figures[name].per_unit) if name in nearest_figures else None for name in CODES}
    return {**figures, "basis": first.basis, "method": first.method, "samples": first.samples}


def _source(source: dict[str, Any]) -> dict[str, Any]:
    observed = datetime.fromisoformat(source["observed_at"]).replace(tzinfo=UTC)
    return {"source": source["source"], "observed_at": rfc3339(observed), "license": source["license"]}


def _match(match: dict[str, Any]) -> dict[str, Any]:
    since = match["since"]
    return {**match, "since": since and rfc3339(datetime.fromisoformat(since).replace(tzinfo=UTC))}


def _json(text: Any) -> Any:
    return _DECODER.decode(text) if text is not None else None


SQL = load_queries(__file__, "record.sql")


class RecordLoader:
    """Reads records from PostgreSQL, for `RecordCache`."""

    def __init__(self, database: Database, base_url: str) -> None:
        self._database = database
        self._base_url = base_url

    async def __call__(self, iids: Sequence[str]) -> dict[str, Record]:
        """Return what each canonical IID leads to, in one query. Raises StoreUnavailable."""
        rows = {row["iid"]: row for row in await self._database.fetch(SQL.records, list(iids))}
        return {iid: make(dict(rows[iid]), self._base_url) if iid in rows else ABSENT for iid in iids}


_operation = partial(operation, "index")


class Lookup:
    def __init__(self, records: RecordCache, base_url: str) -> None:
        self._records = records
        self._base_url = base_url

    @_operation(
        "lookupItem",
        schemas.IidPath,
        answers={
            200: (schemas.Item, "The record"),
            301: "`Location` is the address of the surviving item.",
            304: "Your copy is current.",
        },
    )
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Look up one item by its IID.

        Returns everything that the index knows about one item. Lower case is accepted. A merged IID redirects to the
        surviving item.
        """
        iid: str = request[PATH]["iid"]
        try:
            record = (await self._records.find(iid)).or_raise()
        except ItemMerged as merged:
            raise web.HTTPMovedPermanently(f"{self._base_url}/index/lookup/{merged.survivor}") from None
        except ItemNotFound:
            raise (ItemMistyped if is_mistyped(iid) else ItemNotFound) from None
        return answer(record, request.headers.get("If-None-Match"))


def answer(record: Record, if_none_match: str | None, address: str | None = None) -> web.Response:
    """Make the answer for a record, which has an address of its own where it was asked for otherwise.

    The fast path makes the same one, byte for byte.
    """
    fields: dict[str, str] = {"Cache-Control": CACHE_CONTROL}
    if address is not None:
        fields["Content-Location"] = address
    fields["ETag"] = record.etag
    if none_match(if_none_match, record.etag):
        return web.Response(status=304, headers=fields)
    return web.Response(body=record.body, content_type="application/json", headers=fields)


_TEXT_CHARACTERS_MAX = 80
# A canonical IID has no character that JSON escapes.
_FOUND = b'{"iid":"%b","status":200,"survivor":null,"problem":null,"record":%b}'
_DESCRIPTION = (
    "As many IIDs as the plan allows (`batch_iids_max` at `GET /v1/`). "
    "Each entry has the status that a separate lookup would return. `dry_run` returns the price."
)


class BatchLookup:
    """The handlers: the same answer for IIDs in the query, and in a body, which holds more than a URL can."""

    def __init__(self, records: RecordCache, version: DataVersionWatcher, billing: Billing) -> None:
        self._records = records
        self._version = version
        self._billing = billing

    @_operation(
        "lookupItems",
        schemas.IidList,
        answers={200: (schemas.LookupList, "One entry per IID, in the order of the request")},
        description=_DESCRIPTION,
    )
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Look up many items in one call."""
        return await self._answer(request)

    @_operation(
        "lookupItemsByBody",
        schemas.BatchQuery,
        schemas.IidBody,
        answers={200: (schemas.LookupList, "One entry per IID, in the order of the request")},
        description=f"{_DESCRIPTION} The call changes nothing, so it can be repeated without an `Idempotency-Key`.",
    )
    async def list_body(self, request: web.Request) -> web.StreamResponse:
        """Look up more items than fit in a URL."""
        return await self._answer(request)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        """Prepare, charge, respond."""
        parameter, values = ("iids", request[BODY]) if request.method == hdrs.METH_POST else ("iid", request[QUERY])
        iids: Sequence[str] = values[parameter]
        units = units_of(parameter, iids, principal_of(request).plan)
        if request[QUERY]["dry_run"]:
            await self._billing.count_call(request[CONTEXT])
            return batch_estimate(BATCH, units, self._version.current)
        charge = await self._billing.charge(request[CONTEXT], units)
        return await charge.settle(self._respond(iids))

    async def _respond(self, texts: Sequence[str]) -> web.Response:
        iids = [canonical_iid(text) for text in texts]
        records = await self._records.find_many([iid for iid in iids if iid is not None])
        return batch_answer([_entry(text, iid, records) for text, iid in zip(texts, iids, strict=True)])


def units_of(parameter: str, values: Sequence[Any], plan: Plan) -> int:
    """Return the price of a batch, rounded up. Raises InvalidParameter where the plan does not allow so many values."""
    if len(values) > plan.batch_iids_max:
        allowed = f"must have at most {plan.batch_iids_max} entries on the {plan.title} plan, not {len(values)}"
        raise InvalidParameter(parameter, allowed)
    return -(-len(values) // IIDS_PER_UNIT)


def batch_answer(entries: Sequence[bytes], more: bytes = b"") -> web.Response:
    """Return the answer with encoded entries, and `more` members."""
    body = b'{"data":[' + b",".join(entries) + b'],"count":%d' % len(entries) + more + b"}"
    return web.Response(body=body, content_type="application/json", headers={"Cache-Control": CACHE_CONTROL})


def batch_estimate(kind: str, units: int, data_version: int) -> web.Response:
    """Return the answer to a dry run."""
    price = {"kind": kind, "cost_units": units, "cached": False, "format": "json", "data_version": data_version}
    return batch_answer((), b"," + _ENCODER.encode(price)[1:-1])


def _entry(text: str, iid: str | None, records: dict[str, Record]) -> bytes:
    try:
        if iid is None:
            raise InvalidIid
        if iid not in records:
            raise StoreUnavailable("database")
        record = records[iid].or_raise()
    except ItemMerged as merged:
        return _ENCODER.encode(
            {"iid": iid, "status": 301, "record": None, "survivor": merged.survivor, "problem": None}
        )
    except ItemIndexError as error:
        problem = (problem_of(error) or Problem("internal-error", "")).type
        entry = {"iid": text[:_TEXT_CHARACTERS_MAX], "status": problem.status, "record": None, "survivor": None}
        return _ENCODER.encode({**entry, "problem": problem.slug})
    return _FOUND % (iid.encode(), record.body)
