"""What the directory asks PostgreSQL when many come with one credential, and when something changes meanwhile."""

import asyncio
from typing import Any

import pytest

from edge.auth.credentials import CredentialStore
from shared.errors import StoreUnavailable
from shared.organizations import credentials
from shared.telemetry.log import Log

PEPPER = "p" * 32
PLAN = {
    "name": "brand",
    "title": "Brand",
    "rank": 2,
    "counted_by": "organization",
    "daily_units": 1,
    "burst_units": 1,
    "jobs_running": 1,
    "jobs_queued": 1,
    "batch_iids_max": 1,
    "self_service": False,
}


class Slow:
    """A database that answers when a test lets it."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.asked = 0
        self.reached = asyncio.Condition()
        self.unavailable = False
        self.answers = asyncio.Event()
        self.plan = PLAN
        self.plan_read = asyncio.Event()
        self.plan_answers = asyncio.Event()
        self.plan_answers.set()

    async def fetch(self, query: str) -> list[dict[str, Any]]:
        plan = self.plan
        self.plan_read.set()
        await self.plan_answers.wait()
        return [plan]

    async def fetch_row(self, query: str, credential_id: str) -> dict[str, Any] | None:
        async with self.reached:
            self.asked += 1
            self.reached.notify_all()
        await self.answers.wait()
        if self.unavailable:
            raise StoreUnavailable("database")
        secret = credentials.keyed_hash(self.key, PEPPER)
        return {"secret_hash": secret, "plan": "brand", "organization_id": "o", "organization_name": "O"}

    async def until_asked(self, times: int) -> None:
        """Wait until so many queries have been sent."""
        async with self.reached:
            await self.reached.wait_for(lambda: self.asked == times)


@pytest.fixture
def key() -> str:
    return credentials.mint(credentials.KEY_PREFIX)


def store_on(slow: Slow) -> CredentialStore:
    return CredentialStore(slow, Log("tests"), anonymous_token="", peppers=(PEPPER,))  # type: ignore[arg-type]


async def test_a_burst_of_first_calls_is_one_question(key: str) -> None:
    slow = Slow(key)
    store = store_on(slow)
    calls = [asyncio.create_task(store.resolve("api-key", key)) for _ in range(50)]
    await slow.until_asked(1)
    calls[0].cancel()  # a caller that disconnects cancels no other
    slow.answers.set()
    principals = await asyncio.gather(*calls[1:])
    assert slow.asked == 1
    assert {principal.organization_id for principal in principals if principal} == {"o"}
    assert await store.resolve("api-key", key) is principals[0]
    assert slow.asked == 1


async def test_a_value_read_before_a_change_is_not_remembered_after_it(key: str) -> None:
    slow = Slow(key)
    store = store_on(slow)
    early = asyncio.create_task(store.resolve("api-key", key))
    await slow.until_asked(1)
    store.invalidate()
    late = asyncio.create_task(store.resolve("api-key", key))
    await slow.until_asked(2)
    slow.key = credentials.mint(credentials.KEY_PREFIX)  # revoked
    slow.answers.set()
    assert [await early, await late] == [None, None]


async def test_a_plan_read_before_a_change_is_not_the_plan_after_it(key: str) -> None:
    slow = Slow(key)
    slow.plan_answers.clear()
    store = store_on(slow)
    early = asyncio.create_task(store.plan("brand"))
    await slow.plan_read.wait()
    slow.plan = {**PLAN, "daily_units": 7}
    store.invalidate()
    slow.plan_answers.set()
    assert (await early).daily_units == (await store.plan("brand")).daily_units == 7


async def test_an_outage_is_reported_to_all_and_not_remembered(key: str) -> None:
    slow = Slow(key)
    slow.unavailable = True
    slow.answers.set()
    store = store_on(slow)
    reported = await asyncio.gather(*(store.resolve("api-key", key) for _ in range(3)), return_exceptions=True)
    assert [type(one) for one in reported] == [StoreUnavailable] * 3
    slow.unavailable = False
    assert await store.resolve("api-key", key) is not None
