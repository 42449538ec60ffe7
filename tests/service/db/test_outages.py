"""PostgreSQL read-only, locked, in deadlock or full: 503 with Retry-After or another try, never an error of ours."""

import asyncio
import io
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest

from deploy.ctl.doctor import _database
from deploy.ctl.main import main
from shared.db.connect import connect, unavailable
from shared.errors import StoreUnavailable
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.service.dashboard.browser import Browser
from tests.service.jobs.test_jobs import column, order
from tests.service.org.conftest import SignedIn
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge, running_edge
from tests.support.issuer import Issuer, running_issuer
from tests.support.outages import raising, read_only
from tests.support.servers import Contents
from tests.support.shop import open_shop
from tests.support.workers import RecordedMessages, indexing, run, services_of, worker
from workers.dispatcher.dispatch import Dispatcher
from workers.jobs.job_handler import JobContext

ROLLED_BACK = ("40001", "40P01")
OUTAGES = ("25006", "25P03", "53100", "53300", "55P03", "57014", "57P01", "57P03", "58030", *ROLLED_BACK)
FAULTS = ("22012", "23505", "42703", "XX000")


@pytest.fixture
def contents() -> Contents:
    return open_shop


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with running_issuer() as running:
        yield running


@pytest.fixture
async def edge(settings: Settings, tmp_path: Path, issuer: Issuer) -> AsyncIterator[Edge]:
    async with running_edge(replace(settings, oidc_issuer=issuer.url), tmp_path) as running:
        yield running


def is_unavailable(answer: Answer) -> bool:
    """Whether an answer is 503, names the problem, and says when to come back, twice the same."""
    reported = answer.json
    assert answer.head["Retry-After"] == str(reported["retry_after"])
    return answer.status == 503 and bool(reported["type"].endswith("/service-unavailable"))


async def until_read_only(edge: Edge) -> None:
    """Return when the edge has noticed that its connections were ended, and has new ones."""
    while {part["name"]: part["state"] for part in (await edge.get("/ready")).json["parts"]}["database"] != "read-only":
        await asyncio.sleep(0.01)


async def test_while_the_database_is_read_only_writes_are_503_and_reads_go_on(edge: Edge, issuer: Issuer) -> None:
    person, settings = SignedIn(edge, issuer), edge.settings
    await person.organization()
    await person.key()
    paid, institutional = api_key(settings), api_key(settings, "institutional")
    with read_only(settings):
        edge.resources.users.invalidate()
        await until_read_only(edge)
        assert (await edge.get("/index/brands")).status == 200
        assert (await person.ask("GET", "/org")).status == 200
        refused = [
            await person.ask("POST", "/org", body={"name": "Other"}),
            await person.ask("POST", "/org/api-key/rotations"),
            await person.ask("DELETE", "/org/api-key"),
            await person.ask("POST", "/org/invitations", body={"email": "eve@example.org", "role": "member"}),
            await person.ask("GET", "/org", "new-person"),
            await edge.get("/index/cohorts?brand=vita", key=paid),
            await edge.ask(
                "POST",
                "/index/exports",
                key=institutional,
                head={"Idempotency-Key": "july"},
                body=b'{"dataset": "items", "format": "csv"}',
            ),
        ]
        assert [is_unavailable(answer) for answer in refused] == [True] * len(refused)
        assert "is read-only now" in refused[0].json["detail"]
    while (await edge.get("/ready")).json["parts"][0]["state"] != "ok":
        await asyncio.sleep(0.01)
    assert (await person.ask("POST", "/org", body={"name": "Other"})).status == 201


async def test_a_charge_for_an_order_that_failed_is_refunded(edge: Edge) -> None:
    key = api_key(edge.settings)
    assert (await edge.get("/index/brands", key=key)).status == 200
    before = (await edge.get("/quota", key=key)).json["limits"][0]["used"]
    with read_only(edge.settings):
        await until_read_only(edge)
        assert is_unavailable(await edge.get("/index/cohorts?brand=vita", key=key))
    assert (await edge.get("/quota", key=key)).json["limits"][0]["used"] == before


async def test_readiness_names_a_read_only_database_and_look_ups_stay_in_service(edge: Edge) -> None:
    with read_only(edge.settings):
        await until_read_only(edge)
        answer = await edge.get("/ready")
        assert (answer.status, answer.json["status"]) == (200, "degraded")
        assert {part["name"]: part["state"] for part in answer.json["parts"]}["database"] == "read-only"
    while (await edge.get("/ready")).json["parts"][0]["state"] != "ok":
        await asyncio.sleep(0.01)


async def test_the_dashboard_says_so_too(edge: Edge, issuer: Issuer) -> None:
    known, new = Browser(edge, issuer), Browser(edge, issuer)
    assert await known.sign_in() == 303
    assert await known.ask("GET", "/dashboard") == 200
    form = known.form(name="Acme", plan="brand")
    with read_only(edge.settings):
        await until_read_only(edge)
        assert await new.sign_in("new-person") == 503
        assert new.last.headers["Retry-After"] == "5"
        assert await known.ask("GET", "/dashboard") == 200
        assert await known.ask("POST", "/dashboard/token", form) == 503
        assert known.last.headers["Retry-After"] == "5"


