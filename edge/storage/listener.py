"""LISTEN on PostgreSQL: one connection per process, reconnected for as long as the process lives."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import asyncpg

from edge.storage.background import Background
from edge.storage.database import NO_ANSWER
from shared.telemetry.log import Log

_RECONNECT_SECONDS = 1.0
_PROBE_SECONDS = 5.0


class PgListener:
    """Calls a function for each notification on a channel, and every function after each (re)connection.

    A notification may be lost while the connection is down; the calls after a reconnection make up for it.
    `on_payload` functions get the notification's payload, or "" after a reconnection, which means that anything may
    have changed.
    """

    def __init__(
        self,
        url: str,
        on_signal: Mapping[str, Callable[[], Any]],
        log: Log,
        on_payload: Mapping[str, Callable[[str], Any]] | None = None,
    ) -> None:
        self._url = url
        self._on_payload = dict(on_payload or {})
        self._on_signal = on_signal
        self._log = log
        self._listening = Background(self._listen, log)
        self.connected = False

    def start(self) -> None:
        """Start listening in the background."""
        self._listening.start()

    async def stop(self) -> None:
        """Stop listening."""
        await self._listening.stop()

    async def _listen(self) -> None:
        """Listen until the connection is lost, and pause."""
        try:
            await self._listen_once()
        except (*NO_ANSWER, asyncpg.PostgresError):
            if self.connected:
                self._log.warning("store-down", store="notices")
        finally:
            self.connected = False
        await asyncio.sleep(_RECONNECT_SECONDS)

    async def _listen_once(self) -> None:
        connection = await asyncpg.connect(
            self._url, timeout=_PROBE_SECONDS, server_settings={"application_name": "itemindex-notices"}
        )
        try:
            for channel in (*self._on_signal, *self._on_payload):
                await connection.add_listener(channel, self._on_notice)
            self.connected = True
            for call in self._on_signal.values():
                call()
            for call_with in self._on_payload.values():
                call_with("")
            while True:  # a connection that was cut is noticed only when it is used
                await asyncio.sleep(_PROBE_SECONDS)
                await connection.execute("SELECT 1", timeout=_PROBE_SECONDS)
        finally:
            connection.terminate()

    def _on_notice(self, connection: Any, pid: int, channel: str, payload: object) -> None:
        if channel in self._on_payload:
            self._on_payload[channel](str(payload))
        else:
            self._on_signal[channel]()
