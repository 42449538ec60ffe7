"""The client of the state store, without a server: what it tries again, and when it gives up."""

import asyncio
import io
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from edge.storage.redis_client import SingleNodeClient, pack
from edge.storage.replicated_connection import ReplicatedBatch
from shared.errors import StoreUnavailable
from shared.telemetry.log import Log


async def pong(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(1024):
        writer.write(b"+PONG\r\n")
    writer.close()


@asynccontextmanager
async def serving(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], path: str
) -> AsyncIterator[None]:
    """Serve a socket for as long as the block lasts, and wait until every connection has ended."""
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        await handle(reader, writer)

    async with await asyncio.start_unix_server(connected, path):
        yield
        await asyncio.gather(*connections)


@asynccontextmanager
async def client_at(path: str, *, deadline_seconds: float = 0.5) -> AsyncIterator[SingleNodeClient]:
    """Run a client that is connected with the store behind a socket; nothing here may take longer than ten seconds."""
    client = SingleNodeClient(
        f"unix://{quote(path)}", name="state", deadline_seconds=deadline_seconds, log=Log("tests")
    )
    async with asyncio.timeout(10):
        await client.start()
        while not client.healthy:
            await asyncio.sleep(0.01)
        yield client
        await client.close()


@pytest.mark.parametrize("moment", ["at once", "before the first word", "after the last word"])
async def test_a_store_that_hangs_up_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """As a store at its `maxclients` does, or a proxy without a store behind it; no caller may wait for a lost connection."""
    path, calls = str(tmp_path / "store.sock"), 0
    step = "_handshake" if moment == "after the last word" else "_open"
    whole: Any = getattr(SingleNodeClient, step)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if moment == "at once" and calls == 1:
            writer.transport.abort()
        else:
            await pong(reader, writer)

    async def then_lose(self: SingleNodeClient, *given: Any) -> Any:
        nonlocal calls
        calls += 1
        made = await whole(self, *given)
        connection = given[0] if given else made
        if moment != "at once" and calls == 1:
            connection.abort()
            while connection.open:
                await asyncio.sleep(0.001)
        return made

    monkeypatch.setattr(SingleNodeClient, step, then_lose)
    async with serving(serve, path), client_at(path) as client:
        assert await client.command("PING") == b"PONG"
        assert calls == 2


async def test_a_store_that_never_answers_is_given_up(tmp_path: Path) -> None:
    """Without its deadline this call would wait for ever."""
    path, over = str(tmp_path / "silent, 100 %.sock"), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.write(b"+PONG\r\n")  # to the handshake, and to nothing more
        await over.wait()
        writer.close()

    async with serving(serve, path), client_at(path) as client:
        with pytest.raises(StoreUnavailable):
            await client.command("PING")
        over.set()


async def test_a_loop_that_stood_still_before_a_command_was_sent_is_no_fault_of_the_store(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sock")
    async with serving(pong, path), client_at(path, deadline_seconds=1.0) as client:
        command = asyncio.create_task(client.command("PING"))
        await asyncio.sleep(0)  # the command waits for the end of this step
        time.sleep(1.2)  # noqa: ASYNC251  # the loop is blocked for longer than the deadline
        assert await command == b"PONG"


async def test_a_store_that_is_missing_at_the_start_is_logged_and_so_is_its_return(tmp_path: Path) -> None:
    """Its calls are not counted meanwhile, which an operator must be able to see."""
    path, written = str(tmp_path / "store.sock"), io.StringIO()
    client = SingleNodeClient(f"unix://{path}", name="state", deadline_seconds=0.5, log=Log("tests", stream=written))
    await client.start()
    async with serving(pong, path), asyncio.timeout(10):
        while not client.healthy:
            await asyncio.sleep(0.01)
        await client.close()
    logged = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [(line["event"], line["store"]) for line in logged] == [("store-down", "state"), ("store-back", "state")]


async def test_a_callback_that_fails_is_given_its_error_and_costs_no_other_its_reply(tmp_path: Path) -> None:
    path, given = str(tmp_path / "store.sock"), list[Any]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while sent := await reader.read(1024):
            writer.write(b"+PONG\r\n" * sent.count(b"PING"))
        writer.close()

    def broken(reply: Any) -> None:
        given.append(reply)
        if reply == b"PONG":
            raise ValueError("a fault of ours")

    async with serving(serve, path), client_at(path) as client:
        client.send(pack("PING"), broken)
        assert await client.command("PING") == b"PONG"
        assert client.healthy
    assert given[0] == b"PONG"
    assert [type(one) for one in given[1:]] == [ValueError]


async def test_callbacks_of_a_lost_connection_are_all_called_also_behind_one_that_fails(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sock")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.write(b"+PONG\r\n")  # to the handshake
        await reader.read(1024)
        writer.transport.abort()

    def broken(reply: Any) -> None:
        raise ValueError("a fault of ours")

    async with serving(serve, path), client_at(path) as client:
        client.send(pack("PING"), broken)
        with pytest.raises(StoreUnavailable):
            await client.command("PING")


async def test_the_replies_of_a_replicated_batch_are_all_delivered_also_behind_one_that_fails() -> None:
    batch, given = ReplicatedBatch("state", 1), list[Any]()

    def broken(reply: Any) -> None:
        raise ValueError("a fault of ours")

    for done, reply in ((broken, b"1"), (given.append, b"2")):
        batch.hold_reply(done)(reply)
    batch.resolve(1)
    assert given == [b"2"]
