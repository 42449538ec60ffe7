"""A load ends when it is no longer wanted, an outage leaves it due, and what its process does not survive is refused."""

import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from traceback import walk_stack

import pytest

from shared.db.connect import connect
from shared.errors import LoadInterrupted
from shared.objects.directory import DirectoryStore, upload_key
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.database import execute
from tests.support.shop import HEADER, MAPPING, ROWS, mapping
from tests.support.workers import serve_due
from workers.articles.matching.matcher import Matcher
from workers.ingest.feeds.registry import register
from workers.ingest.feeds.runner import FeedRunner
from workers.ingest.load.load import load
from workers.ingest.outages import DEATHS_MAX, DIED
from workers.provenance import events

FILE = (HEADER + ROWS).encode()
# A process that serves what is due and dies at the first progress of it.
DYING = """
import os, sys
from shared.db.connect import connect
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from workers.ingest.feeds.runner import FeedRunner
settings = Settings.from_environment()
runner = FeedRunner(settings, Log("feeds", stream=sys.stderr), lambda: os._exit(9))
with connect(settings.database_url, application="tests", autocommit=True) as connection:
    runner.begin_due(connection)
    for future in runner._running.values():
        future.exception()
"""


def put_upload(settings: Settings, content: bytes = FILE, step: str = "load") -> str:
    """Store a file whose load, by the shop's mapping, is wanted."""
    query = (
        "INSERT INTO uploads (person_id, person, file_name, bytes, step, mapping) "
        "VALUES (gen_random_uuid(), 'Ada', 'prices.csv', $1, $2, $3) RETURNING id::text"
    )
    [(upload,)] = execute(settings, query, len(content), step, MAPPING)
    with DirectoryStore(settings.results_dir).create(upload_key(upload)) as file:
        file.write(content)
    return str(upload)


def serve(settings: Settings) -> None:
    serve_due(FeedRunner(settings, Log("feeds", stream=io.StringIO())), settings)


def states(settings: Settings) -> list[tuple[str, str | None]]:
    return execute(settings, "SELECT state, error FROM uploads ORDER BY id")


def observations(settings: Settings) -> int:
    [(count,)] = execute(settings, "SELECT count(*)::integer FROM observations")
    return int(count)


def let_processes_die(settings: Settings, times: int) -> None:
    for _ in range(times):
        done = subprocess.run([sys.executable, "-c", DYING], env={**settings.environment(), "PATH": ""}, check=False)
        assert done.returncode == 9


def watch_folder(settings: Settings, folder: Path) -> Path:
    """Register a feed of a folder below this one, and return that."""
    inbox = folder / "inbox"
    inbox.mkdir(exist_ok=True)
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        register(settings, connection, mapping(folder), every_seconds=3_600, directory=inbox)
    return inbox


def drop(folder: Path, content: bytes = FILE) -> Path:
    """Put a file into a folder that has been there for a while."""
    path = folder / "prices.csv"
    path.write_bytes(content)
    os.utime(path, (time.time() - 60, time.time() - 60))
    return path


def test_an_upload_that_three_processes_did_not_survive_is_refused_and_others_are_served(settings: Settings) -> None:
    put_upload(settings)
    let_processes_die(settings, DEATHS_MAX)
    assert states(settings) == [("running", None)]
    put_upload(settings)
    serve(settings)
    assert states(settings) == [("refused", DIED), ("loaded", None)]
    assert observations(settings) == 5


def test_an_upload_that_a_process_did_not_survive_is_begun_again(settings: Settings) -> None:
    put_upload(settings)
    let_processes_die(settings, DEATHS_MAX - 1)
    serve(settings)
    assert states(settings) == [("loaded", None)]
    assert execute(settings, "SELECT deaths FROM uploads") == [(0,)]


