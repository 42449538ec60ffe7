"""Statistics of use: counted in memory at every answer, flushed to PostgreSQL in batches.

They show people their calls and never decide anything. Calls that an edge had not flushed when it was killed are lost:
those of `usage_flush_seconds` at most; the quota itself is in the state store and stays exact.
"""

import asyncio
import time
from datetime import UTC, date, datetime

from edge.http.answered_call import AnsweredCall
from edge.quota.request_log import RequestLog
from edge.storage.background import Background
from edge.storage.database import Database, Scope
from shared.errors import StoreUnavailable
from shared.organizations.accounts import SQL, Principal
from shared.telemetry import metrics
from shared.telemetry.log import Log

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

    def note(self, principal: Principal, network: str, call: AnsweredCall) -> None:
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
            self._calls.note(principal.organization_id, credential, call)
        key = (int(time.time()) // _DAY_SECONDS, account, credential, call.endpoint, outcome_of(call.status))
        entry = self._counts.get(key)
        if entry is not None:
            entry[0] += 1
            entry[1] += call.units
        elif len(self._counts) < _ROWS_MAX:
            self._counts[key] = [1, call.units]
        else:
            metrics.usage_lost.inc()

    def start(self) -> None:
        self._flushing.start()

    async def stop(self) -> None:
        """Write the remaining counts and stop."""
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
