"""A job's row is the truth: whatever happens to messages and workers, it is done once or fails with a reason."""

import errno
import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pyarrow.parquet
import pytest
from psycopg.types.json import Jsonb

from shared.db.connect import connect
from shared.errors import ItemIndexError, StoreUnavailable
from shared.jobs.contract import SQL as JOBS
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from tests.support.database import execute
from tests.support.exports import column
from tests.support.shop import load_rows
from tests.support.workers import RecordedMessages, indexing, order, run, services_of
from workers.dispatcher.dispatch import SQL as RELAY
from workers.dispatcher.dispatch import Dispatcher
from workers.dispatcher.maintenance import Maintenance
from workers.jobs.job_handler import JobContext
from workers.jobs.leases import SQL as LEASE
from workers.jobs.leases import Lease, LeaseLost, claim, succeed
from workers.jobs.services import JobMessages, build_services
from workers.search.job import make_index


def sweep(settings: Settings, messages: JobMessages, *, resend_seconds: int = 10) -> int:
    services = services_of(settings, messages=messages)
    with services.connect("dispatcher", autocommit=True) as connection:
        return Dispatcher(services, resend_seconds=resend_seconds).sweep(connection)


def test_equal_requests_under_way_are_one_job(settings: Settings) -> None:
    first = order(settings)
    assert order(settings) == first
    assert order(settings, "2") != first
    assert run(settings, first, indexing(lambda context: {})) == "succeeded"
    assert order(settings) != first


def test_three_messages_at_once_run_the_job_once(settings: Settings) -> None:
    job, made, not_claimed = order(settings), [], threading.Semaphore(0)

    def make(context: JobContext) -> dict[str, Any]:
        made.append(context.job.attempt)
        assert all(not_claimed.acquire(timeout=30) for _ in range(2))  # the job runs until both others have returned
        return {"attempt": context.job.attempt}

    def deliver(_: int) -> str | None:
        state = run(settings, job, indexing(make))
        if state is None:
            not_claimed.release()
        return state

    with ThreadPoolExecutor(3) as pool:
        states = list(pool.map(deliver, range(3)))
    assert sorted(states, key=str) == [None, None, "succeeded"]
    assert made == [1]


def test_a_message_that_was_lost_is_sent_again(settings: Settings, messages: RecordedMessages) -> None:
    job = order(settings)
    assert sweep(settings, messages) == 1
    assert sweep(settings, messages) == 0
    assert sweep(settings, messages, resend_seconds=0) == 1
    assert messages.jobs == [job, job]


def swept(settings: Settings, messages: JobMessages, times: int, **options: int) -> int:
    """Return how many messages are sent by one dispatcher in so many sweeps, while every job is due again at each."""
    services = services_of(settings, messages=messages)
    dispatcher = Dispatcher(services, resend_seconds=0, **options)
    with services.connect("dispatcher", autocommit=True) as connection:
        return sum(dispatcher.sweep(connection) for _ in range(times))


def test_while_workers_are_stopped_each_job_has_one_message(settings: Settings) -> None:
    jobs, messages = [order(settings, str(n)) for n in range(8)], RecordedMessages(holds=True)
    assert swept(settings, messages, 20) == 8
    assert sorted(messages.jobs) == sorted(jobs)
    lost = messages.held.pop(3)
    assert swept(settings, messages, 20) == 1  # one is missing, and the job that was sent first is the one sent again
    messages.held.clear()
    assert swept(settings, messages, 20) == 8
    assert lost in messages.held


def test_a_broker_that_was_down_for_a_moment_is_sent_no_second_message(settings: Settings) -> None:
    messages = RecordedMessages(holds=True)
    for number in range(3):
        order(settings, str(number))
    assert swept(settings, messages, 1) == 3
    assert swept(settings, SilentBroker(), 1) == 0
    assert swept(settings, messages, 3) == 0


def test_a_real_broker_counts_what_no_worker_has_taken(settings: Settings) -> None:
    for number in range(8):
        order(settings, str(number))
    messages = build_services(settings, "dispatcher").messages
    assert messages.count_waiting("maintenance") == 0
    assert swept(settings, messages, 5) == 8
    assert (messages.count_waiting("maintenance"), messages.count_waiting("reports")) == (8, 0)


