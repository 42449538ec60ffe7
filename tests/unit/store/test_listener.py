"""The listener connects again whatever ended its connection."""

import asyncio
from typing import Any

import asyncpg
import pytest

from edge.storage.monitor import PgListener
from shared.telemetry.log import Log


async def test_an_error_of_the_drivers_own_state_does_not_end_the_listening(monkeypatch: pytest.MonkeyPatch) -> None:
    again = asyncio.Event()
    errors: list[Exception] = [asyncpg.InternalClientError("got the server's farewell instead of an answer")]

    async def refused(*values: Any, **options: Any) -> Any:
        if errors:
            raise errors.pop()
        again.set()
        raise ConnectionRefusedError

    monkeypatch.setattr("asyncpg.connect", refused)
    monkeypatch.setattr("edge.storage.monitor._RECONNECT_SECONDS", 0.01)
    listener = PgListener("postgresql://nowhere", {}, Log("tests"))
    listener.start()
    await asyncio.wait_for(again.wait(), 10)
    await listener.stop()
