"""Use: statistics for each account, and the last calls of each organization. They show, and never decide."""

import asyncio
import time
from collections import deque
from datetime import UTC, date, datetime

import msgspec

from edge.storage.background import Background
from edge.storage.database import Database, Scope
from edge.storage.redis_client import RedisClient
from shared.errors import StoreUnavailable
from shared.organizations.accounts import SQL, Principal
from shared.redis import keys
from shared.telemetry import metrics
from shared.telemetry.log import Log

# The last calls of each organization, for its people to look at: no address, query, header or secret of a call.
# Noted in memory at every answer and handed over with the statistics of use, so that no call waits for it. The cache
# store keeps it because it may be forgotten: it decides nothing, and the state store never evicts.


KEPT_DAYS = 7
_KEPT_SECONDS = KEPT_DAYS * 86_400
_PATH_MAX = 200
_HELD_MAX = 20_000
"""Calls that are held between two flushes, of all organizations together."""


class LoggedCall(msgspec.Struct, frozen=True, array_like=True):
    """One call: when it was answered (seconds since 1970), by which credential, of what, and how.

    `path` has no query. `problem` is the slug of the problem that was answered, empty where none was. An entry of an
    older release has neither.
    """

    at: float
    credential: str
    endpoint: str
    status: int
    units: int
    seconds: float
    request_id: str
    method: str = ""
    path: str = ""
    problem: str = ""


class RequestLog:
    """Keeps the newest `calls_max` calls of each organization; none where that is 0."""

    def __init__(self, cache: RedisClient, calls_max: int) -> None:
        self._cache = cache
        self.calls_max = calls_max
        self._forget()

    def note(
        self,
        organization: str,
        credential: str,
        endpoint: str,
        status: int,
        units: int,
        seconds: float,
        request_id: str,
        method: str = "",
        path: str = "",
        problem: str = "",
    ) -> None:
        """Hold one call until the next flush. An organization's oldest calls make room for its newest ones.

        Beyond a bound of all organizations together each may hold half as many: the busiest alone lose calls by it.
        """
        if not self.calls_max:
            return
        while self._count >= _HELD_MAX and self._share > 1:
            self._halve()
        held = self._held.get(organization)
        if held is None:
            if self._count >= _HELD_MAX:  # as many organizations as calls may be held
                metrics.request_log_lost.inc()
                return
            held = self._held[organization] = deque()
        if len(held) >= self._share:
            held.popleft()
        else:
            self._count += 1
        of = (credential, endpoint, status, units, seconds, request_id, method, path[:_PATH_MAX], problem)
        held.append(LoggedCall(time.time(), *of))

    async def flush(self) -> None:
        """Hand over what is held. Without the cache store it is dropped and counted: it may not grow in an outage."""
        held = self._held
        self._forget()
        for organization, calls in held.items():
            name = keys.request_log(organization)
            try:
                await self._cache.command("LPUSH", name, *map(msgspec.msgpack.encode, calls))
                await self._cache.command("LTRIM", name, 0, self.calls_max - 1)
                await self._cache.command("EXPIRE", name, _KEPT_SECONDS)
            # On a cluster the node of another organization may answer; a path that is no text is this one's alone.
            except (StoreUnavailable, UnicodeEncodeError):
                metrics.request_log_lost.inc(len(calls))

    async def read(self, organization: str) -> list[LoggedCall]:
        """Return an organization's calls, the newest first. Raises StoreUnavailable."""
        packed = await self._cache.command("LRANGE", keys.request_log(organization), 0, max(0, self.calls_max - 1))
        calls = [call for entry in packed if (call := _unpacked(entry)) is not None]
        return sorted(calls, key=lambda call: -call.at)

    def _forget(self) -> None:
        self._held: dict[str, deque[LoggedCall]] = {}
        self._count = 0
        self._share = self.calls_max

    def _halve(self) -> None:
        self._share //= 2
        for held in self._held.values():
            while len(held) > self._share:
                held.popleft()
                self._count -= 1
                metrics.request_log_lost.inc()


def _unpacked(entry: bytes) -> LoggedCall | None:
    """Read one entry; one that another release wrote in a layout of its own is left out and counted."""
    try:
        return msgspec.msgpack.decode(entry, type=LoggedCall)
    except msgspec.DecodeError:
        metrics.cache_unreadable.labels("logged-call").inc()
        return None


# Statistics of use: counted in memory at every answer, flushed to PostgreSQL in batches. They show people their
# calls and never decide anything. Calls that an edge had not flushed when it was killed are lost: those of
# `usage_flush_seconds` at most; the quota itself is in the state store and stays exact.


_ROWS_MAX = 20_000
_SCOPE = Scope(task="usage")
_DAY_SECONDS = 86_400
_EPOCH = date(1970, 1, 1).toordinal()
_NAMED = {304: "not-modified", 404: "not-found", 429: "refused"}
Key = tuple[int, str, str, str, str]


