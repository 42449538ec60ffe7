"""Backed up, destroyed, restored, compared: what the operators' guide says works, with the commands that it names."""

import datetime
import json
import os
import shutil
import subprocess
import tarfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psycopg
import pytest

from deploy.local import postgres
from deploy.local.backup_bucket import BackupBucket
from deploy.local.backups import BackupError, BackupSource, Timeline, choose
from shared.db.connect import connect
from shared.db.migrate import pending_migrations
from shared.settings.settings import Settings
from shared.telemetry import metrics
from tests.support.accounts import api_key
from tests.support.backups import BackedUp
from tests.support.client import running_edge
from tests.support.reports import work
from tests.support.s3 import BUCKET, client, environment, in_bucket, s3_server
from tests.support.servers import Servers
from tests.support.shop import open_shop
from tests.system.conftest import COMMAND, completed
from workers.dispatcher.gauges import measure_backups

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
        assert pending_migrations(connection) == []
    (tmp_path / "again").mkdir()
    async with running_edge(elsewhere, tmp_path / "again") as edge:
        again = await edge.get("/index/cohorts?brand=vita", key=key)
        assert (again.status, again.json["meta"]["cached"]) == (200, True)
        assert again.json["data"] == answer.json["data"]


_WRITE = "INSERT INTO written (text) SELECT md5(random()::text) FROM generate_series(1, 50)"
_DIGEST = "SELECT count(*), md5(string_agg(text, '' ORDER BY id)) FROM written"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared")
    with BackedUp.running(folder):
        return folder


@pytest.fixture
def backed_up(tmp_path: Path, prepared: Path) -> Iterator[BackedUp]:
    with BackedUp.running(tmp_path, like=prepared) as running:
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
    while backed_up.reaches() < moment:
        time.sleep(0.2)


@pytest.mark.timeout(600)
def test_a_deleted_database_comes_back_to_any_moment_that_was_received(backed_up: BackedUp) -> None:
    backed_up.start_backup()
    moments = written(backed_up, 40)
    reached(backed_up, moments[-1][0])
    [listed] = json.loads(backed_up.ctl("backup", "list", "--json"))
    assert datetime.datetime.fromisoformat(listed["to"]) >= moments[-1][0] and Path(listed["path"]).is_dir()
    while not list(backed_up.backups.glob("*/restored")):  # the first test of a restore is due at once
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


@pytest.mark.timeout(180)
def test_log_that_a_checkpoint_is_done_with_is_kept_for_a_receiver_that_has_not_begun(backed_up: BackedUp) -> None:
    source = BackupSource(backed_up.environment["BACKUP_DATABASE_URL"], backed_up.backups)
    with connect(backed_up.url, application="tests", autocommit=True) as connection:
        [(first,)] = connection.execute("SELECT pg_walfile_name(pg_current_wal_lsn())").fetchall()
        receiver = source.receiver(backed_up.folder / "receiver.log")
        for _ in range(3):
            connection.execute("SELECT pg_logical_emit_message(true, 'test', ''), pg_switch_wal()")
            connection.execute("CHECKPOINT")
    receiver.start()
    try:
        assert source.beat() is not None
    finally:
        receiver.stop()
    assert (source.timeline.wal / str(first)).exists()


@pytest.mark.timeout(300)
def test_what_cannot_be_backed_up_or_restored_is_a_sentence_and_nothing_is_lost(backed_up: BackedUp) -> None:
    into = str(backed_up.data)
    assert "has no backup" in backed_up.ctl("restore", "--into", str(backed_up.folder / "new"), code=1)
    assert "must be set" in backed_up.ctl("backup", "take", code=1, BACKUP_DATABASE_URL="")
    without = postgres.url(backed_up.paths, postgres.EDGE, backed_up.secrets["edge_password"])
    for act in ("take", "run"):
        assert "has no REPLICATION" in backed_up.ctl("backup", act, code=1, BACKUP_DATABASE_URL=without)
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
    source = BackupSource(backed_up.environment["BACKUP_DATABASE_URL"], backed_up.backups)
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
    before_a_restore = Timeline(source.timeline.folder.with_name(f"{source.timeline.cluster}-00000000"))
    shutil.copytree(source.timeline.folder, before_a_restore.folder)
    another_cluster = shutil.copytree(before_a_restore.folder, before_a_restore.folder.with_name("1-00000000"))
    assert list(source.expire(days=1)) == []
    deleted = [before_a_restore.folder, *(base.path for base in bases[:2])]
    assert list(source.expire(days=-1)) == deleted, "the newest one is always kept"
    assert source.timeline.bases() == bases[2:]
    assert another_cluster.exists()


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[str]:
    with s3_server(tmp_path) as address:
        yield address


def keys_in(bucket: str) -> set[str]:
    """Return the names of what the bucket holds."""
    return {entry["Key"] for entry in client(bucket).list_objects_v2(Bucket=BUCKET)["Contents"]}


def load(backed_up: BackedUp) -> None:
    """Commit what a load commits first of all."""
    with connect(backed_up.url, application="tests", autocommit=True) as connection:
        connection.execute("INSERT INTO data_versions (version) VALUES (1)")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("copied", [False, True])
