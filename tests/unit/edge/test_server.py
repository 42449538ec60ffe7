"""An edge that ends takes nothing with it that it has answered; what it answers where no handler can."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from edge.server import EdgeServer

_CHUNK = b"x" * 8192

_LAST_REQUEST = b"GET / HTTP/1.1\r\nHost: edge\r\nConnection: close\r\n\r\n"

_END = b"0\r\n\r\n"


@asynccontextmanager
async def answered() -> AsyncIterator[tuple[EdgeServer, asyncio.StreamReader]]:
    """A server that has answered, and a caller that has not read the end: it is in the process, not in the kernel."""
    done = asyncio.Event()

    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        while not request.transport.get_write_buffer_size():  # type: ignore[union-attr]
            await answer.write(_CHUNK)
        done.set()
        return answer

    fast_path: Any = SimpleNamespace(draining=True)
    server = EdgeServer(handler, fast_path=fast_path, problem_base_url="http://errors")
    ours, theirs = socket.socketpair()
    await asyncio.get_running_loop().connect_accepted_socket(server, ours)
    reader, writer = await asyncio.open_unix_connection(sock=theirs)
    reader._transport.pause_reading()  # type: ignore[attr-defined]
    writer.write(_LAST_REQUEST)
    await done.wait()
    yield server, reader
    writer.close()


async def test_a_slow_reader_gets_the_end_of_his_answer() -> None:
    async with answered() as (server, reader):
        ending = asyncio.create_task(server.shutdown(30))
        for _ in range(50):  # turns of the loop: nothing but the reader can end it
            await asyncio.sleep(0)
        assert not ending.done()
        reader._transport.resume_reading()  # type: ignore[attr-defined]
        assert (await reader.read()).endswith(_END)
        await ending


@pytest.mark.parametrize("seconds", [0.1, None])
async def test_a_client_that_does_not_read_keeps_no_worker_for_ever(seconds: float | None) -> None:
    async with answered() as (server, _):
        await asyncio.wait_for(server.shutdown(seconds), 10)


_REQUEST = b"GET / HTTP/1.1\r\nHost: edge\r\n\r\n"


async def answer_of(handler: Any) -> bytes:
    fast_path: Any = SimpleNamespace(draining=True)
    server = EdgeServer(handler, fast_path=fast_path, problem_base_url="http://errors")
    ours, theirs = socket.socketpair()
    await asyncio.get_running_loop().connect_accepted_socket(server, ours)
    reader, writer = await asyncio.open_unix_connection(sock=theirs)
    writer.write(_REQUEST)
    whole = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return whole


async def test_an_error_outside_of_all_middlewares_is_a_problem_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        raise RuntimeError("broken")

    with caplog.at_level(logging.ERROR):
        assert b"internal-error" in await answer_of(handler)
    assert "broken" in caplog.text


async def test_an_error_within_an_answer_ends_the_connection_and_adds_no_second_answer() -> None:
    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"half")
        raise RuntimeError("broken")

    assert (await answer_of(handler)).count(b"HTTP/1.1") == 1