def test_a_message_that_was_lost_among_others_is_sent_again_once_those_are_taken(settings: Settings) -> None:
    jobs, messages = [order(settings, str(n)) for n in range(4)], RecordedMessages(holds=True)
    swept(settings, messages, 1)
    _, lost, _ = messages.held.pop()
    for _ in range(4):
        swept(settings, messages, 1)
        _, job, _ = messages.held.pop(0)
        run(settings, job, indexing(lambda context: {}))
    while messages.held or swept(settings, messages, 1):
        _, job, _ = messages.held.pop(0)
        run(settings, job, indexing(lambda context: {}))
    assert {column(settings, job, "state") for job in jobs} == {"succeeded"}
    assert lost in jobs


def test_a_queue_holds_no_more_messages_than_its_bound_whoever_orders_and_cancels(settings: Settings) -> None:
    messages = RecordedMessages(holds=True)
    for number in range(12):
        job = order(settings, str(number))
        swept(settings, messages, 2, messages_max=5)
        execute(settings, JOBS.cancel, job)
    assert len(messages.held) == 5
    waits = order(settings, "13")
    assert swept(settings, messages, 3, messages_max=5) == 0
    messages.held.clear()
    assert swept(settings, messages, 1, messages_max=5) == 1
    assert messages.jobs[-1] == waits


def test_a_broker_that_is_down_loses_nothing(settings: Settings) -> None:
    job = order(settings)
    nowhere = build_services(replace(settings, broker_url="redis://127.0.0.1:9/0"), "dispatcher").messages
    assert sweep(settings, nowhere) == 0
    assert column(settings, job, "relayed_at") is None
    assert column(settings, job, "state") == "queued"


class SilentBroker:
    """Takes no message, as one that hangs."""

    def __init__(self) -> None:
        self.asked = 0

    def send(self, task: str, job_id: str, queue: str) -> None:
        raise AssertionError("a broker that did not answer was asked again")

    def count_waiting(self, queue: str) -> int:
        self.asked += 1
        raise StoreUnavailable("broker")


def test_a_broker_that_hangs_is_asked_once_a_sweep_however_many_jobs_wait(settings: Settings) -> None:
    jobs, broker = [order(settings, str(n)) for n in range(4)], SilentBroker()
    assert (sweep(settings, broker), broker.asked) == (0, 1)
    assert {column(settings, job, "relayed_at") for job in jobs} == {None}


def test_two_dispatchers_share_the_rows(settings: Settings, messages: RecordedMessages) -> None:
    jobs = {order(settings, str(n)) for n in range(12)}
    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(lambda n: sweep(settings, messages), range(2))) == 12
    assert sorted(messages.jobs) == sorted(jobs)


def test_a_dispatcher_that_falls_silent_holds_the_others_up_for_seconds_only(
    settings: Settings, messages: RecordedMessages
) -> None:
    order(settings)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as silent:
        silent.execute(RELAY.set_idle_timeout.replace("5s", "300ms"))
        silent.execute("BEGIN")
        silent.execute(RELAY.dispatch_lock)
        assert sweep(settings, messages) == 1
        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
            silent.execute("SELECT 1")


def test_a_job_whose_worker_died_is_taken_up_and_given_up_after_three(
    settings: Settings, messages: RecordedMessages
) -> None:
    job = order(settings)
    for attempt in (1, 2, 3):
        with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
            taken = claim(connection, job, 0)
            assert taken is not None
            assert taken.attempt == attempt
        sweep(settings, messages)
    assert column(settings, job, "state") == "failed"
    assert column(settings, job, "error")["slug"] == "job-lost"


def test_a_stale_finisher_writes_nothing_and_its_twin_without_the_fence_would(
    settings: Settings, messages: RecordedMessages
) -> None:
    job = order(settings)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        stale = claim(connection, job, 0)
        assert stale is not None
        sweep(settings, messages)
        current = claim(connection, job, 30)
        assert current is not None
        assert not succeed(connection, stale, {"by": "stale"})
        unfenced = LEASE.succeed.replace("AND attempt = $2", "AND $2::integer IS NOT NULL")
        with connection.transaction(force_rollback=True):
            assert connection.execute(unfenced, (job, stale.attempt, Jsonb({}))).fetchone() is not None
        assert succeed(connection, current, {"by": "current"})
    assert column(settings, job, "result") == {"by": "current"}