def test_a_new_service_that_is_empty_is_never_restored_in_place_of_one_that_holds_loads(
    backed_up: BackedUp, tmp_path: Path, bucket: str, copied: bool
) -> None:
    backed_up.bucket = environment(bucket, "BACKUP_BUCKET") if copied else {}
    load(backed_up)
    moments = written(backed_up, 3)
    backed_up.start_backup()
    moments += written(backed_up, 3)
    reached(backed_up, moments[-1][0])
    old = BackupSource(backed_up.environment["BACKUP_DATABASE_URL"], backed_up.backups).timeline
    if copied:
        settings = in_bucket(Settings(backup_dir=backed_up.backups, backup_bucket=BUCKET), bucket)
        BackupBucket(settings).send_log(old)
        BackupBucket(settings).send_bases(old)
    backed_up.destroy()
    backed_up.stop_backup()
    with BackedUp.running(tmp_path / "new") as new:
        new.backups, new.bucket = backed_up.backups, backed_up.bucket
        new.start_backup()
        with connect(new.url, application="tests") as connection:
            [(now,)] = connection.execute("SELECT clock_timestamp() + interval '1 second'").fetchall()
        timeline = BackupSource(new.environment["BACKUP_DATABASE_URL"], new.backups).timeline
        assert timeline.cluster != old.cluster
        while (timeline.received_until() or now) <= now or not timeline.tried_at():
            time.sleep(0.2)
        if copied:
            while f"{timeline.folder.name}/empty" not in keys_in(bucket):
                time.sleep(0.2)
        rows = json.loads(new.ctl("backup", "list", "--json"))
        assert {row["cluster"]: row["holds"] for row in rows} == {old.cluster: "loads", timeline.cluster: ""}
        into = tmp_path / "restored"
        new.ctl("restore", "--into", str(into))
        assert (into / "global/pg_control").exists()
        backed_up.data.parent.mkdir(exist_ok=True)
        into.rename(backed_up.data)
        backed_up.start_server()
        with connect(backed_up.url, application="tests") as connection:
            assert connection.execute(_DIGEST).fetchall() == [moments[-1][1]]
        backed_up.destroy()
        assert "data_version" in new.ctl("backup", "verify"), "the test chooses as a restore does"
        assert old.tried_at()
        new.ctl("restore", "--cluster", timeline.cluster, "--into", str(into))
        shutil.rmtree(into)
        assert old.cluster in new.ctl("restore", "--cluster", "7", "--into", str(into), code=1)
        load(new)
        while timeline.is_empty or (copied and f"{timeline.folder.name}/empty" in keys_in(bucket)):
            time.sleep(0.2)
        for act in (["restore", "--into", str(into)], ["backup", "verify"]):
            refused = new.ctl(*act, code=1)
            assert "name one with --cluster" in refused and old.cluster in refused and timeline.cluster in refused
        early = moments[-1][0].isoformat()  # a moment that only one of them has
        new.ctl("restore", "--to", early, "--into", str(into))
        assert not (into / "recovery.signal").exists()


@pytest.mark.timeout(300)
def test_a_database_that_was_made_anew_is_not_restored_without_being_asked_for(backed_up: BackedUp) -> None:
    load(backed_up)
    source = BackupSource(backed_up.environment["BACKUP_DATABASE_URL"], backed_up.backups)
    full = source.take()
    with connect(backed_up.url, application="tests", autocommit=True) as connection:
        connection.execute("TRUNCATE data_versions CASCADE")
    empty = source.take()
    source.timeline.note_received(empty.moment, empty=True)
    assert (full.is_empty, empty.is_empty) == (False, True)
    refused = backed_up.ctl("restore", "--into", str(backed_up.folder / "new"), code=1)
    assert f"at {full.moment:%Y-%m-%dT%H:%M:%SZ} it does; choose a moment with --to" in refused
    assert choose(backed_up.backups, empty.moment) == (source.timeline, empty), "it was asked for"


def test_what_is_no_backup_and_a_file_cut_short_keep_no_other_from_being_listed(tmp_path: Path) -> None:
    for name in ("1-00000001/base/20261120T140305.000000Z", "1-00000001/base/2-copy-Z", "2-00000001/base"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "1-00000001/received").write_text("2026-11-")
    timeline, base = choose(tmp_path, None)
    assert (timeline.cluster, base.path.name, timeline.received_until()) == ("1", "20261120T140305.000000Z", None)


@pytest.mark.timeout(180)
def test_a_base_backup_that_is_under_way_is_not_deleted_by_another(backed_up: BackedUp) -> None:
    source = BackupSource(backed_up.environment["BACKUP_DATABASE_URL"], backed_up.backups)
    left = source.timeline.folder / "base" / ".partial-1"
    left.mkdir()
    with source._lock():
        assert "another process makes a base backup" in backed_up.ctl("backup", "take", code=1)
        assert left.is_dir()
    backed_up.ctl("backup", "take")
    assert not left.exists() and len(source.timeline.bases()) == 1


