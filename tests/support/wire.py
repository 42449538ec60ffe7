"""Requests as bytes, as our nginx forwards them, and answers as bytes: for tests that compare two ways to one answer."""

import asyncio
import re

import pytest

from edge.connection import EdgeHandler
from tests.support.client import Edge

REQUEST_ID = "0123456789abcdef0123456789abcdef"
# A header line that our nginx never forwards means nothing and is not its form: the ordinary way responds.
OTHER = "X-Other: 1\r\n"


def head(
    edge: Edge, charge: int, target: str, *, address: str, credential: str | None = None, extra: str = ""
) -> bytes:
    """Return a GET of a target; without a credential that of an anonymous caller."""
    credential = credential or f"X-Service-Public-Token: {edge.settings.anonymous_token}"
    return (
        f"GET {target} HTTP/1.1\r\nHost: testserver\r\nX-Real-IP: {address}\r\n"
        f"X-Request-Id: {REQUEST_ID}\r\nX-Charge-Id: {charge:032x}\r\n{credential}\r\n{extra}\r\n"
    ).encode()


async def exchange(edge: Edge, *requests: bytes) -> list[bytes]:
    """Send requests over one connection, each after the answer before it; return the whole answers."""
    reader, writer = await asyncio.open_unix_connection(edge.path)
    answers = []
    for request in requests:
        writer.write(request)
        answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
        length = re.search(rb"Content-Length: (\d+)", answer)
        answers.append(answer + await reader.readexactly(int(length[1]) if length else 0))
    writer.close()
    return answers


def alike(answer: bytes) -> bytes:
    """Leave out what differs between two moments: the date, the seconds until midnight, and what is left.

    Also the line that is for nginx alone: only the fast path lets it repeat a refusal.
    """
    answer = answer.replace(b"X-Accel-Expires: 1\r\n", b"")
    answer = re.sub(rb"Date: [^\r]+", b"Date: -", answer)
    answer = re.sub(rb"(-burst\";r=)\d+", rb"\1-", answer)
    answer = re.sub(rb"(;t=|Retry-After: |\"retry_after\":)\d+", rb"\1-", answer)
    return re.sub(rb"Content-Length: \d+", b"Content-Length: -", answer)


def comparable(answer: bytes) -> bytes:
    """As `alike`, of calls of one organization: each sees what the one before has left of the day."""
    return re.sub(rb"r=\d+", b"r=-", alike(answer))


def watch_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list that grows with each request: whether the fast path took it."""
    seen: list[bool] = []
    original = EdgeHandler._serve

    def watched(self: EdgeHandler, data: bytes) -> bool:
        seen.append(original(self, data))
        return seen[-1]

    monkeypatch.setattr(EdgeHandler, "_serve", watched)
    return seen