def outcome_of(status: int) -> str:
    """Return a call's outcome: served, not-found, not-modified, refused, rejected or failed."""
    if status in _NAMED:
        return _NAMED[status]
    return "served" if status < 400 else "rejected" if status < 500 else "failed"


class UsageRecorder:
    """The counts of one process, flushed to PostgreSQL every few seconds."""

    def __init__(
        self,
        database: Database,
        calls: RequestLog,
        log: Log,
        flush_seconds: float,
    ) -> None:
        self._database = database
        self._calls = calls
        self._flush_seconds = flush_seconds
        self._counts: dict[Key, list[int]] = {}
        self._keys: dict[str, tuple[float, str]] = {}
        # Days and accounts whose counts have changed since their quotas were noted, also where an outage came between.
        self._quotas_due: set[tuple[int, str]] = set()
        self._one_flush = asyncio.Lock()
        self._flushing = Background(self._flush_later, log)

    def note(
        self,
        principal: Principal,
        network: str,
        route: str,
        status: int,
        units: int,
        seconds: float,
        request_id: str,
        method: str = "",
        path: str = "",
        problem: str = "",
    ) -> None:
        """Count one response for its caller's account and log it for its organization, if it has one."""
        if principal.kind == "api-key":
            account = f"org:{principal.organization_id}"
            self._keys[principal.credential_id] = (time.time(), network)
        elif principal.organization_id is not None:
            account = f"org:{principal.organization_id}"
        elif principal.kind == "public-token" and principal.plan.rank:
            account = f"token:{principal.credential_id}"
        else:
            return
        credential = f"{principal.kind}:{principal.credential_id}"
        if principal.organization_id is not None:
            call = (credential, route, status, units, seconds, request_id, method, path, problem)
            self._calls.note(principal.organization_id, *call)
        key = (int(time.time()) // _DAY_SECONDS, account, credential, route, outcome_of(status))
        entry = self._counts.get(key)
        if entry is not None:
            entry[0] += 1
            entry[1] += units
        elif len(self._counts) < _ROWS_MAX:
            self._counts[key] = [1, units]
        else:
            metrics.usage_lost.inc()

    def start(self) -> None:
        self._flushing.start()

    async def stop(self) -> None:
        """Flush what is left and stop."""
        async with self._one_flush:  # one that was broken off would lose what it holds, or leave it counted twice
            await self._flushing.stop()
        await self.flush()

    async def flush(self) -> None:
        """Flush the log and the counts; during an outage of PostgreSQL the counts are kept, up to a bound.

        The last use of each key is kept too.
        """
        async with self._one_flush:
            await self._calls.flush()
            await self._flush_counts()

    async def _flush_counts(self) -> None:
        counts, self._counts = self._counts, {}
        keys, self._keys = self._keys, {}
        try:
            if counts:
                await self._database.fetch(SQL.add_usage, *_columns(counts), scope=_SCOPE)
                self._quotas_due |= {(day, account) for day, account, *_ in counts if account.startswith("org:")}
                counts = {}  # kept now: an outage that begins after this must not count them twice
            await self._note_quotas()
            if keys:
                moments = [datetime.fromtimestamp(at, UTC).isoformat() for at, _ in keys.values()]
                networks = [network for _, network in keys.values()]
                await self._database.fetch(SQL.note_key_use, list(keys), moments, networks, scope=_SCOPE)
        except BaseException as error:
            self._requeue(counts, keys)
            if not isinstance(error, StoreUnavailable):
                raise

    async def _note_quotas(self) -> None:
        """Have PostgreSQL log which organizations have now used 80 or 100 % of a day."""
        for day in sorted({day for day, _ in self._quotas_due}):
            due = {quota for quota in self._quotas_due if quota[0] == day}
            accounts = sorted(account for _, account in due)
            await self._database.fetch(SQL.log_quota, accounts, date.fromordinal(_EPOCH + day), scope=_SCOPE)
            self._quotas_due -= due

    def _requeue(self, counts: dict[Key, list[int]], keys: dict[str, tuple[float, str]]) -> None:
        self._keys = keys | self._keys  # a later use than the one that was not noted is the last one
        for key, (calls, units) in counts.items():
            entry = self._counts.setdefault(key, [0, 0])
            entry[0] += calls
            entry[1] += units

    async def _flush_later(self) -> None:
        await asyncio.sleep(self._flush_seconds)
        await self.flush()


def _columns(counts: dict[Key, list[int]]) -> tuple[list[str], ...]:
    rows = [
        (account, date.fromordinal(_EPOCH + day).isoformat(), credential, endpoint, outcome, str(calls), str(units))
        for (day, account, credential, endpoint, outcome), (calls, units) in sorted(counts.items())
    ]
    return tuple(map(list, zip(*rows, strict=True)))