async def test_each_outage_of_postgresql_is_one_error_of_ours(edge: Edge) -> None:
    for sqlstate in OUTAGES:
        statement = raising(edge.settings, sqlstate, 100)
        with pytest.raises(StoreUnavailable):
            await edge.resources.database.fetch(statement)
        with pytest.raises(StoreUnavailable):
            async with edge.resources.database.transaction() as transaction:
                await transaction.fetch(statement)
        with psycopg.connect(edge.settings.database_url) as connection, pytest.raises(psycopg.Error) as raised:
            connection.execute(statement)
        assert unavailable(raised.value), sqlstate


async def test_a_fault_of_the_statement_is_no_outage(edge: Edge) -> None:
    for sqlstate in FAULTS:
        statement = raising(edge.settings, sqlstate, 100)
        with pytest.raises(asyncpg.PostgresError):
            await edge.resources.database.fetch(statement)
        with psycopg.connect(edge.settings.database_url) as connection, pytest.raises(psycopg.Error) as raised:
            connection.execute(statement)
        assert not unavailable(raised.value), sqlstate


async def test_a_statement_that_was_rolled_back_for_another_is_sent_once_more(edge: Edge) -> None:
    for sqlstate in ROLLED_BACK:
        assert [row["n"] for row in await edge.resources.database.fetch(raising(edge.settings, sqlstate, 1))] == [1], (
            sqlstate
        )
        with pytest.raises(StoreUnavailable):
            await edge.resources.database.fetch(raising(edge.settings, sqlstate, 2))
        assert edge.resources.database.answering, sqlstate


async def test_a_statement_for_a_connection_that_the_server_had_ended_is_sent_over_another(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch, ended = asyncpg.Connection.fetch, [True, False]

    async def fetched(self: Any, *given: Any, **options: Any) -> Any:
        if ended.pop(0):  # as the driver says it when it has read the server's farewell and not yet the end of the line
            raise asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress")
        return await fetch(self, *given, **options)

    monkeypatch.setattr(asyncpg.Connection, "fetch", fetched)
    assert [row["n"] for row in await edge.resources.database.fetch("SELECT 1 AS n")] == [1]
    assert not ended and edge.resources.database.answering


@pytest.mark.parametrize("sqlstate", ["40P01", "55P03", "25006"])
def test_an_outage_of_postgresql_costs_a_job_no_attempt(settings: Settings, sqlstate: str) -> None:
    job, statement = order(settings, attempts=1), raising(settings, sqlstate, 3)

    def interrupted(context: JobContext) -> dict[str, Any]:
        with connect(settings.worker_database_url, application="tests") as connection:
            connection.execute(statement)
        return {}

    assert [run(settings, job, indexing(interrupted)) for _ in range(3)] == ["queued"] * 3
    assert run(settings, job, indexing(interrupted)) == "succeeded"


def test_a_job_that_cannot_be_claimed_or_published_waits_for_the_database(
    settings: Settings,
) -> None:
    job, written = order(settings), io.StringIO()
    with read_only(settings):
        worker(settings, log=Log("worker", stream=written)).execute(job)
    assert json.loads(written.getvalue())["event"] == "store-down"
    assert (column(settings, job, "state"), column(settings, job, "attempt")) == ("queued", 0)

    def demoted(context: JobContext) -> dict[str, Any]:
        outage.__enter__()
        return {}

    outage = read_only(settings)
    short = replace(settings, lease_ttl_seconds=1)
    try:
        assert run(short, job, indexing(demoted)) is None
    finally:
        outage.__exit__(None, None, None)
    assert (column(settings, job, "state"), column(settings, job, "result")) == ("running", None)


def test_a_dispatcher_outlives_a_read_only_database(settings: Settings) -> None:
    job, written = order(settings), io.StringIO()
    messages = RecordedMessages()
    dispatcher = Dispatcher(services_of(settings, messages=messages, log=Log("dispatcher", stream=written)))
    with read_only(settings):
        thread = threading.Thread(target=dispatcher.run)
        thread.start()
        while "store-down" not in written.getvalue():
            assert thread.is_alive()
        assert dispatcher.healthy
        assert messages.jobs == []
    while messages.jobs != [job]:
        assert thread.is_alive()
    dispatcher.stopping = True
    thread.join(20)
    events = [json.loads(line)["event"] for line in written.getvalue().splitlines()]
    assert events[:2] == ["store-down", "job-dispatched"] or events[:3] == [
        "store-down",
        "store-back",
        "job-dispatched",
    ]
    assert events.count("store-down") == 1
    assert column(settings, job, "relayed_at") is not None


def test_the_command_line_answers_one_line(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("DATABASE_URL", settings.database_url)
    with read_only(settings), pytest.raises(SystemExit) as ended:
        main(["orgs", "create", "Acme", "--plan", "brand"])
    assert ended.value.code == 1
    assert "PostgreSQL is unavailable or accepts no changes" in capsys.readouterr().err


def test_the_doctor_names_a_read_only_database(settings: Settings) -> None:
    with read_only(settings):
        found = {finding.part: finding for finding in _database(settings)}
    assert not found["database"].ok
    assert "accepts no changes" in found["database"].found
