"""Credentials: which are accepted, and what a process remembers of them."""

import asyncio
import gc
import time
from typing import Any

import pytest

from edge.auth.credentials import CredentialStore
from shared.errors import StoreUnavailable
from shared.organizations import credentials
from shared.organizations.credentials import KEY_PREFIX, mint
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


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Database:
    """A database of keys, that answers while a test lets it."""

    def __init__(self, *keys: str) -> None:
        self.keys = {key[credentials.ID]: (key, None) for key in keys}
        self.asked: list[list[str]] = []
        self.reached = asyncio.Condition()
        self.answering = True
        self.answers = asyncio.Event()
        self.answers.set()
        self.plan = PLAN

    async def fetch(self, query: str, ids: list[str] | None = None) -> list[dict[str, Any]]:
        if ids is None:
            return [self.plan]
        rows = [self._row(key_id, *self.keys[key_id]) for key_id in ids if key_id in self.keys]
        async with self.reached:
            self.asked.append(list(ids))
            self.reached.notify_all()
        await self.answers.wait()
        if not self.answering:
            raise StoreUnavailable("database")
        return rows

    async def until_asked(self, times: int) -> None:
        """Wait until so many queries have been sent."""
        async with self.reached:
            await self.reached.wait_for(lambda: len(self.asked) == times)

    def _row(self, key_id: str, key: str, left: float | None) -> dict[str, Any]:
        return {
            "credential_id": key_id,
            "kind": "api-key",
            "secret_hash": credentials.keyed_hash(key, PEPPER),
            "plan": self.plan["name"],
            "organization_id": f"of {key_id}",
            "organization_name": "O",
            "seconds_left": left,
        }


@pytest.fixture
def key() -> str:
    return mint(KEY_PREFIX)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(key: str) -> Database:
    return Database(key)


def store_on(database: Database, clock: Clock | None = None, **limits: int) -> CredentialStore:
    return CredentialStore(
        database,  # type: ignore[arg-type]
        Log("tests"),
        anonymous_token="",
        peppers=(PEPPER,),
        clock=clock or time.monotonic,
        **limits,
    )


@pytest.fixture
async def store(database: Database, clock: Clock, key: str) -> CredentialStore:
    """A store that has heard all notices until now and knows the key."""
    made = store_on(database, clock)
    await made.confirm(0.0, heard=True)
    assert await made.resolve("api-key", key) is not None
    database.asked.clear()
    return made


