"""Backed up, destroyed, restored, compared: what the operators' guide says works, with the commands that it names."""

import datetime
import os
import subprocess
import tarfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from deploy.local import postgres
from deploy.local.backups import Source
from shared.db.connect import connect
from shared.db.migrate import pending
from shared.settings.settings import Settings
from shared.telemetry import metrics
from tests.support.accounts import api_key
from tests.support.backups import BackedUp
from tests.support.client import running_edge
from tests.support.reports import work
from tests.support.servers import Servers
from tests.support.shop import open_shop
from tests.system.conftest import COMMAND, completed
from workers.dispatcher import measure_backups

_TABLES = """
SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind = 'r' ORDER BY 1
"""


def digests(settings: Settings) -> dict[str, tuple[int, str | None]]:
    """Return the number of rows and a digest of the content of every table."""
    found = {}
    with connect(settings.database_url, application="tests") as connection:
        for (name,) in connection.execute(_TABLES).fetchall():
            whole = f"SELECT count(*), md5(string_agg(t::text, E'\\n' ORDER BY t::text)) FROM ONLY {name} t"
            row = connection.execute(whole).fetchone()
            assert row is not None
            found[name] = (row[0], row[1])
    return found


def schema(settings: Settings) -> str:
    """Return the schema with its grants, without what differs from one dump to the next."""
    dumped = run("pg_dump", "--schema-only", settings.database_url)
    return "\n".join(line for line in dumped.splitlines() if not line.startswith(("\\restrict", "\\unrestrict", "--")))