@pytest.mark.timeout(600)
def test_a_bucket_brings_back_what_went_with_the_disk_of_the_backups(backed_up: BackedUp, bucket: str) -> None:
    backed_up.bucket = environment(bucket, "BACKUP_BUCKET")
    backed_up.start_backup()
    moments = written(backed_up, 20)
    with connect(backed_up.url, application="tests", autocommit=True) as connection:
        connection.execute("SELECT pg_switch_wal()")
    moments += written(backed_up, 20)
    timeline = backed_up.bases()[0].parents[1].name
    objects = client(bucket)

    def sent() -> datetime.datetime:
        try:
            stored = objects.get_object(Bucket=BUCKET, Key=f"{timeline}/received")
        except objects.exceptions.NoSuchKey:  # nothing was sent so far
            return datetime.datetime.min.replace(tzinfo=datetime.UTC)
        return datetime.datetime.fromisoformat(stored["Body"].read().decode())

    while not list(backed_up.backups.glob("*/restored")) or sent() < moments[-1][0]:  # the first test is due at once
        time.sleep(0.2)
    backed_up.destroy()
    backed_up.stop_backup()
    shutil.rmtree(backed_up.backups)
    listed = keys_in(bucket)
    assert sum(".partial" in key for key in listed) == 1, "a file that is complete is there once"
    assert "leave out --to" in backed_up.ctl(
        "restore", "--to", "2090-01-01T00:00:00Z", "--into", str(backed_up.data), code=1
    )
    moment, digest = moments[-1]  # in the last file of the log, which is not full
    backed_up.ctl("restore", "--to", moment.isoformat(), "--into", str(backed_up.data))
    backed_up.start_server()
    with connect(backed_up.url, application="tests") as connection:
        assert connection.execute(_DIGEST).fetchall() == [digest]
    backed_up.destroy()
    assert list(backed_up.data.parent.glob("postgres.*")) == [], "what was fetched is deleted"
    [archive] = [key for key in listed if key.endswith(".tar.gz")]
    objects.put_object(Bucket=BUCKET, Key=archive, Body=b"damage")
    assert "cannot be unpacked" in backed_up.ctl("restore", "--into", str(backed_up.data), code=1)
    assert not backed_up.data.exists()


class _Refusing(BaseHTTPRequestHandler):
    """A bucket whose credentials have expired."""

    code, status = "ExpiredToken", 400

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = f"<Error><Code>{self.code}</Code></Error>".encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = answer  # noqa: N815 - the names of the base class

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.mark.timeout(300)
def test_a_bucket_that_refuses_is_a_sentence_and_gets_it_all_later(backed_up: BackedUp, bucket: str) -> None:
    url = backed_up.environment["BACKUP_DATABASE_URL"]
    good = in_bucket(Settings(backup_dir=backed_up.backups, backup_bucket=BUCKET, backup_database_url=url), bucket)
    source = BackupSource(url, backed_up.backups)
    base, timeline = source.take(), source.timeline
    (timeline.wal / base.first_log).write_bytes(b"a file of the log")
    timeline.note_received(base.moment)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    expired = replace(good, s3_endpoint=f"http://127.0.0.1:{server.server_port}")
    for send in (BackupBucket(expired).send_log, BackupBucket(expired).send_bases):
        with pytest.raises(BackupError, match="answers ExpiredToken; renew S3_ACCESS_KEY_ID"):
            send(timeline)
    server.shutdown()
    server.server_close()
    nowhere = BackupBucket(replace(good, backup_bucket="nowhere"))
    with pytest.raises(BackupError, match="answers NoSuchBucket; create it, or correct BACKUP_BUCKET"):
        nowhere.send_log(timeline)
    assert timeline.bases() == [base] and (timeline.wal / base.first_log).exists()
    accepting = BackupBucket(good)
    assert accepting.send_log(timeline) == base.moment
    accepting.send_bases(timeline)
    assert len(keys_in(bucket)) == 4, "a file of the log, a base backup with its mark, the moment"
    later = source.take()
    (timeline.wal / later.first_log).write_bytes(b"another one")
    accepting.send_log(timeline)
    accepting.send_bases(timeline)
    accepting.expire(timeline, base.moment)
    assert len(keys_in(bucket)) == 7, "each moment since the first is kept"
    newest = later.first_log
    before_a_restore = Timeline(timeline.folder.with_name(f"{timeline.cluster}-00000000"))
    shutil.copytree(timeline.folder, before_a_restore.folder)
    BackupBucket(good).send_log(before_a_restore)
    BackupBucket(good).send_bases(before_a_restore)
    BackupBucket(good).expire(timeline, base.moment)
    assert before_a_restore.folder.name in {key.partition("/")[0] for key in keys_in(bucket)}
    shutil.rmtree(backed_up.backups)  # what is lost here must not be deleted there
    BackupBucket(good).expire(timeline, later.moment)
    left = {key.rpartition("/")[2] for key in keys_in(bucket)}
    archive = f"{later.path.name}-{newest}.tar.gz"
    assert left == {archive, f"{later.path.name}.empty", f"{newest}.gz", "received"}