def test_cancel_wins_over_a_late_finish(settings: Settings) -> None:
    job, began, go_on = order(settings), threading.Event(), threading.Event()

    def make(context: JobContext) -> dict[str, Any]:
        began.set()
        assert go_on.wait(30)
        return {}

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, settings, job, indexing(make))
        assert began.wait(30)
        execute(settings, JOBS.cancel, job)
        go_on.set()
        assert running.result() is None
    assert column(settings, job, "state") == "cancelled"


def test_a_lease_that_was_taken_away_stops_its_worker(settings: Settings) -> None:
    job = order(settings)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        taken = claim(connection, job, 1)
        assert taken is not None
        with Lease(settings.worker_database_url, job, taken.attempt, 1) as lease:
            execute(settings, JOBS.cancel, job)
            assert lease.lost.wait(5)
            with pytest.raises(LeaseLost):
                lease.check()


@pytest.mark.parametrize("fault", ["an error of the statement", "a value that cannot be sent", "its stop fails"])
def test_however_the_renewing_of_a_lease_ends_its_job_notices(settings: Settings, fault: str) -> None:
    """None of these is an outage: the thread must not end and leave the job without any renewal."""
    stopped = threading.Event()

    def stop() -> None:
        stopped.set()
        if fault == "its stop fails":
            raise ValueError("a fault of ours")

    with connect(settings.database_url, application="tests") as operator:
        if fault == "its stop fails":
            operator.execute(JOBS.cancel, (job := order(settings),))
        else:
            job = "no UUID" if fault == "an error of the statement" else order(settings)
    lease = Lease(settings.worker_database_url, job, 1, 1, stop=stop)
    if fault == "a value that cannot be sent":
        lease.progress.rows_done = object()  # type: ignore[assignment]
    with lease:
        assert lease.lost.wait(10)
        assert stopped.wait(10)
        with pytest.raises(LeaseLost) as raised:
            lease.check()
    if fault != "its stop fails":
        assert isinstance(raised.value.__cause__, psycopg.Error)


def test_an_error_that_passes_does_not_cost_a_lease(settings: Settings) -> None:
    job = order(settings)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        taken = claim(connection, job, 3)
        assert taken is not None
        lease = Lease(settings.worker_database_url, job, taken.attempt, 3)
        lease.progress.rows_done = object()  # type: ignore[assignment]
        with lease:
            while lease.failure is None:
                assert not lease.lost.wait(0.02)
            lease.progress.rows_done = 1
            while lease.failure is not None:
                assert not lease.lost.wait(0.02)
        lease.check()


def test_the_beat_of_a_stale_attempt_keeps_no_lease(settings: Settings) -> None:
    job = order(settings)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        taken = claim(connection, job, 60)
        assert taken is not None
        until = column(settings, job, "lease_until")
        connection.execute("UPDATE jobs SET attempt = 2 WHERE id = $1", (job,))  # another worker has it now
        for attempt, kept in ((taken.attempt, False), (2, True)):
            values = (job, attempt, 600, 0.5, "late", 1, 2)
            assert (connection.execute(LEASE.renew, values).fetchone() is not None) == kept
            assert (column(settings, job, "lease_until") > until) == kept


def test_a_job_that_always_fails_ends_with_its_reason_and_no_secret(settings: Settings) -> None:
    job = order(settings)

    def own(context: JobContext) -> dict[str, Any]:
        raise ItemIndexError("there is nothing to index")

    def foreign(context: JobContext) -> dict[str, Any]:
        raise RuntimeError(f"could not reach {settings.database_url}")

    assert run(settings, job, indexing(own)) == "queued"
    assert column(settings, job, "error")["detail"] == "there is nothing to index"
    assert run(settings, job, indexing(foreign)) == "queued"
    assert run(settings, job, indexing(foreign)) == "failed"
    assert column(settings, job, "error") == {"slug": "job-failed", "detail": "RuntimeError"}


def test_a_load_orders_its_search_index_and_the_job_builds_it(settings: Settings, tmp_path: Path) -> None:
    summary = load_rows(settings, tmp_path)
    assert summary.job_id is not None
    assert run(settings, summary.job_id) == "succeeded"
    assert column(settings, summary.job_id, "result") == {"data_version": 1, "items": 3}
    assert column(settings, summary.job_id, "progress_fraction") == 1
    assert make_index(settings.worker_database_url, settings.search_dir)["items"] == 3


