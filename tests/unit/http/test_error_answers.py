"""What a caller gets, and what is logged, where the server itself and no handler must answer."""

import asyncio
import logging
import socket
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from edge.server import EdgeServer

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