def run(program: str, *arguments: str) -> str:
    """Run one of PostgreSQL's own programs."""
    command = [postgres.binary(program), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PGCONNECT_TIMEOUT": "10"}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def destroy(servers: Servers, settings: Settings) -> None:
    """Lose the database, and make an empty one of the same name."""
    name = settings.database_url.partition("@/")[2].partition("?")[0]
    owner = servers.url(postgres.OWNER, "owner", "postgres")
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
        connection.execute(f'CREATE DATABASE "{name}"'.encode())


@pytest.mark.parametrize("jobs", ["1", "2"])
async def test_a_restored_database_equals_the_one_that_was_backed_up(
    servers: Servers, settings: Settings, tmp_path: Path, jobs: str
) -> None:
    open_shop(settings, tmp_path)
    key = api_key(settings)
    async with running_edge(settings, tmp_path) as edge:
        asked = edge.get("/index/cohorts?brand=vita", key=key, head={"Prefer": "wait=0"})
        assert (await asked).status == 202
        assert await work(settings) == ["succeeded"]
        answer = await edge.get("/index/cohorts?brand=vita", key=key)
        assert answer.status == 200
    before, shape = digests(settings), schema(settings)
    assert sum(rows for rows, _ in before.values()) > 20

    dump, tar = tmp_path / "item-index.dump", tmp_path / "results.tar"
    run("pg_dump", "--format=custom", f"--file={dump}", settings.database_url)
    with tarfile.open(tar, "w") as archive:
        archive.add(settings.results_dir, ".")
    destroy(servers, settings)
    assert digests(settings) == {}
    elsewhere = replace(settings, results_dir=tmp_path / "restored")
    run("pg_restore", "--exit-on-error", "--no-owner", f"--jobs={jobs}", f"--dbname={settings.database_url}", str(dump))
    with tarfile.open(tar) as archive:
        archive.extractall(elsewhere.results_dir, filter="data")

    assert digests(settings) == before
    assert schema(settings) == shape
    with connect(settings.database_url, application="tests") as connection:
        assert pending(connection) == []
    (tmp_path / "again").mkdir()
    async with running_edge(elsewhere, tmp_path / "again") as edge:
        again = await edge.get("/index/cohorts?brand=vita", key=key)
        assert (again.status, again.json["meta"]["cached"]) == (200, True)
        assert again.json["data"] == answer.json["data"]


# Back to any second: `itemindex backup` and `itemindex restore`.


_WRITE = "INSERT INTO written (text) SELECT md5(random()::text) FROM generate_series(1, 50)"
_DIGEST = "SELECT count(*), md5(string_agg(text, '' ORDER BY id)) FROM written"


@pytest.fixture
def backed_up(tmp_path: Path) -> Iterator[BackedUp]:
    with BackedUp.running(tmp_path) as running:
        yield running


def written(backed_up: BackedUp, times: int) -> list[tuple[datetime.datetime, tuple[object, ...]]]:
    """Write so often; return the moment and the digest behind each commit."""
    found = []
    with connect(backed_up.url, application="tests", autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS written (id bigserial PRIMARY KEY, text text)")
        for _ in range(times):
            connection.execute(_WRITE)
            [digest] = connection.execute(_DIGEST).fetchall()
            [(moment,)] = connection.execute("SELECT clock_timestamp()").fetchall()
            found.append((moment.astimezone(datetime.UTC), digest))
    return found


def reached(backed_up: BackedUp, moment: datetime.datetime) -> None:
    """Wait until the backup reaches to a moment; the test's own time limit ends it."""
    while datetime.datetime.fromisoformat(backed_up.reaches()) < moment:
        time.sleep(0.2)


@pytest.mark.timeout(600)
def test_a_deleted_database_comes_back_to_any_moment_that_was_received(backed_up: BackedUp) -> None:
    backed_up.start_backup()
    moments = written(backed_up, 40)
    reached(backed_up, moments[-1][0])
    while not (backed_up.backups / "restored").exists():  # the first test of a restore is due at once
        time.sleep(0.2)
    backed_up.destroy()
    backed_up.stop_backup()
    for moment, digest in (moments[3], moments[-1]):
        backed_up.ctl("restore", "--to", moment.isoformat(), "--into", str(backed_up.data))
        backed_up.start_server()
        with connect(backed_up.url, application="tests") as connection:
            assert connection.execute(_DIGEST).fetchall() == [digest]
            assert connection.execute("SELECT pg_is_in_recovery()").fetchall() == [(False,)]
        assert not (backed_up.data / "recovery.signal").exists()
        backed_up.destroy()
    backed_up.ctl("restore", "--into", str(backed_up.data))
    backed_up.start_server()
    backed_up.start_backup()  # on the new timeline, with a base backup of its own
    again = written(backed_up, 1)
    assert again[0][1][0] == 41 * 50
    reached(backed_up, again[0][0])
    backed_up.destroy()
    backed_up.ctl("restore", "--to", again[0][0].isoformat(), "--into", str(backed_up.data))
    backed_up.start_server()
    with connect(backed_up.url, application="tests") as connection:
        assert connection.execute(_DIGEST).fetchall() == [again[0][1]]


@pytest.mark.timeout(300)
def test_what_cannot_be_backed_up_or_restored_is_a_sentence_and_nothing_is_lost(backed_up: BackedUp) -> None:
    into = str(backed_up.data)
    assert "has no backup" in backed_up.ctl("restore", "--into", str(backed_up.folder / "new"), code=1)
    assert "must be set" in backed_up.ctl("backup", "take", code=1, BACKUP_DATABASE_URL="")
    without = postgres.url(backed_up.paths, postgres.EDGE, backed_up.secrets["edge_password"])
    assert "has no REPLICATION" in backed_up.ctl("backup", "take", code=1, BACKUP_DATABASE_URL=without)
    backed_up.ctl("backup", "take")
    assert "PostgreSQL runs on" in backed_up.ctl("restore", "--into", into, code=1)
    other = backed_up.folder / "other"
    other.mkdir()
    (other / "file").write_text("kept")
    assert "is not empty; move it away" in backed_up.ctl("restore", "--into", str(other), code=1)
    assert (other / "file").read_text() == "kept"
    new = str(backed_up.folder / "new")
    early = backed_up.ctl("restore", "--to", "2020-01-01T00:00:00Z", "--into", new, code=1)
    assert "choose a moment after it" in early
    assert "leave out --to" in backed_up.ctl("restore", "--to", "2090-01-01T00:00:00Z", "--into", new, code=1)
    assert "write it in UTC" in backed_up.ctl("restore", "--to", "yesterday", "--into", new, code=2)
    assert "write it in UTC" in backed_up.ctl("restore", "--to", "2026-11-20T14:03:05", "--into", new, code=2)
    assert not Path(new).exists()
    [base] = backed_up.bases()
    with (base / "global/pg_control").open("r+b") as file:
        file.seek(20)
        file.write(b"damage")
    assert "is damaged" in backed_up.ctl("backup", "verify", code=1)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a small disk")
@pytest.mark.timeout(180)
def test_a_full_disk_is_a_sentence_and_leaves_what_was_complete(backed_up: BackedUp) -> None:
    backed_up.backups.mkdir()
    small = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        'mount -t tmpfs -o size=8m none "$0" && exec "$@"',
        str(backed_up.backups),
    ]
    done = completed([*small, *COMMAND, "backup", "take"], backed_up.environment)
    assert done.returncode == 1 and "the disk is full; free some space" in done.stderr
    backed_up.ctl("backup", "take")
    target = backed_up.folder / "small"
    target.mkdir()
    small[-1] = str(target)
    done = completed([*small, *COMMAND, "restore", "--into", str(target / "data")], backed_up.environment)
    assert done.returncode == 1 and "the disk is full; free some space" in done.stderr


@pytest.mark.timeout(180)
def test_old_backups_are_deleted_and_each_kept_moment_can_still_be_restored(backed_up: BackedUp) -> None:
    source = Source(backed_up.environment["BACKUP_DATABASE_URL"], backed_up.backups)
    receiver = source.receiver(backed_up.folder / "receiver.log")
    gone, connected = (metrics.backup_receivers.labels(state)._value for state in ("gone", "connected"))
    with connect(backed_up.url, application="tests", autocommit=True) as connection:
        measure_backups(connection)
        assert (gone.get(), connected.get()) == (1, 0), "the page BackupOld"
        receiver.start()
        while not connected.get():
            measure_backups(connection)
        assert gone.get() == 0
        receiver.stop()
    bases = [source.take() for _ in range(3)]
    assert source.timeline.bases() == bases
    assert list(source.expire(days=1)) == []
    assert list(source.expire(days=-1)) == [base.path for base in bases[:2]], "the newest one is always kept"
    assert source.timeline.bases() == bases[2:]
