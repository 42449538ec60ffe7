"""An edge that stops answers what still arrives, and sends its callers away."""

import asyncio
from dataclasses import replace
from pathlib import Path

from shared.settings.settings import Settings
from tests.support.client import running_edge

_REQUEST = b"GET /v1/health HTTP/1.1\r\nHost: edge\r\nX-Real-IP: 192.0.2.1\r\n\r\n"


async def test_a_connection_that_is_still_used_is_answered_and_closed(settings: Settings, tmp_path: Path) -> None:
    async with running_edge(replace(settings, drain_seconds=2.0), tmp_path) as edge:
        reader, writer = await asyncio.open_unix_connection(edge.path)

        async def ask() -> str:
            writer.write(_REQUEST)
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r\n")[0]))
            return head

        assert "connection: close" not in await ask()
        ending = asyncio.create_task(edge.runner.cleanup())
        while edge.runner.sites:
            await asyncio.sleep(0.01)
        head = await ask()
        assert head.startswith("http/1.1 200 ")
        assert "connection: close" in head
        assert await reader.read() == b""
        assert not ending.done()
        await ending
        writer.close()
