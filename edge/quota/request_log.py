"""The last calls of each organization, for its people to look at: no address, query, header or secret of a call.

Noted in memory at every answer and handed over with the statistics of use, so that no call waits for it. The cache
store keeps it because it may be forgotten: it decides nothing, and the state store never evicts.
"""

import time
from collections import deque

import msgspec

from edge.http.answered_call import AnsweredCall
from edge.storage.redis_client import RedisClient
from shared.errors import StoreUnavailable
from shared.redis import keys
from shared.telemetry import metrics

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

    def note(self, organization: str, credential: str, call: AnsweredCall) -> None:
        """Hold one call until the next flush. An organization's oldest calls make room for its newest ones.

        Beyond a bound of all organizations together each may hold half as many: the busiest alone lose calls by it.
        """
        if not self.calls_max:
            return
        while self._count >= _HELD_MAX and self._share > 1:
            self._halve()
        held = self._calls.get(organization)
        if held is None:
            if self._count >= _HELD_MAX:  # as many organizations as calls may be held
                metrics.request_log_lost.inc()
                return
            held = self._calls[organization] = deque()
        if len(held) >= self._share:
            held.popleft()
        else:
            self._count += 1
        answer = (call.endpoint, call.status, call.units, call.seconds)
        identity = (call.request_id, call.method, call.path[:_PATH_MAX], call.problem)
        held.append(LoggedCall(time.time(), credential, *answer, *identity))

    async def flush(self) -> None:
        """Hand over what is held. Without the cache store it is dropped and counted: it may not grow in an outage."""
        held = self._calls
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
        calls = [call for entry in packed if (call := _unpack(entry)) is not None]
        return sorted(calls, key=lambda call: -call.at)

    def _forget(self) -> None:
        self._calls: dict[str, deque[LoggedCall]] = {}
        self._count = 0
        self._share = self.calls_max

    def _halve(self) -> None:
        self._share //= 2
        for held in self._calls.values():
            while len(held) > self._share:
                held.popleft()
                self._count -= 1
                metrics.request_log_lost.inc()


def _unpack(entry: bytes) -> LoggedCall | None:
    """Read one entry; one that another release wrote in a layout of its own is left out and counted."""
    try:
        return msgspec.msgpack.decode(entry, type=LoggedCall)
    except msgspec.DecodeError:
        metrics.cache_unreadable.labels("logged-call").inc()
        return None