def test_a_process_that_is_stopped_in_order_has_not_died(settings: Settings) -> None:
    put_upload(settings)
    for _ in range(DEATHS_MAX + 1):
        serve_due(FeedRunner(settings, Log("feeds", stream=io.StringIO()), stopping=lambda: True), settings)
    assert execute(settings, "SELECT state, deaths FROM uploads") == [("running", 0)]
    serve(settings)
    assert states(settings) == [("loaded", None)]


def test_a_feed_whose_file_three_processes_did_not_survive_is_refused_until_the_file_is_another(
    settings: Settings, tmp_path: Path
) -> None:
    inbox = watch_folder(settings, tmp_path)
    drop(inbox)
    let_processes_die(settings, DEATHS_MAX)
    serve(settings)
    [(error, failures)] = execute(settings, "SELECT error, failures FROM feeds")
    assert error == f"prices.csv: {DIED}" and failures == 1 and observations(settings) == 0
    assert sorted(path.name.partition("Z-")[2] for path in (inbox / "failed").iterdir()) == [
        "prices.csv",
        "prices.csv.reason.txt",
    ]
    drop(inbox, FILE + b"\n")
    execute(settings, "UPDATE feeds SET due_at = now()")
    serve(settings)
    assert observations(settings) == 5
    assert execute(settings, "SELECT deaths, error FROM feeds") == [(0, None)]


@pytest.mark.parametrize("change", ["UPDATE feeds SET paused = true", "DELETE FROM feeds"])
def test_a_feed_that_is_paused_or_removed_while_it_waits_is_not_loaded(
    settings: Settings, tmp_path: Path, change: str
) -> None:
    path = drop(watch_folder(settings, tmp_path))
    runner = FeedRunner(settings, Log("feeds", stream=io.StringIO()))
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        with runner._loading:  # another load is under way
            runner.begin_due(connection)
            connection.execute(change)
        for future in runner._running.values():
            assert future.exception() is None
    assert path.exists() and observations(settings) == 0
    assert execute(settings, "SELECT count(*) FROM loads") == [(0,)]
    assert execute(settings, "SELECT failures FROM feeds WHERE NOT paused OR failures > 0") == []


def test_an_outage_of_the_object_store_leaves_an_upload_due(settings: Settings) -> None:
    put_upload(settings)
    away = settings.results_dir.with_name("away")
    settings.results_dir.rename(away)  # as a volume that is not mounted
    for _ in range(DEATHS_MAX + 1):
        serve(settings)
    assert states(settings) == [("running", None)]
    away.rename(settings.results_dir)
    serve(settings)
    assert states(settings) == [("loaded", None)] and observations(settings) == 5


def test_what_an_outage_ended_is_not_begun_again_at_once(settings: Settings) -> None:
    put_upload(settings)
    settings.results_dir.rename(settings.results_dir.with_name("away"))
    runner = FeedRunner(settings, Log("feeds", stream=io.StringIO()))
    serve_due(runner, settings)
    serve_due(runner, settings)
    assert execute(settings, "SELECT attempt FROM uploads") == [(1,)]


@pytest.mark.parametrize("sqlstate", ["57P01", "53100"])
def test_an_outage_of_postgresql_leaves_an_upload_due(settings: Settings, sqlstate: str) -> None:
    execute(
        settings,
        "CREATE FUNCTION cut_off() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION 'cut off' USING ERRCODE = '{sqlstate}'; END $$",
    )
    execute(settings, "CREATE TRIGGER cut_off BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION cut_off()")
    put_upload(settings)
    serve(settings)
    assert states(settings) == [("running", None)]
    execute(settings, "DROP TRIGGER cut_off ON items")
    serve(settings)
    assert states(settings) == [("loaded", None)] and observations(settings) == 5


@contextmanager
def lock_held(settings: Settings) -> Iterator[None]:
    """Hold the lock of loads while the block runs, as a load of the command does."""
    with connect(settings.database_url, application="tests") as other:
        events.lock(other)
        yield


