"""Whatever happens to workers, disks and data in the middle: an export is whole, of one snapshot, or it is not there."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared.bulk.manifest import File, StoredExportManifest
from shared.db.connect import Connection, connect
from shared.jobs.contract import SQL as JOBS
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from tests.support.database import execute
from tests.support.exports import WANTED, column, help_export, manifest_of, read, rows_by_sql
from tests.support.servers import Contents
from tests.support.shop import load_rows
from tests.support.workers import delete_old, run, services_of
from workers.bulk import export_part as part_worker
from workers.bulk.export_part import write_part
from workers.bulk.part import ExportPart
from workers.dispatcher.dispatch import Dispatcher
from workers.jobs.services import SplitRows, WorkerServices

# A worker of its own that makes parts until the third, says so, and hangs.
HANGING = """
import sys, time
from shared.settings.settings import Settings
from tests.support.exports import help_export
from tests.support.workers import run
from workers.jobs.services import SplitRows
from workers.bulk import export_part as part_worker
from workers.jobs.services import SplitRows
settings, made, write = Settings.from_environment(), [], part_worker.write_part
def slow(*arguments):
    made.append(1)
    if len(made) == int(sys.argv[2]):
        print("taken", flush=True)
        time.sleep(600)
    return write(*arguments)
part_worker.write_part = slow
if sys.argv[3] == "holds":
    run(settings, sys.argv[1], split_rows=SplitRows(export_parts={"observations": 20}))
else:
    help_export(settings, sys.argv[1])
"""


MANY_PARTS = SplitRows(export_parts={"observations": 20}, export_shared=1)


def run_in_parts(settings: Settings, job: str) -> str | None:
    """Run an export that a worker of this process splits into many parts; return the state it reached."""
    return run(settings, job, split_rows=MANY_PARTS)


def things(settings: Settings, folder: Path) -> None:
    rows = "".join(f"{n},Thing {n},Vita,Drinks,Tea,1,2026-07-0{n % 9 + 1},NORTH,{n},\n" for n in range(1, 121))
    load_rows(settings, folder, rows)


@pytest.fixture
def contents() -> Contents:
    return things


@pytest.fixture
def quick(settings: Settings) -> Settings:
    """Settings with leases that end soon."""
    return replace(settings, lease_ttl_seconds=1)


@contextmanager
def hanging(settings: Settings, job: str, part: int, role: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HANGING, job, str(part), role]
    process = subprocess.Popen(command, env={**settings.environment(), "PYTHONPATH": "."}, stdout=-1, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "taken\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


PARTS_OF = """
SELECT (parameters->'part'->>'number')::int, state, attempt, id || '/' || attempt FROM jobs WHERE parent_id = $1"""


def parts_of(settings: Settings, job: str) -> dict[int, tuple[str, int, str]]:
    """Return the state of each part, its attempt, and where this one's file is stored."""
    with connect(settings.database_url, application="tests") as connection:
        return {row[0]: row[1:] for row in connection.execute(PARTS_OF, (job,))}


def lapse(settings: Settings) -> None:
    """Take back expired leases until no job runs."""
    with connect(settings.worker_database_url, application="dispatcher", autocommit=True) as connection:
        dispatcher = Dispatcher(services_of(settings))
        while connection.execute("SELECT FROM jobs WHERE state = 'running'").fetchone() is not None:
            dispatcher.sweep(connection)
            time.sleep(0.05)


def rows_in(settings: Settings, manifest: StoredExportManifest) -> list[tuple[str, ...]]:
    found = []
    for file in manifest.files:
        lines = read(settings, file).decode().split("\r\n")[1:-1]
        assert len(lines) == file.rows
        found += [tuple(line.split(",")) for line in lines]
    return sorted(found)


def expected(settings: Settings, wanted: Any = WANTED) -> list[tuple[str, ...]]:
    return sorted(tuple(str(value) for value in row) for row in rows_by_sql(settings, wanted))


def patched(monkeypatch: pytest.MonkeyPatch, before: Callable[[int], None]) -> None:
    """Have something happen before each part of this process is written."""

    def write(services: WorkerServices, connection: Connection, part: ExportPart, *rest: Any) -> File:
        before(part.number)
        return write_part(services, connection, part, *rest)

    monkeypatch.setattr(part_worker, "write_part", write)


def test_a_killed_worker_repeats_one_part_and_not_the_export(quick: Settings, queued_job: str) -> None:
    with hanging(quick, queued_job, 3, "holds") as process:
        before = parts_of(quick, queued_job)
        process.kill()
    assert [before[n][0] for n in (1, 2, 3)] == ["succeeded", "succeeded", "running"]
    assert column(quick, queued_job, "result") is None
    lapse(quick)
    assert run_in_parts(quick, queued_job) == "succeeded"
    after = parts_of(quick, queued_job)
    assert (after[1], after[2]) == (before[1], before[2])
    assert after[3][1] == 2 and after[3][2] != before[3][2]
    assert {state for state, _, _ in after.values()} == {"succeeded"}
    assert rows_in(quick, manifest_of(quick, queued_job)) == expected(quick)


