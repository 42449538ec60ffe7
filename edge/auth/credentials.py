"""Valid credentials: PostgreSQL, cached for seconds in the process."""

import asyncio
import contextlib
import hashlib
import hmac
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from edge.storage.database import Database, Scope
from shared.db.queries import load_queries
from shared.errors import StoreUnavailable
from shared.organizations import credentials
from shared.organizations.accounts import CredentialKind, Plan, Principal
from shared.telemetry import metrics
from shared.telemetry.log import Log

# A cache of resolved credentials in the memory of one process, for seconds. It contains no credential.


_KEPT_SECONDS = 5.0
_VALID_MAX = 20_000
_UNKNOWN_MAX = 10_000
_DIGEST_BYTES = 16

Entry = tuple[float, Principal | None]


class CredentialCache:
    """Two bounded LRU tables: principals, and credentials that are not valid.

    They are separate because anyone can make well-formed credentials that do not exist: however many come, they push
    out each other and no principal.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        valid_max: int = _VALID_MAX,
        unknown_max: int = _UNKNOWN_MAX,
    ) -> None:
        self._clock = clock
        self._valid_max, self._unknown_max = valid_max, unknown_max
        # Keyed by a random key of this process: a memory dump contains nothing that could be used elsewhere.
        self._key = os.urandom(32)
        self._valid: OrderedDict[bytes, Entry] = OrderedDict()
        self._unknown: OrderedDict[bytes, Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._valid) + len(self._unknown)

    def digest(self, credential: str) -> bytes:
        """Return the name of a credential in this cache: 16 bytes."""
        text = credential.encode(errors="surrogatepass")
        return hashlib.blake2b(text, digest_size=_DIGEST_BYTES, key=self._key).digest()

    def find(self, digest: bytes) -> Entry | None:
        """Return the entry of a credential while it is fresh: when it ends, and its principal or None."""
        for table in (self._valid, self._unknown):
            entry = table.get(digest)
            if entry is not None:
                if entry[0] > self._clock():
                    table.move_to_end(digest)
                    return entry
                del table[digest]
        return None

    def remember(self, digest: bytes, principal: Principal | None) -> None:
        """Keep what was found for five seconds."""
        table, entries_max = (self._unknown, self._unknown_max) if principal is None else (self._valid, self._valid_max)
        table[digest] = (self._clock() + _KEPT_SECONDS, principal)
        if len(table) > entries_max:
            table.popitem(last=False)

    def clear(self) -> None:
        """Remove everything."""
        self._valid.clear()
        self._unknown.clear()


# The store of valid credentials: PostgreSQL, cached for seconds in the process. A change in the accounts' tables is
# notified by NOTIFY and invalidates everything at once; the short life of an entry is the net under a lost notice.


SQL = load_queries(__file__, "credentials.sql")
_KINDS: dict[str, CredentialKind] = {
    credentials.ANONYMOUS_PREFIX: "public-token",
    credentials.FREE_PREFIX: "public-token",
    credentials.KEY_PREFIX: "api-key",
}
_REHASH = Scope(task="rehash")


class CredentialStore:
    """Finds the principal behind a credential."""

    def __init__(self, database: Database, log: Log, *, anonymous_token: str, peppers: tuple[str, ...]) -> None:
        self._database = database
        self._log = log
        self._anonymous_token = anonymous_token
        self._peppers = peppers
        self._plans: dict[str, Plan] = {}
        self._anonymous: Principal | None = None
        self._cache = CredentialCache()
        # Apart from the credentials: the id of a key is no secret, and nobody who sends it may be taken for its holder.
        self._by_key_id = CredentialCache()
        self._loads: dict[bytes, asyncio.Task[Principal | None]] = {}
        self._invalidations = 0

    @property
    def plans(self) -> dict[str, Plan]:
        """The plans by name, as last read."""
        return self._plans

    def cached(self, credential: str) -> Principal | None:
        """Return the principal without waiting if it is cached and fresh; for the fast path."""
        if credential == self._anonymous_token:
            return self._anonymous
        entry = self._cache.find(self._cache.digest(credential))
        return entry[1] if entry is not None else None

    async def resolve(self, kind: CredentialKind, credential: str) -> Principal | None:
        """Return the principal behind a credential of this kind, or None when it is not valid.

        Raises StoreUnavailable when PostgreSQL is needed and does not answer: a caller whose key we cannot check
        must not be rejected as invalid.
        """
        form = credentials.parse(credential)
        if form is None or _KINDS[form.prefix] != kind:
            return None
        if form.prefix == credentials.ANONYMOUS_PREFIX:
            return await self._resolve_anonymous(credential)
        digest = self._cache.digest(credential)
        entry = self._cache.find(digest)
        if entry is not None:
            return entry[1]
        # Concurrent first calls of one key share one query: others need the connections too.
        load = self._loads.get(digest)
        if load is None:
            load = self._loads[digest] = asyncio.create_task(self._load(form, kind, credential, digest))
            load.add_done_callback(lambda done: self._on_loaded(digest, done))
        else:
            metrics.coalesced_reads.labels("credential").inc()
        return await asyncio.shield(load)

    async def of_key(self, key_id: str) -> Principal | None:
        """Return the principal of an API key by its id, for credentials that were made from it; None once it has ended.

        The caller has verified the derived credential. It ends with its key, by the same notice.
        """
        digest = self._by_key_id.digest(key_id)
        entry = self._by_key_id.find(digest)
        if entry is not None:
            return entry[1]
        invalidations = self._invalidations
        row = await self._database.fetch_row(SQL.api_key, key_id)
        principal = None if row is None else await self._principal("api-key", key_id, row)
        if invalidations == self._invalidations:
            self._by_key_id.remember(digest, principal)
        return principal

    def invalidate(self) -> None:
        """Invalidate everything, plans included: the accounts' tables have changed."""
        self._log.info("accounts-changed", remembered=len(self._cache))
        self._by_key_id.clear()
        self._cache.clear()
        self._loads.clear()
        self._invalidations += 1
        self._plans = {}
        self._anonymous = None

    async def all_plans(self) -> tuple[Plan, ...]:
        """Return every plan, the lowest rank first; the same objects until a plan changes. Raises StoreUnavailable."""
        if not self._plans:
            await self._read_plans()
        return tuple(sorted(self._plans.values(), key=lambda plan: plan.rank))

    async def plan(self, name: str) -> Plan:
        """Return a plan by its name. Raises KeyError where the table has none of that name."""
        if name not in self._plans:
            await self._read_plans()
        return self._plans[name]

    async def _read_plans(self) -> None:
        """Read the plans, and again if something changed meanwhile: nothing else would end what was read before it."""
        invalidations = -1
        while invalidations != self._invalidations:
            invalidations = self._invalidations
            rows = await self._database.fetch(SQL.plans)
        self._plans = {row["name"]: Plan(**dict(row)) for row in rows}

    async def _resolve_anonymous(self, credential: str) -> Principal | None:
        if credential != self._anonymous_token:
            return None
        if self._anonymous is None:
            self._anonymous = Principal("public-token", "anonymous", await self.plan("anonymous"))
        return self._anonymous

    def _on_loaded(self, digest: bytes, load: asyncio.Task[Principal | None]) -> None:
        if self._loads.get(digest) is load:
            del self._loads[digest]
        if not load.cancelled():
            load.exception()  # retrieved, even if every caller has disconnected

    async def _load(
        self, form: credentials.Credential, kind: CredentialKind, credential: str, digest: bytes
    ) -> Principal | None:
        invalidations = self._invalidations
        principal = await self._read(form, kind, credential)
        # Where something has changed since it was read, the next call reads again.
        if invalidations == self._invalidations:
            self._cache.remember(digest, principal)
        return principal

    async def _rehash(self, credential_id: str, stored: bytes, computed: bytes) -> None:
        """Store a credential under the current pepper. While the database accepts no changes it stays as it is."""
        with contextlib.suppress(StoreUnavailable):
            await self._database.fetch(SQL.rehash, credential_id, stored, computed, scope=_REHASH)

    async def _read(self, form: credentials.Credential, kind: CredentialKind, credential: str) -> Principal | None:
        query = SQL.public_token if kind == "public-token" else SQL.api_key
        row = await self._database.fetch_row(query, form.credential_id)
        # Hashed even when the id is unknown, so that the time taken does not reveal which ids exist.
        computed = [credentials.keyed_hash(credential, pepper) for pepper in self._peppers]
        stored = row["secret_hash"] if row else bytes(32)
        same = [hmac.compare_digest(stored, one) for one in computed]
        if row is None or not any(same):
            return None
        if not same[0]:
            await self._rehash(form.credential_id, stored, computed[0])
        return await self._principal(kind, form.credential_id, row)

    async def _principal(self, kind: CredentialKind, credential_id: str, row: Any) -> Principal:
        plan = await self.plan(row["plan"])
        if kind == "public-token":
            return Principal(kind, credential_id, plan)
        return Principal(kind, credential_id, plan, row["organization_id"], row["organization_name"])
