"""Which identifier a caller asks for, and which items it leads to. Reads through the same caches as records."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

import asyncpg
import msgspec

from edge.index.versioned_cache import EntryKind, VersionedCache
from edge.storage.database import Database
from shared.db.queries import load_queries
from shared.errors import (
    IdentifierNotFound,
    InvalidIdentifier,
    InvalidParameter,
    MissingParameter,
    StoreUnavailable,
    WrongIdentifier,
)
from shared.gtin import is_restricted
from shared.index.holdings import GTIN_SCHEMES, StatedIdentifiers, holders, holdings
from shared.index.holdings import SQL as HOLDINGS
from shared.index.identifiers import SCHEMES, NormalIdentifier, brand_key, normal
from shared.redis import keys
from shared.telemetry import metrics

SQL = load_queries(__file__, "identifiers.sql")
CANDIDATES_MAX = 100
_SEPARATOR = "\x1f"  # no identifier has a character that cannot be shown

LAYOUT = 2
"""Grows with each change of what is packed for the same identifier."""


class RequestedIdentifier(NamedTuple):
    """One identifier in the form in which it is compared.

    `brand` and `source` are empty where any will do; a caller must name the brand of an mpn. `as_of` is a day as ISO
    writes it, of a GTIN alone; empty for the newest day that is known.
    """

    scheme: str
    value: str
    brand: str = ""
    source: str = ""
    as_of: str = ""

    @property
    def key(self) -> str:
        """One text for all of it."""
        return _SEPARATOR.join(self)

    @property
    def is_unique(self) -> bool:
        """Whether it may name one article: a code of a restricted range does so only within its source."""
        return self.scheme != "gtin" or bool(self.source) or not is_restricted(self.value)


def requested_identifier(given: Mapping[str, str | None], as_of: date | None = None) -> RequestedIdentifier:
    """Read the one identifier among parameters, and the day for which it is asked.

    Raises MissingParameter, WrongIdentifier, or InvalidParameter where there are two or a part belongs to none.
    """
    named = [name for name in SCHEMES if given.get(name) is not None]
    if not named:
        raise MissingParameter("gtin", f"is required unless one of {', '.join(list(SCHEMES)[1:])} is given")
    if len(named) > 1:
        raise InvalidParameter(named[1], f"cannot be combined with `{named[0]}`; send only one identifier")
    [name] = named
    for part, whole in (("brand", "mpn"), ("source", "sku")):
        if name == whole and given.get(part) is None:
            raise MissingParameter(part, f"is required with `{whole}`")
    if name != "mpn" and given.get("brand") is not None:
        raise InvalidParameter("brand", "is only allowed with `mpn`")
    brand = brand_key(given.get("brand") or "")
    if name == "mpn" and not brand:
        raise InvalidParameter("brand", "is not the name of a brand", given.get("brand"))
    if as_of is not None and name not in GTIN_SCHEMES:
        raise InvalidParameter("as_of", f"is only allowed with {', '.join(f'`{scheme}`' for scheme in GTIN_SCHEMES)}")
    scheme, value = _normal(name, given[name] or "")
    day = "" if as_of is None else as_of.isoformat()
    return RequestedIdentifier(scheme, value, brand, given.get("source") or "", day)


def _normal(name: str, text: str) -> NormalIdentifier:
    try:
        canonical = normal(name, text)
    except InvalidIdentifier as error:
        raise WrongIdentifier(name, error.detail, text, error.expected, error.suggestion) from None
    if canonical is None:
        raise WrongIdentifier(name, "only says that there is no identifier", text, None, None)
    return canonical


class Resolution(NamedTuple):
    """The IIDs of the active items that an identifier leads to, in order; `CANDIDATES_MAX` and one more at most."""

    iids: tuple[str, ...]

    def pack(self) -> bytes:
        """Write it as the cache store keeps it."""
        return "\n".join(self.iids).encode()

    @classmethod
    def unpack(cls, packed: bytes) -> "Resolution":
        """Read what the cache store kept."""
        return cls(tuple(packed.decode().split("\n")) if packed else ())

    @property
    def size(self) -> int:
        """The bytes of its IIDs, each of which is an object."""
        return sum(len(iid) + 60 for iid in self.iids)

    @property
    def is_absent(self) -> bool:
        """Whether no item has the identifier."""
        return not self.iids

    def only(self, requested: RequestedIdentifier) -> str | None:
        """Return the one IID; None where there are several to choose from. Raises IdentifierNotFound."""
        if not self.iids:
            raise IdentifierNotFound
        return self.iids[0] if len(self.iids) == 1 and requested.is_unique else None


class ResolutionReader:
    """Reads resolutions from PostgreSQL, for `ResolutionCache`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def __call__(self, requested: Sequence[str]) -> dict[str, Resolution]:
        """Return what each key leads to, in one query, and in two more where days decide. Raises StoreUnavailable."""
        identifiers = [RequestedIdentifier(*key.split(_SEPARATOR)) for key in requested]
        columns = [list(column) for column in zip(*(identifier[:4] for identifier in identifiers), strict=True)]
        rows = await self._database.fetch(SQL.resolved, *columns)
        found = {requested[row["n"] - 1]: Resolution(tuple(row["iids"])) for row in rows}
        dated = [one for one in identifiers if one.scheme == "gtin" and (one.as_of or len(found[one.key].iids) > 1)]
        return found | (await self._of_their_days(dated) if dated else {})

    async def _of_their_days(self, requested: Sequence[RequestedIdentifier]) -> dict[str, Resolution]:
        """Return the items that have GTINs on the days that are asked for, among all that ever had them."""
        values, sources = [one.value for one in requested], [one.source for one in requested]
        rows = await self._database.fetch(SQL.ever_held, values, sources)
        items = [row["item_id"] for row in rows]
        stated: dict[int, list[StatedIdentifiers]] = {}
        for row in await self._database.fetch(HOLDINGS.stated, items):
            stated.setdefault(row["item_id"], []).append(_stated_identifiers(row))
        candidates: list[dict[int, _Holder]] = [{} for _ in requested]
        for row in rows:
            candidate = _Holder(row["iid"], row["source_ids"])
            candidates[row["n"] - 1][row["item_id"]] = candidate
        return {
            one.key: Resolution(tuple(sorted(_holders(one, of_number, stated))[: CANDIDATES_MAX + 1]))
            for one, of_number in zip(requested, candidates, strict=True)
        }