def test_a_helper_that_is_killed_costs_the_export_one_part(
    quick: Settings, queued_job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    helped = threading.Event()
    patched(monkeypatch, lambda number: helped.wait(60) or None)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_in_parts, quick, queued_job)
        with hanging(quick, queued_job, 1, "helps") as process:
            process.kill()
        helped.set()
        lapse(quick)
        assert running.result() == "succeeded"
    assert sorted(attempt for _, attempt, _ in parts_of(quick, queued_job).values())[-2:] == [1, 2]
    assert rows_in(quick, manifest_of(quick, queued_job)) == expected(quick)


def test_two_workers_share_the_parts(settings: Settings, queued_job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    makers = {}
    met = threading.Barrier(2, timeout=30)

    def note(number: int) -> None:
        first = threading.get_ident() not in makers.values()
        makers[number] = threading.get_ident()
        if first:
            met.wait()  # neither continues before both have a part

    patched(monkeypatch, note)
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(run_in_parts, settings, queued_job)
        while not parts_of(settings, queued_job):
            time.sleep(0.01)
        helping = pool.submit(help_export, settings, queued_job)
        assert (running.result(), helping.result()) == ("succeeded", None)
    assert len(set(makers.values())) == 2
    assert {attempt for _, attempt, _ in parts_of(settings, queued_job).values()} == {1}
    assert rows_in(settings, manifest_of(settings, queued_job)) == expected(settings)


def test_a_load_in_the_middle_is_not_seen(
    settings: Settings, queued_job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, loaded = expected(settings), []

    def load(number: int) -> None:
        if number == 3 and not loaded:
            loaded.append(
                load_rows(settings, tmp_path, "500,New,Vita,Drinks,Tea,1,2026-07-05,NORTH,9,\n", name="n.csv")
            )

    patched(monkeypatch, load)
    assert run_in_parts(settings, queued_job) == "succeeded"
    assert loaded and len(expected(settings)) == len(before) + 1
    manifest = manifest_of(settings, queued_job)
    assert (manifest.data_version, rows_in(settings, manifest)) == (1, before)


def test_after_a_load_between_two_workers_nothing_old_is_beside_the_new(
    quick: Settings, queued_job: str, tmp_path: Path
) -> None:
    with hanging(quick, queued_job, 3, "holds"):
        pass
    load_rows(quick, tmp_path, "500,New,Vita,Drinks,Tea,1,2026-07-05,NORTH,9,\n", name="n.csv")
    lapse(quick)
    assert run_in_parts(quick, queued_job) == "succeeded"
    manifest = manifest_of(quick, queued_job)
    assert (manifest.data_version, manifest.rows) == (2, 121)
    assert rows_in(quick, manifest) == expected(quick)
    store = DirectoryStore(quick.results_dir)
    with connect(quick.worker_database_url, application="tests", autocommit=True) as connection:
        delete_old(connection, quick, store)
    kept = {f"{part}/{attempt}" for part, attempt in store.attempts()}
    assert kept == {file.key.rpartition("/")[0] for file in manifest.files}


def owed(settings: Settings, job: str) -> None:
    execute(
        settings,
        "WITH o AS (INSERT INTO organizations (name, plan) VALUES ('Acme', 'institutional') RETURNING id) "
        "INSERT INTO job_orders (job_id, organization_id, account, charge_id, charged_day, units) "
        "SELECT $1, id, 'org:x', 'c', 1, 100 FROM o",
        job,
    )


def test_cancelling_stops_a_part_in_the_middle_and_lists_nothing(
    settings: Settings, queued_job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = threading.Event()

    def endless(services: Any, connection: Any, part: Any, check: Any, progress: Any) -> Any:
        began.set()
        while True:
            check()
            time.sleep(0.01)

    monkeypatch.setattr(part_worker, "write_part", endless)
    owed(settings, queued_job)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_in_parts, settings, queued_job)
        assert began.wait(30)
        execute(settings, JOBS.cancel, queued_job)
        assert running.result() is None
    assert (column(settings, queued_job, "state"), column(settings, queued_job, "result")) == ("cancelled", None)
    assert {state for state, _, _ in parts_of(settings, queued_job).values()} == {"cancelled"}
    assert column(settings, queued_job, "(SELECT refund_due FROM job_orders WHERE job_id = jobs.id)") is True
