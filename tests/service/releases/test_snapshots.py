"""A snapshot that is broken off: by who reads it, or by the server."""

import threading
from typing import Any

import asyncpg
import pytest

from shared.bulk.schema import PREFIX, RELEASED
from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.database import execute
from tests.support.servers import begins_with
from tests.support.shop import load_rows
from tests.support.workers import run
from workers.bulk.releases import order
from workers.bulk.sources.snapshot import Snapshot, SnapshotLost

ENDLESS = "SELECT generate_series(1, 100000000), repeat('x', 1000)"

LOST = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'itemindex-release'"


def test_a_client_that_stops_reading_leaves_nothing_behind(settings: Settings) -> None:
    before = threading.active_count()
    with Snapshot(settings.worker_database_url, application="release") as snapshot:
        assert len(next(snapshot.copy(ENDLESS, format="binary"))) > 0
    assert threading.active_count() == before


def test_a_server_that_disconnects_is_an_error_and_never_an_early_end(settings: Settings) -> None:
    with Snapshot(settings.worker_database_url, application="release") as snapshot:
        pieces = snapshot.copy(ENDLESS, format="binary")
        next(pieces)
        execute(settings, LOST)
        with pytest.raises(SnapshotLost):
            for _ in pieces:
                pass


@begins_with(load_rows)
def test_a_cut_that_loses_its_server_publishes_nothing_and_is_tried_again(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workers.bulk import build_release as module

    real = module.table_batches

    def lose(*arguments: Any) -> Any:
        if arguments[1].name == "categories":
            execute(settings, LOST)
        return real(*arguments)

    monkeypatch.setattr(module, "table_batches", lose)
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        job = order(connection, 1)
        assert run(settings, job) == "queued"
        assert connection.execute("SELECT count(*) FROM releases").fetchone() == (0,)
        monkeypatch.undo()
        assert run(settings, job) == "succeeded"
        assert connection.execute("SELECT count(*) FROM releases").fetchone() == (len(RELEASED),)
        named = {row[0] for row in connection.execute("SELECT sha256 FROM release_files")}
    assert {path.stem for path in (settings.results_dir / PREFIX).iterdir()} == named


def test_the_end_of_a_copy_wakes_its_reader(settings: Settings) -> None:
    """The poll is for a server that is silent; a reader that waited for it after each COPY would never end here."""
    with Snapshot(settings.worker_database_url, application="tests", poll_seconds=3_600) as snapshot:
        for _ in range(3):
            assert b"".join(snapshot.copy("SELECT 1", format="csv")) == b"1\n"
            assert list(snapshot.copy("SELECT 1 WHERE false", format="csv")) == []


def test_a_statement_that_is_wrong_is_an_error_of_its_own(settings: Settings) -> None:
    with Snapshot(settings.worker_database_url, application="tests") as snapshot:
        with pytest.raises(asyncpg.UndefinedTableError):
            list(snapshot.copy("SELECT 1 FROM no_such_table", format="csv"))


def test_an_argument_is_a_value_whatever_it_says(settings: Settings) -> None:
    """They are written into the query: no text may end its constant, or be taken for another argument's place."""
    query = "SELECT $1::text, $2::text[], $3::int, $4::date IS NULL"
    values = ("it's", "a\\b\\", "'; DROP TABLE items; --", "$1 $2", "E'\\''", "two\nlines", '{"a",NULL}', "豆奶", "")
    with Snapshot(settings.worker_database_url, application="tests") as snapshot:
        for value in values:
            assert snapshot.rows(query, value, [value, "x"], -7, None) == [(value, [value, "x"], -7, True)]
