"""How fast a client must send a body that is read as it arrives."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class BodyPace:
    """Bounds how long a body is waited for: `grace_seconds`, and one second more for each `bytes_per_second` received.

    Only waits for the client count, so that a slow store does not make a client slow. nginx bounds each pause, which a
    client extends for ever with a byte now and then.
    """

    def __init__(self, grace_seconds: float, bytes_per_second: int) -> None:
        self._grace_seconds = grace_seconds
        self._bytes_per_second = bytes_per_second
        self._waited_seconds = 0.0
        self._bytes = 0

    def count(self, received_bytes: int) -> None:
        """Note bytes that have arrived."""
        self._bytes += received_bytes

    @asynccontextmanager
    async def bound_wait(self) -> AsyncIterator[None]:
        """Wait for the client in this block. Raises TimeoutError once it has been too slow on the whole."""
        began = time.monotonic()
        left = self._grace_seconds + self._bytes / self._bytes_per_second - self._waited_seconds
        try:
            async with asyncio.timeout(left):
                yield
        finally:
            self._waited_seconds += time.monotonic() - began
