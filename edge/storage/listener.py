"""What PostgreSQL tells the edges by NOTIFY: one connection per process, reconnected while the process lives."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import asyncpg

from shared.telemetry.log import Log

_RECONNECT_SECONDS = 1.0
_PROBE_SECONDS = 5.0


class PgListener:
    """Calls a function for each notice on a channel, and all of them after every (re)connection.

    A notice may be lost while the connection is down; calling everything afterwards makes up for it. `told` are the
    channels whose notices name something: their functions get the name, or "" for "look at everything".
    """

    def __init__(
        self, url: str, heard: Mapping[str, Callable[[], Any]], log: Log,
        told: Mapping[str, Callable[[str], Any]] | None = None,
    ) -> None:  # fmt: skip
        self._url = url
        self._told = dict(told or {})
        self._heard = heard
        self._log = log
        self._task: asyncio.Task[None] | None = None
        self.connected = False

    def start(self) -> None:
        """Begin to listen, in the background."""
        self._task = asyncio.create_task(self._listen_forever())

    async def stop(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _listen_forever(self) -> None:
        while True:
            try:
                await self._listen()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
                if self.connected:
                    self._log.warning("store-down", store="notices")
                self.connected = False
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _listen(self) -> None:
        connection = await asyncpg.connect(
            self._url, timeout=_PROBE_SECONDS, server_settings={"application_name": "itemindex-notices"}
        )
        try:
            for channel in (*self._heard, *self._told):
                await connection.add_listener(channel, self._on_notice)
            self.connected = True
            for tell in self._heard.values():
                tell()
            for name in self._told.values():
                name("")
            while True:  # a cut line is only noticed by using it
                await asyncio.sleep(_PROBE_SECONDS)
                await connection.execute("SELECT 1", timeout=_PROBE_SECONDS)
        finally:
            connection.terminate()

    def _on_notice(self, connection: Any, pid: int, channel: str, payload: object) -> None:
        if channel in self._told:
            self._told[channel](str(payload))
        else:
            self._heard[channel]()
