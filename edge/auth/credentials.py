"""Valid credentials: PostgreSQL, remembered in the process for as long as its notices arrive."""

import asyncio
import contextlib
import hashlib
import hmac
import math
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass

from edge.storage.database import ACCOUNT, Database, Scope
from shared.db.queries import load_queries
from shared.errors import StoreUnavailable, copy_of
from shared.organizations import credentials
from shared.organizations.accounts import SQL as ORGANIZATIONS
from shared.organizations.accounts import CredentialKind, Plan, Principal
from shared.telemetry import metrics
from shared.telemetry.log import Log

SQL = load_queries(__file__, "credentials.sql")
_HOLDS_SECONDS = 1.0
"""How long what was true at one moment is relied on without a later word from PostgreSQL."""
_OUTAGE_SECONDS = 5.0
"""The same while PostgreSQL does not answer: a paying caller is not refused for a short outage."""
_READ_AT_ONCE = 5_000
_CHANGES_MAX = 10_000
_DIGEST_BYTES = 16
_ANY = ""
# Calls that wait for the check of a credential that this process has never accepted. Anybody can send well-formed ones,
# and nginx gives them places of paying callers: fewer than half of those at one edge.
_CHECKS_MAX = 1_000
_CHECKS_ACCOUNT = "credential-checks"
_KINDS: dict[str, CredentialKind] = {
    credentials.ANONYMOUS_PREFIX: "public-token",
    credentials.FREE_PREFIX: "public-token",
    credentials.KEY_PREFIX: "api-key",
}
_REHASH = Scope(task="rehash")


@dataclass(slots=True)
class StoredCredential:
    """What PostgreSQL knew of a credential's id at the moment `read`; no principal: it is not valid.

    `digest` is of the credential that was verified, under a random key of the process: comparing it costs a third of
    hashing under the pepper, and a memory dump contains nothing that could be used elsewhere.
    """

    read: float
    principal: Principal | None = None
    secret_hash: bytes = bytes(32)
    ends: float = math.inf
    digest: bytes = b""


