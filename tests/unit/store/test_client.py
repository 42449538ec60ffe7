"""The client of a store comes back, whatever the store did to its connections."""

import asyncio
from pathlib import Path

from edge.store.client import StoreClient
from shared.log import Log


async def test_a_store_that_hangs_up_as_soon_as_it_is_called_is_tried_again(tmp_path: Path) -> None:
    path, calls = str(tmp_path / "store.sock"), 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        calls += 1
        if calls <= 3:  # as a store at its `maxclients`, or a proxy without a store behind it
            writer.transport.abort()
            return
        while await reader.read(1024):
            writer.write(b"+PONG\r\n")
        writer.close()

    async with await asyncio.start_unix_server(serve, path), asyncio.timeout(20):
        client = StoreClient(f"unix://{path}", name="state", deadline_seconds=0.5, log=Log("tests"))
        await client.start()
        while not client.healthy:
            await asyncio.sleep(0.01)
        assert await client.command("PING") == b"PONG"
        assert calls == 4
        await client.close()
        await asyncio.sleep(0.05)  # until the other end has heard
