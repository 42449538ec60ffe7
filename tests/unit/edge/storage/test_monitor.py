"""The listener connects again whatever ended its connection; the end of the served certificate is known."""

import asyncio
import io
import ssl
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import asyncpg
import pytest
from cryptography import x509

from edge.storage.certificate_monitor import CertificateMonitor
from edge.storage.notices import PgListener
from shared.telemetry import metrics
from shared.telemetry.log import Log
from tests.support.authority import Authority


async def test_an_error_of_the_drivers_own_state_does_not_end_the_listening(monkeypatch: pytest.MonkeyPatch) -> None:
    again = asyncio.Event()
    errors: list[Exception] = [asyncpg.InternalClientError("got the server's farewell instead of an answer")]

    async def refused(*values: Any, **options: Any) -> Any:
        if errors:
            raise errors.pop()
        again.set()
        raise ConnectionRefusedError

    monkeypatch.setattr("asyncpg.connect", refused)
    listener = PgListener("postgresql://nowhere", {}, {}, AsyncMock(), Log("tests"), reconnect_seconds=0.01)
    listener.start()
    await asyncio.wait_for(again.wait(), 10)
    await listener.stop()


@pytest.mark.parametrize("days", [30, -1])
async def test_the_end_of_the_served_certificate_is_read(tmp_path: Path, days: int) -> None:
    chain, key = Authority().issue(tmp_path, "api.example.org", days=days)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(chain, key)
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    lines = io.StringIO()
    expires = metrics.certificate_expires_seconds.labels("127.0.0.1")
    expires.set(0)
    monitor = CertificateMonitor(
        f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", Log("tests", stream=lines)
    )
    monitor.start()
    while not expires._value.get():
        await asyncio.sleep(0.01)
    await monitor.stop()
    ends = x509.load_pem_x509_certificate(chain.read_bytes()).not_valid_after_utc
    assert expires._value.get() == ends.timestamp()
    server.close()
    await server.wait_closed()
    monitor.start()
    while "certificate-unread" not in lines.getvalue():
        await asyncio.sleep(0.01)
    await monitor.stop()