class CredentialStore:
    """Finds the principal behind a credential.

    What was read stays, because every change is notified: a notice names a credential, an organization or the plans.
    `confirm` is called several times a second with the last moment before which no notice can have been lost. Where it
    is not called any more, what is known holds for a second.
    """

    def __init__(
        self,
        database: Database,
        log: Log,
        *,
        anonymous_token: str,
        peppers: tuple[str, ...],
        clock: Callable[[], float] = time.monotonic,
        valid_max: int = 200_000,
        unknown_max: int = 10_000,
    ) -> None:
        self._database = database
        self._log = log
        self._anonymous_token = anonymous_token
        self._peppers = peppers
        self._clock = clock
        self._plans: dict[str, Plan] = {}
        self._plans_read = -math.inf
        self._anonymous: Principal | None = None
        # By id, the least recently used first. Anyone can make well-formed credentials that do not exist: however many
        # come, they push out each other and no principal.
        self._valid: OrderedDict[str, StoredCredential] = OrderedDict()
        self._unknown: OrderedDict[str, StoredCredential] = OrderedDict()
        self._most = valid_max, unknown_max
        self._loads: dict[str, asyncio.Task[dict[str, StoredCredential]]] = {}
        self._checks = 0
        self._key = os.urandom(32)
        # When a notice named what; the last moment before which all notices have arrived, and since when without a gap.
        self._changed: dict[str | None, float] = {}
        self._confirmed = self._unbroken_from = -math.inf
        self._complete = False

    @property
    def plans(self) -> dict[str, Plan]:
        """The plans by name, as last read."""
        return self._plans

    def peek(self, credential: str) -> Principal | None:
        """Return the principal without waiting if it is known; for the fast path."""
        if credential == self._anonymous_token:
            return self._anonymous
        known = self._find(credential[credentials.ID])
        return self._holder(known, credential) if known is not None else None

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
        known = await self._find_or_load(form.credential_id)
        is_first = not known.digest
        principal = self._holder(known, credential)
        if principal is not None and is_first:
            await self._rehash(form.credential_id, known.secret_hash, credential)
        return principal

    async def of_key(self, key_id: str) -> Principal | None:
        """Return the principal of an API key by its id, for credentials that were made from it; None once it has ended.

        The caller has verified the derived credential, which ends with its key.
        """
        return (await self._find_or_load(key_id)).principal

    def take_notice(self, name: str) -> None:
        """Take a notice: what it names is read again before it is used; "" may be anything."""
        self._log.info("accounts-changed", remembered=len(self._valid) + len(self._unknown))
        self._changed[name] = self._changed[_ANY] = self._clock()
        self._loads.clear()  # what was asked for before may be what it was before
        if name in (_ANY, "plans") or len(self._changed) > _CHANGES_MAX:
            self._complete = False

    async def confirm(self, moment: float, *, heard: bool) -> None:
        """Rely on what is known for a second from this moment. Notices before it must have been taken, if `heard`.

        If not, or if one meant everything, all that is known is read again first, thousands in one statement: each key
        asked for by itself would be a hundred thousand questions at once, of every process.
        """
        if not (heard and self._complete):
            self._complete = True  # until the next notice that may come while this is read
            try:
                await self._read_again()
            except StoreUnavailable:
                self._complete = False
                return
            self._unbroken_from = moment
            self._changed = {name: at for name, at in self._changed.items() if at >= moment}
        self._confirmed = moment

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
        read = self._clock()
        rows = await self._database.fetch(ORGANIZATIONS.plans)
        if read >= self._plans_read:  # otherwise a later question was answered sooner
            self._plans_read, self._anonymous = read, None
            self._plans = {row["name"]: Plan(**dict(row)) for row in rows}

    async def _read_again(self) -> None:
        await self._read_plans()
        ids = list(self._valid)
        for start in range(0, len(ids), _READ_AT_ONCE):
            await self._read(ids[start : start + _READ_AT_ONCE])

    async def _resolve_anonymous(self, credential: str) -> Principal | None:
        if credential != self._anonymous_token:
            return None
        if self._anonymous is None:
            self._anonymous = Principal("public-token", "anonymous", await self.plan("anonymous"))
        return self._anonymous

    def _find(self, credential_id: str) -> StoredCredential | None:
        """Return what is known of a credential, if it still holds."""
        for table in (self._valid, self._unknown):
            known = table.get(credential_id)
            if known is not None and self._holds(credential_id, known):
                table.move_to_end(credential_id)
                return known
        return None

    def _holds(self, credential_id: str, known: StoredCredential) -> bool:
        changed, read, principal = self._changed, known.read, known.principal
        # A key of an organization that was suspended names none: any notice may have made it valid.
        owner = _ANY if principal is None else principal.organization_id
        if changed.get(credential_id, -math.inf) >= read or changed.get(owner, -math.inf) >= read:
            return False
        # What was read before a gap in the notices may have changed in the gap.
        moment = self._confirmed if self._confirmed > read >= self._unbroken_from else read
        now, holds = self._clock(), _HOLDS_SECONDS if self._database.answering else _OUTAGE_SECONDS
        return now < moment + holds and now < known.ends

    def _holder(self, known: StoredCredential, credential: str) -> Principal | None:
        """Return the principal if this is the whole credential of which the id is known."""
        text = credential.encode(errors="surrogatepass")
        digest = hashlib.blake2b(text, digest_size=_DIGEST_BYTES, key=self._key).digest()
        if not hmac.compare_digest(known.digest, digest):
            # Hashed even when the id is unknown, so that the time taken does not reveal which ids exist.
            computed = [credentials.keyed_hash(credential, pepper) for pepper in self._peppers]
            same = [hmac.compare_digest(known.secret_hash, digest) for digest in computed]
            if not any(same):
                return None
            known.digest = digest
        return known.principal

    async def _find_or_load(self, credential_id: str) -> StoredCredential:
        """Return what is known of a credential, asking PostgreSQL if that is nothing or no longer holds."""
        known = self._find(credential_id)
        if known is not None:
            return known
        if credential_id in self._valid:
            return await self._load(credential_id)
        if self._checks >= _CHECKS_MAX:
            raise StoreUnavailable("database", 1, "checks as many new credentials as it can at the same time")
        self._checks += 1
        try:
            return await self._load(credential_id)
        finally:
            self._checks -= 1

    async def _load(self, credential_id: str) -> StoredCredential:
        """Return what PostgreSQL knows of a credential. Concurrent first calls of one key share one query."""
        load = self._loads.get(credential_id)
        if load is None:
            # Of one account: checks of credentials that do not exist leave connections for others.
            context = copy_context()
            context.run(ACCOUNT.set, _CHECKS_ACCOUNT)
            reading = self._read([credential_id])
            load = self._loads[credential_id] = asyncio.create_task(reading, context=context)
            load.add_done_callback(lambda done: self._on_loaded(credential_id, done))
        else:
            metrics.coalesced_reads.labels("credential").inc()
        try:
            return (await asyncio.shield(load))[credential_id]
        except StoreUnavailable as error:
            known = self._find(credential_id)  # which holds longer now
            if known is None:
                raise copy_of(error) from error  # others wait for the same outcome
            return known

    def _on_loaded(self, credential_id: str, load: asyncio.Task[dict[str, StoredCredential]]) -> None:
        if self._loads.get(credential_id) is load:
            del self._loads[credential_id]
        if not load.cancelled():
            load.exception()  # retrieved, even if every caller has disconnected

    async def _read(self, ids: Sequence[str]) -> dict[str, StoredCredential]:
        """Read credentials and remember them. What is notified while they are read counts as after it."""
        read = self._clock()
        rows = await self._database.fetch(SQL.credentials, ids)
        if any(row["plan"] not in self._plans for row in rows):
            await self._read_plans()
        found = {}
        for row in rows:
            credential_id, kind, secret_hash, plan, organization, name, left = row.values()
            principal = Principal(kind, credential_id, self._plans[plan], organization, name)
            found[credential_id] = StoredCredential(
                read, principal, secret_hash, math.inf if left is None else read + left
            )
        for credential_id in ids:
            known = found.setdefault(credential_id, StoredCredential(read))
            table, other = self._valid, self._unknown
            if known.principal is None:
                table, other = other, table
            other.pop(credential_id, None)
            table[credential_id] = known
        for table, most in zip((self._valid, self._unknown), self._most, strict=True):
            while len(table) > most:
                table.popitem(last=False)
        return found

    async def _rehash(self, credential_id: str, stored: bytes, credential: str) -> None:
        """Store a credential under the current pepper. While the database accepts no changes it stays as it is."""
        computed = credentials.keyed_hash(credential, self._peppers[0])
        if stored != computed:
            with contextlib.suppress(StoreUnavailable):
                await self._database.fetch(SQL.rehash, credential_id, stored, computed, scope=_REHASH)
