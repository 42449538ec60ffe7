"""The last calls of each organization, for its people to look at: no address, parameter, header or secret of a call.

Noted in memory at every answer and handed over with the statistics of use, so that no call waits for it. The cache
store keeps it because it may be forgotten: it decides nothing, and the state store never evicts.
"""

import time
from collections import deque
from collections.abc import Callable

import msgspec

from edge.storage.redis_client import RedisClient
from shared.errors import StoreUnavailable
from shared.redis import keys

KEPT_DAYS = 7
_KEPT_SECONDS = KEPT_DAYS * 86_400
_HELD_MAX = 20_000


class LoggedCall(msgspec.Struct, frozen=True, array_like=True):
    """One call: when it was answered (seconds since 1970), by which credential, of what, and how."""

    at: float
    credential: str
    endpoint: str
    status: int
    units: int
    seconds: float
    request_id: str


class RequestLog:
    """Keeps the newest `calls_max` calls of each organization; none where that is 0."""

    def __init__(self, cache: RedisClient, calls_max: int, clock: Callable[[], float] = time.time) -> None:
        self._cache = cache
        self.calls_max = calls_max
        self._clock = clock
        self._held: dict[str, deque[LoggedCall]] = {}
        self._count = 0

    def note(
        self,
        organization: str,
        credential: str,
        endpoint: str,
        status: int,
        units: int,
        seconds: float,
        request_id: str,
    ) -> None:
        """Hold one call until the next flush; beyond a bound of all organizations together they are not held."""
        if not self.calls_max or self._count >= _HELD_MAX:
            return
        held = self._held.get(organization)
        if held is None:
            held = self._held[organization] = deque(maxlen=self.calls_max)
        self._count += 1
        held.append(LoggedCall(self._clock(), credential, endpoint, status, units, seconds, request_id))

    async def flush(self) -> None:
        """Hand over what is held. Without the cache store it is dropped: nothing may grow during an outage."""
        held, self._held, self._count = self._held, {}, 0
        try:
            for organization, calls in held.items():
                name = keys.request_log(organization)
                await self._cache.command("LPUSH", name, *map(msgspec.msgpack.encode, calls))
                await self._cache.command("LTRIM", name, 0, self.calls_max - 1)
                await self._cache.command("EXPIRE", name, _KEPT_SECONDS)
        except StoreUnavailable:
            return

    async def read(self, organization: str) -> list[LoggedCall]:
        """Return an organization's calls, the newest first. Raises StoreUnavailable."""
        packed = await self._cache.command("LRANGE", keys.request_log(organization), 0, max(0, self.calls_max - 1))
        calls = [msgspec.msgpack.decode(entry, type=LoggedCall) for entry in packed]
        return sorted(calls, key=lambda call: -call.at)
