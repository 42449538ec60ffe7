"""Streams of events and waits for a job, each of which holds a connection: a bound for each person and organization."""

import asyncio
from collections.abc import Callable

import pytest

from tests.service.org.conftest import SignedIn
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import open_shop

COHORT = "/index/cohorts?brand=vita"
ASYNC = {"Prefer": "respond-async"}


@pytest.fixture
def contents() -> Contents:
    return open_shop


class OpenStream:
    """A connection that follows a job and reads nothing but the status of the answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, edge: Edge, job: str, authorization: str) -> "OpenStream":
        reader, writer = await asyncio.open_unix_connection(edge.path)
        head = f"Host: testserver\r\nX-Real-IP: 192.0.2.1\r\nAuthorization: {authorization}\r\n\r\n"
        writer.write(f"GET /v1/jobs/{job}/events HTTP/1.1\r\n{head}".encode())
        return cls(reader, writer)

    async def status(self) -> int:
        async with asyncio.timeout(20):
            return int((await self._reader.readuntil(b"\r\n")).split()[1])

    def close(self) -> None:
        self._writer.close()


async def opened(edge: Edge, job: str, authorization: str, count: int) -> tuple[list[OpenStream], list[int]]:
    """Open so many streams at once; return them and the statuses of their answers, in order."""
    streams = [await OpenStream.open(edge, job, authorization) for _ in range(count)]
    return streams, sorted(await asyncio.gather(*(stream.status() for stream in streams)))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_person_and_an_organization_have_a_few_streams_open(signed_in: SignedIn) -> None:
    edge = signed_in.edge
    organization = await signed_in.organization()
    execute(edge.settings, "UPDATE organizations SET plan = 'brand' WHERE id::text = $1", organization)
    key, token = await signed_in.key(), f"Bearer {signed_in.issuer.token('ada')}"
    job = (await edge.get(COHORT, key=key, head=ASYNC)).json["id"]
    of_person, statuses = await opened(edge, job, token, 7)
    assert statuses == [200] * 4 + [429] * 3
    of_key, statuses = await opened(edge, job, f"ApiKey {key}", 14)
    assert statuses == [200] * 12 + [429] * 2
    refused = await edge.get(f"/jobs/{job}/events", key=key)
    assert (refused.status, refused.head["Retry-After"]) == (429, "10")
    assert refused.json["detail"].startswith("Your organization has 16 streams of events open. Close one of them")
    assert (await edge.get(f"/jobs/{job}", key=key)).status == 200
    other = api_key(edge.settings)
    theirs = (await edge.get(COHORT, key=other, head=ASYNC)).json["id"]
    of_other, statuses = await opened(edge, theirs, f"ApiKey {other}", 1)
    assert statuses == [200]
    for stream in (*of_person, *of_key, *of_other):
        stream.close()
    waiters = edge.resources.job_waiters
    await until(lambda: not waiters._waiting)
    again, statuses = await opened(edge, job, token, 1)
    assert statuses == [200]
    again[0].close()


async def test_calls_of_an_organization_beyond_those_that_may_wait_do_not_wait(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge = signed_in.edge
    key = api_key(edge.settings)
    await edge.get(COHORT, key=key, head=ASYNC)
    monkeypatch.setattr("edge.jobs.orders._POLL_SECONDS", 60.0)
    patient = [asyncio.ensure_future(edge.get(COHORT, key=key, head={"Prefer": "wait=30"})) for _ in range(34)]
    done, waiting = await asyncio.wait(patient, timeout=20, return_when=asyncio.FIRST_COMPLETED)
    while len(done) < 2:
        more, waiting = await asyncio.wait(waiting, timeout=20, return_when=asyncio.FIRST_COMPLETED)
        done |= more
    assert [task.result().status for task in done] == [202, 202] and len(waiting) == 32
    other = api_key(edge.settings)
    theirs = asyncio.ensure_future(edge.get(COHORT, key=other, head={"Prefer": "wait=30"}))
    waiters = edge.resources.job_waiters
    await until(lambda: sum(map(len, waiters._waiting.values())) == 33)
    waiters.close()
    assert {answer.status for answer in await asyncio.gather(*waiting, theirs)} == {202}
