"""Which data_version an edge serves, while loads are committed faster than it reads."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asyncpg import UndefinedTableError

from edge.storage.data_version import DataVersionWatcher
from shared.errors import StoreUnavailable
from shared.telemetry.log import Log


class Slow:
    """A database that answers when a test lets it, with what was committed when it was asked."""

    def __init__(self) -> None:
        self.committed = 1
        self.asked = asyncio.Event()
        self.answers = asyncio.Event()
        self.answers.set()
        self.failures = 0
        self.failure: BaseException = StoreUnavailable("database")

    async def fetch_row(self, query: str) -> dict[str, Any]:
        seen = self.committed
        self.asked.set()
        await self.answers.wait()
        if self.failures:
            self.failures -= 1
            raise self.failure
        return {"version": seen, "committed_at": ""}


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
async def watcher(slow: Slow) -> AsyncIterator[DataVersionWatcher]:
    watcher = DataVersionWatcher(slow, Log("tests"), retry_seconds=0.01)  # type: ignore[arg-type]
    watcher.start()
    yield watcher
    await watcher.stop()


async def until(watcher: DataVersionWatcher, version: int) -> None:
    async with asyncio.timeout(10):
        while watcher.current != version:
            await asyncio.sleep(0.001)


async def test_a_load_that_is_committed_during_a_read_is_read_too(slow: Slow, watcher: DataVersionWatcher) -> None:
    slow.answers.clear()
    watcher.refresh()
    await slow.asked.wait()
    slow.committed = 2
    watcher.refresh()
    slow.answers.set()
    await until(watcher, 2)


async def test_an_older_read_does_not_end_after_a_newer_one(slow: Slow, watcher: DataVersionWatcher) -> None:
    slow.answers.clear()
    early = asyncio.create_task(watcher.read())
    await slow.asked.wait()
    slow.committed = 2
    slow.asked.clear()
    late = asyncio.create_task(watcher.read())
    slow.answers.set()
    assert [await early, await late, watcher.current] == [True, True, 2]


async def test_a_load_of_which_postgresql_could_not_tell_is_read_later(slow: Slow, watcher: DataVersionWatcher) -> None:
    slow.failures = 2
    watcher.refresh()
    await until(watcher, 1)
    assert slow.failures == 0


@pytest.mark.parametrize("failure", [UndefinedTableError("a restore has not made it yet"), asyncio.CancelledError()])
async def test_an_edge_follows_loads_also_after_an_error_that_is_no_outage(
    slow: Slow, watcher: DataVersionWatcher, failure: BaseException
) -> None:
    slow.failures, slow.failure = 1, failure
    watcher.refresh()
    await until(watcher, 1)
    assert slow.failures == 0
