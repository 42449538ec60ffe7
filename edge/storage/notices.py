"""Receives PostgreSQL's notifications."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Protocol

import asyncpg

from edge.storage.background import Background
from edge.storage.database import NO_ANSWER
from shared.telemetry.log import Log

_PROBE_SECONDS = 0.25
_TIMEOUT_SECONDS = 5.0


class Confirm(Protocol):
    """Takes a moment, in seconds of the monotonic clock, and whether all that was notified before it was passed on."""

    def __call__(self, moment: float, *, heard: bool) -> Awaitable[None]: ...


class PgListener(Background):
    """Calls a function for each notification on a channel, and every function after each (re)connection.

    A notification may be lost while the connection is down; the calls after a reconnection make up for it.
    `on_payload` functions get the notification's payload, or "" after a reconnection, which means that anything may
    have changed. `confirm` is called several times a second with a moment: what was notified before it has been passed
    on if `heard`; otherwise notices may be missing since the last such moment.
    """

    def __init__(
        self,
        url: str,
        on_signal: Mapping[str, Callable[[], object]],
        on_payload: Mapping[str, Callable[[str], object]],
        confirm: Confirm,
        log: Log,
        reconnect_seconds: float = 0.5,
    ) -> None:
        super().__init__(self._listen, log)
        self._url = url
        self._reconnect_seconds = reconnect_seconds
        self._confirm = confirm
        self._on_payload = on_payload
        self._on_signal = on_signal
        self.connected = False

    async def _listen(self) -> None:
        """Listen until the connection is lost, and pause."""
        try:
            await self._listen_once()
        except (*NO_ANSWER, asyncpg.PostgresError):
            if self.connected:
                self._log.warning("store-down", store="notices")
        finally:
            self.connected = False
        await self._confirm(monotonic(), heard=False)
        await asyncio.sleep(self._reconnect_seconds)

    async def _listen_once(self) -> None:
        connection = await asyncpg.connect(
            self._url, timeout=_TIMEOUT_SECONDS, server_settings={"application_name": "itemindex-notices"}
        )
        try:
            for channel in (*self._on_signal, *self._on_payload):
                await connection.add_listener(channel, self._on_notice)
            for call in self._on_signal.values():
                call()
            for call_with in self._on_payload.values():
                call_with("")
            while True:  # a connection that was cut is noticed only when it is used
                moment = monotonic()
                await connection.execute("SELECT 1", timeout=_TIMEOUT_SECONDS)
                await self._confirm(moment, heard=True)
                self.connected = True
                await asyncio.sleep(_PROBE_SECONDS)
        finally:
            connection.terminate()

    def _on_notice(self, connection: object, pid: int, channel: str, payload: object) -> None:
        if channel in self._on_payload:
            self._on_payload[channel](str(payload))
        else:
            self._on_signal[channel]()