async def test_while_notices_arrive_a_key_is_asked_for_once(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    principal = store.peek(key)
    for second in range(1, 100):
        clock.now = float(second)
        await store.confirm(second - 0.1, heard=True)
        assert store.peek(key) is principal is await store.resolve("api-key", key)
    assert database.asked == []


@pytest.mark.parametrize("named", ["key", "organization"])
async def test_a_notice_ends_what_it_names_and_nothing_else(
    store: CredentialStore, database: Database, clock: Clock, key: str, named: str
) -> None:
    store.take_notice("another")
    assert store.peek(key) is not None
    del database.keys[key[credentials.ID]]
    clock.now = 0.1
    store.take_notice(key[credentials.ID] if named == "key" else f"of {key[credentials.ID]}")
    assert store.peek(key) is None
    clock.now = 0.2
    assert [await store.resolve("api-key", key) for _ in range(2)] == [None, None]
    assert len(database.asked) == 1


async def test_credentials_that_nobody_has_accepted_wait_in_bounded_number_and_known_ones_do_not_notice(
    store: CredentialStore, database: Database, clock: Clock, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edge.auth.credentials._CHECKS_MAX", 3)
    database.answers.clear()  # PostgreSQL takes its time
    made_up = [mint(KEY_PREFIX) for _ in range(3)]
    waiting = [asyncio.create_task(store.resolve("api-key", text)) for text in (made_up[0], *made_up[:2])]
    await database.until_asked(2)  # two calls of one credential are one query, and wait as two
    with pytest.raises(StoreUnavailable, match="checks as many new credentials as it can"):
        await store.resolve("api-key", made_up[2])
    assert await store.resolve("api-key", key) is not None
    clock.now = 1.0  # what is known of the key has to be confirmed
    again = asyncio.create_task(store.resolve("api-key", key))
    await database.until_asked(3)
    database.answers.set()
    assert await asyncio.gather(*waiting) == [None] * 3
    assert await again is not None
    assert await store.resolve("api-key", made_up[2]) is None


async def test_what_no_notice_confirms_holds_for_a_second(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    del database.keys[key[credentials.ID]]  # the notice of it is lost
    clock.now = 0.9
    assert store.peek(key) is not None
    clock.now = 1.0
    assert store.peek(key) is None
    assert await store.resolve("api-key", key) is None


async def test_without_notices_all_keys_are_read_in_one_statement(database: Database, clock: Clock) -> None:
    keys = [mint(KEY_PREFIX) for _ in range(50)]
    database.keys = {key[credentials.ID]: (key, None) for key in keys}
    store = store_on(database, clock)
    for key in keys:
        await store.resolve("api-key", key)
    database.asked.clear()
    database.keys.popitem()
    for _ in range(3):
        clock.now += 0.7
        await store.confirm(clock.now, heard=False)
    assert [len(ids) for ids in database.asked] == [50, 49, 49]
    assert [store.peek(key) is not None for key in keys] == [True] * 49 + [False]


async def test_after_a_gap_nothing_that_was_read_before_it_is_confirmed(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    late = mint(KEY_PREFIX)
    database.keys[late[credentials.ID]] = (late, None)
    database.answers.clear()
    reading = asyncio.create_task(store.resolve("api-key", late))
    await database.until_asked(1)
    del database.keys[late[credentials.ID]]
    store.take_notice("")  # the connection was lost meanwhile
    clock.now = 0.5
    confirming = asyncio.create_task(store.confirm(0.5, heard=True))
    await database.until_asked(2)
    database.answers.set()
    await asyncio.gather(reading, confirming)
    await store.confirm(1.4, heard=True)
    clock.now = 1.5
    assert store.peek(key) is not None
    assert store.peek(late) is None


async def test_a_key_ends_when_its_grace_does(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    database.keys[key[credentials.ID]] = (key, 0.3)
    store.take_notice(key[credentials.ID])
    clock.now = 0.1
    assert await store.resolve("api-key", key) is not None
    clock.now = 0.41
    await store.confirm(0.4, heard=True)
    assert store.peek(key) is None


async def test_a_changed_plan_is_read_with_all_that_have_it(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    database.plan = {**PLAN, "daily_units": 7}
    store.take_notice("plans")
    await store.confirm(0.1, heard=True)
    principal = store.peek(key)
    assert principal is not None and principal.plan.daily_units == (await store.plan("brand")).daily_units == 7


async def test_a_new_plan_is_read_with_the_first_key_that_has_it(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    database.plan = {**PLAN, "name": "gold"}
    store.take_notice(f"of {key[credentials.ID]}")
    clock.now = 0.1
    principal = await store.resolve("api-key", key)
    assert principal is not None and principal.plan.name == "gold"


async def test_of_too_many_notices_one_reading_is_made(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    for number in range(20_000):
        store.take_notice(str(number))
    clock.now = 0.1
    await store.confirm(0.1, heard=True)
    await store.confirm(0.2, heard=True)
    assert database.asked == [[key[credentials.ID]]]
    assert store.peek(key) is not None


async def test_an_outage_lets_known_keys_call_for_five_seconds(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    database.answering = False
    clock.now = 4.9
    await store.confirm(4.9, heard=False)
    assert store.peek(key) is not None
    clock.now = 5.1
    with pytest.raises(StoreUnavailable):
        await store.resolve("api-key", key)
    database.answering = True
    assert await store.resolve("api-key", key) is not None


async def test_another_secret_of_a_known_id_is_refused_without_a_question(
    store: CredentialStore, database: Database, key: str
) -> None:
    body = key[: credentials.ID.stop] + "A" * 32
    forged = body + credentials.checksum(body)
    as_token = credentials.FREE_PREFIX + body[len(KEY_PREFIX) :]
    assert await store.resolve("api-key", forged) is None
    assert await store.resolve("public-token", as_token + credentials.checksum(as_token)) is None
    assert store.peek(forged) is store.peek("") is store.peek(key[credentials.ID]) is None
    assert database.asked == [] and store.peek(key) is not None


async def test_a_scanner_with_well_formed_keys_pushes_out_no_valid_one(clock: Clock) -> None:
    keys = [mint(KEY_PREFIX) for _ in range(4)]
    store = store_on(Database(*keys), clock, valid_max=3, unknown_max=3)
    for key in (*keys[:3], keys[0], keys[3]):  # the least recently used leaves first
        await store.resolve("api-key", key)
    for _ in range(100):
        await store.resolve("api-key", mint(KEY_PREFIX))
    assert [store.peek(key) is not None for key in keys] == [True, False, True, True]
    assert len(store._valid) == len(store._unknown) == 3


async def test_no_credential_is_kept(store: CredentialStore, key: str) -> None:
    held = [part for name, part in vars(store).items() if name != "_database"]
    assert key not in str(held + gc.get_referents(*held)) and len(store._valid) == 1


async def test_a_burst_of_first_calls_is_one_question(database: Database, key: str) -> None:
    database.answers.clear()
    store = store_on(database)
    calls = [asyncio.create_task(store.resolve("api-key", key)) for _ in range(50)]
    await database.until_asked(1)
    calls[0].cancel()  # a caller that disconnects cancels no other
    database.answers.set()
    principals = await asyncio.gather(*calls[1:])
    assert len(database.asked) == len(set(principals)) == 1
    assert await store.resolve("api-key", key) is principals[0]


async def test_a_value_read_before_a_change_is_not_used_after_it(database: Database, key: str) -> None:
    database.answers.clear()
    store = store_on(database)
    early = asyncio.create_task(store.resolve("api-key", key))
    await database.until_asked(1)
    del database.keys[key[credentials.ID]]
    store.take_notice(key[credentials.ID])
    late = asyncio.create_task(store.resolve("api-key", key))
    await database.until_asked(2)
    database.answers.set()
    await early
    assert await late is store.peek(key) is None


async def test_an_outage_is_reported_to_all_and_not_remembered(database: Database, key: str) -> None:
    database.answering = False
    store = store_on(database)
    reported = await asyncio.gather(*(store.resolve("api-key", key) for _ in range(3)), return_exceptions=True)
    assert [type(one) for one in reported] == [StoreUnavailable] * 3
    database.answering = True
    assert await store.resolve("api-key", key) is not None