class _Holder(NamedTuple):
    """The active item that answers for an item, and the sources that stated the number of it."""

    iid: str
    source_ids: Sequence[int]


def _stated_identifiers(row: asyncpg.Record) -> StatedIdentifiers:
    return StatedIdentifiers(*row.values())._replace(identifiers=msgspec.json.decode(row["identifiers"]))


def _holders(
    requested: RequestedIdentifier,
    candidates: Mapping[int, _Holder],
    stated: Mapping[int, Sequence[StatedIdentifiers]],
) -> set[str]:
    """Return the IIDs of those that have the number on the day.

    Sources that assign a code of a restricted range do not take it from each other.
    """
    rows = (
        row
        for item_id, candidate in candidates.items()
        for row in stated.get(item_id, ())
        if row.source_id in candidate.source_ids
    )
    times = holdings(requested.value, rows)
    owners = {item_id: candidate.iid for item_id, candidate in candidates.items()}
    day = date.fromisoformat(requested.as_of) if requested.as_of else None
    if not is_restricted(requested.value):
        return holders(times, owners, day)
    sources = {time.source_id for time in times}
    return {
        iid for source in sources for iid in holders([time for time in times if time.source_id == source], owners, day)
    }


class ResolutionCache(VersionedCache[Resolution]):
    """Answers for `RequestedIdentifier.key`."""

    kind = EntryKind("identifier", LAYOUT, keys.identifier, Resolution.unpack, metrics.identifier_reads)

    async def find_all(self, requested: Sequence[RequestedIdentifier]) -> dict[str, Resolution]:
        """Return what each identifier leads to, by its key; without those that only an unavailable store knows."""
        try:
            return await self.find_many([identifier.key for identifier in requested]) if requested else {}
        except StoreUnavailable:
            return {}