def wait_until(true: str, settings: Settings) -> None:
    """Wait until a query returns true."""
    ended = time.monotonic() + 60
    while execute(settings, true) != [(True,)]:
        assert time.monotonic() < ended, true
        time.sleep(0.05)


WAITS = "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = '{}'"


def cancelled_while(settings: Settings, waiting_for: str) -> None:
    """Serve an upload, cancel it once a statement of it waits for this, and return when it has ended."""
    thread = threading.Thread(target=serve, args=(settings,))
    thread.start()
    wait_until(WAITS.format(waiting_for), settings)
    execute(settings, "UPDATE uploads SET cancelled = true")
    thread.join(timeout=60)
    assert not thread.is_alive() and states(settings) == [("cancelled", None)]


def test_an_upload_that_waits_for_another_load_can_be_cancelled(settings: Settings) -> None:
    put_upload(settings)
    with lock_held(settings):
        cancelled_while(settings, "advisory")
    assert observations(settings) == 0


def test_an_upload_whose_statement_takes_long_can_be_cancelled_and_gives_the_lock_back(settings: Settings) -> None:
    execute(
        settings,
        "CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_sleep(3600); RETURN NEW; END $$",
    )
    execute(settings, "CREATE TRIGGER take_long BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION take_long()")
    put_upload(settings)
    cancelled_while(settings, "PgSleep")
    execute(settings, "DROP TRIGGER take_long ON items")
    assert observations(settings) == 0 and execute(settings, "SELECT count(*) FROM items") == [(0,)]
    put_upload(settings)
    serve(settings)
    assert [state for state, _ in states(settings)] == ["cancelled", "loaded"]


def test_an_upload_that_nothing_was_begun_of_is_cancelled_at_once(settings: Settings) -> None:
    put_upload(settings)
    execute(settings, "UPDATE uploads SET cancelled = true")
    serve(settings)
    assert execute(settings, "SELECT state, cancelled, attempt FROM uploads") == [("cancelled", False, 0)]


ITEMS = 20_000
"""Enough that their linking takes several seconds: what a load is for is asked every second."""


class Unwanted(Exception):
    """Nobody wants the load any more."""


def test_linking_ends_when_the_load_is_no_longer_wanted(settings: Settings, tmp_path: Path) -> None:
    """`wanted` raises once it sees a thread of this process that links items."""
    names = "".join(f"{n},Generic part {n % 7},Vita,Drinks,Tea,1,2026-07-01,NORTH,3.00,\n" for n in range(ITEMS))
    for source in ("first", "second"):
        (tmp_path / f"{source}.csv").write_text(HEADER + names)
    load(settings, mapping(tmp_path, MAPPING.replace('source = "shop"', 'source = "first"')), [tmp_path / "first.csv"])

    def wanted() -> None:
        ended = time.monotonic() + 60
        while time.monotonic() < ended:
            frames = [walk_stack(frame) for frame in sys._current_frames().values()]
            if any(frame.f_code is Matcher.link.__code__ for stack in frames for frame, _ in stack):
                raise Unwanted
            time.sleep(0.001)

    with pytest.raises(Unwanted):
        load(
            replace(settings, match_dir=tmp_path / "none"),
            mapping(tmp_path, MAPPING.replace('source = "shop"', 'source = "second"')),
            [tmp_path / "second.csv"],
            wanted=wanted,
        )
    assert execute(settings, "SELECT count(*) FROM items") == [(ITEMS,)]


def test_a_load_that_an_outage_ends_is_not_called_refused(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_bytes(FILE)
    execute(
        settings,
        "CREATE FUNCTION cut_off() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'cut off' USING ERRCODE = '53100'; END $$",
    )
    execute(settings, "CREATE TRIGGER cut_off BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION cut_off()")
    with pytest.raises(LoadInterrupted, match="nothing of it was kept: cut off"):
        load(settings, mapping(tmp_path), [tmp_path / "prices.csv"])
    assert execute(settings, "SELECT state FROM loads") == [("failed",)]