def full(context: JobContext) -> dict[str, Any]:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_store_that_is_full_costs_a_job_no_attempt(settings: Settings) -> None:
    job = order(settings, attempts=2)
    for _ in range(5):
        assert run(settings, job, indexing(full)) == "queued"
    assert column(settings, job, "error") == {"slug": "job-failed", "detail": "OSError"}
    assert column(settings, job, "not_before > now() + interval '1 second'")
    assert run(settings, job, indexing(lambda context: {})) == "succeeded"
    assert column(settings, job, "attempt") == 6


FAULTS = {
    "a path that is too long": lambda path: (path / ("x" * 300)).write_text("x"),
    "a folder": lambda path: path.write_text("x"),
    "a file that is not there": lambda path: (path / "x").read_text(),
    "bytes that are no table": lambda path: pyarrow.parquet.read_table(path.with_name("damaged.parquet")),
    "an argument that no file system takes": lambda path: os.lseek(os.open(path, os.O_RDONLY), -1, os.SEEK_SET),
}
OUTAGES = {
    "a full disk": OSError(errno.ENOSPC, "No space left on device"),
    "a quota of the file system": OSError(errno.EDQUOT, "Disk quota exceeded"),
    "a mount that went": OSError(errno.ESTALE, "Stale file handle"),
    "a disk that fails": OSError(errno.EIO, "Input/output error"),
    "a host that is down": OSError(errno.EHOSTUNREACH, "No route to host"),
    "a refused connection": ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
    "a name that is not resolved": socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
    "no answer": TimeoutError(),
    "no folder for temporary files": FileNotFoundError(errno.ENOENT, "No usable temporary directory found"),
    "a store that is unavailable": StoreUnavailable("results"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_of_the_file_system_that_is_no_outage_counts_as_an_attempt(
    settings: Settings, tmp_path: Path, fault: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1" + bytes(40) + (20).to_bytes(4, "little") + b"PAR1")
    job = order(settings, attempts=2)

    def wrong(context: JobContext) -> dict[str, Any]:
        FAULTS[fault](folder)
        return {}

    assert [run(settings, job, indexing(wrong)) for _ in range(2)] == ["queued", "failed"]


@pytest.mark.parametrize("outage", OUTAGES)
def test_what_an_outage_raises_costs_a_job_no_attempt(settings: Settings, outage: str) -> None:
    job = order(settings, attempts=1)

    def away(context: JobContext) -> dict[str, Any]:
        raise OUTAGES[outage]

    assert run(settings, job, indexing(away)) == "queued"


def test_a_store_that_is_full_for_an_hour_fails_what_waits(settings: Settings) -> None:
    job = order(settings, attempts=1)
    execute(settings, "UPDATE jobs SET created_at = now() - interval '61 minutes'")
    assert run(settings, job, indexing(full)) == "failed"


def test_a_dispatcher_continues_while_the_object_store_is_unavailable(
    settings: Settings, messages: RecordedMessages
) -> None:
    job = order(settings)
    services = replace(services_of(settings, messages=messages), objects=UnavailableStore(settings.results_dir))
    dispatcher = Dispatcher(services)
    with services.connect("dispatcher", autocommit=True) as connection:
        Maintenance(services).run_due(connection, time.monotonic())
        assert dispatcher.sweep(connection) == 1
    assert messages.jobs == [job]


class CountingStore(DirectoryStore):
    lists = 0

    def attempts(self) -> Iterator[tuple[str, int]]:
        self.lists += 1
        return super().attempts()


def test_the_whole_store_is_listed_every_ten_minutes_and_no_more_often(settings: Settings) -> None:
    store = CountingStore(settings.results_dir)
    maintenance = Maintenance(replace(services_of(settings), objects=store))
    now = time.monotonic()
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        listed = []
        for seconds in (0.0, 31.0, 599.0, 601.0):
            maintenance.run_due(connection, now + seconds)
            listed.append(store.lists)
    assert listed == [1, 1, 1, 2]


class UnavailableStore(DirectoryStore):
    def attempts(self) -> Iterator[tuple[str, int]]:
        raise StoreUnavailable("results")
