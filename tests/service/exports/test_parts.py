"""The parts of an export are jobs that only workers see: leased, dispatched, cancelled and kept as any other job."""

import asyncio
from pathlib import Path

import pytest

from edge.jobs.orders import SQL as ORDERS
from shared.db.connect import Connection, connect
from shared.errors import JobRefused
from shared.jobs.contract import EXECUTE, EXPORT_PART
from shared.jobs.contract import SQL as JOBS
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from tests.service.exports.orders import order
from tests.service.exports.test_faults import expected, parts_of, patched, rows_in, run_in_parts, things
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.exports import WANTED, column, manifest_of, ordered
from tests.support.servers import Contents
from tests.support.workers import RecordedMessages, services_of, sweep
from workers.bulk.export_plan import ExportPlan, write_plan
from workers.dispatcher.dispatch import SQL as DISPATCHER
from workers.dispatcher.dispatch import Dispatcher
from workers.jobs.leases import claim, succeed


def idle(settings: Settings, folder: Path) -> None:
    things(settings, folder)
    execute(settings, "DELETE FROM jobs")  # what the load has ordered


@pytest.fixture
def contents() -> Contents:
    return idle


def planned(settings: Settings, job: str, parts: int = 6) -> list[str]:
    """Claim an export as a worker, and plan so many parts."""
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        claimed = claim(connection, job, 60)
        assert claimed is not None
        return write_plan(
            connection, claimed, ExportPlan(1, "snapshot", None, [("rows", n, n + 1) for n in range(parts)])
        )


def states(settings: Settings, job: str) -> list[str]:
    return sorted(state for state, _, _ in parts_of(settings, job).values())


async def test_no_list_no_price_and_no_limit_counts_them(edge: Edge, settings: Settings, key: str) -> None:
    before = await order(edge, key)
    [(job,)] = execute(settings, "SELECT id::text FROM jobs WHERE kind = 'export'")
    await asyncio.to_thread(planned, settings, job, 200)
    assert states(settings, job) == ["queued"] * 200
    listed = (await edge.get("/jobs", key=key)).json
    assert [entry["id"] for entry in listed["data"]] == [before.json["id"]]
    assert execute(settings, "SELECT sum(units)::int FROM job_orders") == [(100,)]
    assert execute(settings, ORDERS.backlog_full, 1) == [(False,)]
    assert [row[0] for row in execute(settings, JOBS.list, None, 10)] == [job]
    assert [row[:3] for row in execute(settings, DISPATCHER.queue_depth)] == [("exports", "running", 1)]
    assert execute(settings, "SELECT FROM event_log WHERE type LIKE 'job%'") == []


def dispatched(
    dispatcher: Dispatcher, connection: Connection, messages: RecordedMessages
) -> list[tuple[str, str, str]]:
    messages.sent.clear()
    dispatcher.sweep(connection)
    return list(messages.sent)


def test_other_workers_get_three_parts_of_an_export_that_runs_and_none_while_another_one_waits(
    settings: Settings, queued_job: str
) -> None:
    parts, messages = planned(settings, queued_job), RecordedMessages()
    dispatcher = Dispatcher(services_of(settings, messages=messages))
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        own = claim(connection, parts[0], 60)  # by the worker that plans: it needs no message
        assert own is not None
        sent = dispatched(dispatcher, connection, messages)
        assert {(task, queue) for task, _, queue in sent} == {(EXECUTE, "exports")}
        assert len(sent) == 3 and parts[0] not in messages.jobs
        assert dispatched(dispatcher, connection, messages) == []
        claimed = [claim(connection, part, 60) for _, part, _ in sent]
        assert dispatched(dispatcher, connection, messages) == []
        assert claimed[0] is not None and succeed(connection, claimed[0], {"rows": 1})
        other = ordered(settings, WANTED)
        assert dispatched(dispatcher, connection, messages) == [(EXECUTE, other, "exports")]
        assert dispatched(dispatcher, connection, messages) == []
        assert claim(connection, other, 60) is not None
        assert [task for task, _, _ in dispatched(dispatcher, connection, messages)] == [EXECUTE]


def test_no_part_is_sent_before_its_export_runs_again(settings: Settings, queued_job: str) -> None:
    planned(settings, queued_job)
    messages = RecordedMessages()
    dispatcher = Dispatcher(services_of(settings, messages=messages))
    execute(settings, "UPDATE jobs SET lease_until = now() - interval '1 minute' WHERE id = $1", queued_job)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        assert dispatched(dispatcher, connection, messages) == [(EXECUTE, queued_job, "exports")]
        execute(settings, "UPDATE jobs SET not_before = now() + interval '1 minute' WHERE id = $1", queued_job)
        assert dispatched(dispatcher, connection, messages) == []


def test_a_part_that_has_failed_for_good_fails_its_export_for_the_same_reason(
    settings: Settings, queued_job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(number: int) -> None:
        if number == 2:
            raise JobRefused("job-failed", "The reason.")

    patched(monkeypatch, refuse)
    assert run_in_parts(settings, queued_job) == "failed"
    assert column(settings, queued_job, "error") == {"slug": "job-failed", "detail": "The reason."}
    assert set(states(settings, queued_job)) == {"cancelled", "expired", "failed"}


def test_an_export_that_has_failed_is_retried_with_all_its_parts(
    settings: Settings, queued_job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that were done: their files were deleted with the failure."""
    with monkeypatch.context() as patch:

        def refuse(number: int) -> None:
            if number == 2:
                raise JobRefused("job-failed", "The reason.")

        patched(patch, refuse)
        assert run_in_parts(settings, queued_job) == "failed"
    sweep(settings)
    assert list(DirectoryStore(settings.results_dir).attempts()) == []
    execute(settings, JOBS.retry, queued_job)
    assert run_in_parts(settings, queued_job) == "succeeded"
    assert rows_in(settings, manifest_of(settings, queued_job)) == expected(settings)


def test_a_part_that_loses_its_worker_four_times_fails(settings: Settings, queued_job: str) -> None:
    [part] = planned(settings, queued_job, 1)
    dispatcher = Dispatcher(services_of(settings))
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        for _ in range(EXPORT_PART.attempts_max):
            assert claim(connection, part, 0) is not None
            dispatcher.sweep(connection)
    assert column(settings, part, "state") == "failed"
    assert column(settings, part, "error")["slug"] == "job-lost"


def test_the_end_of_an_export_ends_its_parts(settings: Settings, queued_job: str) -> None:
    other = ordered(settings, WANTED)
    parts = planned(settings, queued_job)
    planned(settings, other)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        done = claim(connection, parts[0], 60)
        assert done is not None and succeed(connection, done, {"rows": 1})
        assert claim(connection, parts[1], 60) is not None
        connection.execute(JOBS.cancel, (queued_job,))
    assert states(settings, queued_job) == ["cancelled"] * 5 + ["expired"]
    assert states(settings, other) == ["queued"] * 6


def test_files_of_an_export_that_a_former_worker_wrote_are_kept_as_long_as_it_is(
    settings: Settings, queued_job: str
) -> None:
    store = DirectoryStore(settings.results_dir)
    with store.create(f"{queued_job}/1000/observations-00001.csv") as file:
        file.write(b"iid\r\n")
    for state, kept in (("running", 1), ("queued", 1), ("succeeded", 1), ("expired", 0)):
        execute(settings, "UPDATE jobs SET state = $2 WHERE id = $1", queued_job, state)
        sweep(settings)
        assert len(list(store.attempts())) == kept, state
