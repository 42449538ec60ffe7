"""Every part refuses settings that weaken it: one line for each fault, no traceback, however the part is started."""

import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from edge.startup import read_settings
from shared.bulk.signing import new_key
from shared.db.connect import connect
from shared.errors import ConfigurationError
from shared.objects.shared_directories import faults, places
from shared.settings.settings import Settings
from shared.telemetry.metrics import exposition
from tests.support.command import runner

PROJECT = Path(__file__).parents[2]

COMMANDS = {
    "gunicorn": ["-m", "gunicorn", "-c", "deploy/gunicorn.conf.py", "edge.server:create_runner"],
    "edge": ["-m", "deploy.ctl.main", "edge"],
    "worker": ["-m", "deploy.ctl.main", "worker"],
    "worker module": ["-m", "workers"],
    "worker of reports": ["-m", "workers", "-Q", "reports"],
    "feeds run": ["-m", "deploy.ctl.main", "feeds", "run"],
    "matches apply --watch": ["-m", "deploy.ctl.main", "matches", "apply", "--watch"],
    "dispatcher": ["-m", "deploy.ctl.main", "dispatcher"],
    "dispatcher module": ["-m", "workers", "dispatcher"],
    "doctor": ["-m", "deploy.ctl.main", "doctor"],
    "backup run": ["-m", "deploy.ctl.main", "backup", "run"],
    "migrate --directories": ["-m", "deploy.ctl.main", "migrate", "--directories"],
}
WEAK = {"TOKEN_PEPPER": "a", "TRUSTED_PROXIES": "0.0.0.0/0", "STATE_TIMEOUT_SECONDS": "-5"}


def start(
    command: str, settings: Settings, folder: Path, *, prefix: tuple[str, ...] = (), **more: str
) -> tuple[int, str]:
    """Start a part as its operator does; return its exit code and what it printed."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    # No stack that runs in this checkout: the doctor would check that one.
    apart = {"EDGE_BIND": f"unix:{folder}/edge.sock", "ITEMINDEX_DATA_DIR": str(folder), "COLUMNS": "300"}
    environment = {**kept, **settings.environment(), **apart, **more}
    done = subprocess.run(
        [*prefix, sys.executable, *COMMANDS[command]],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_part_that_is_set_up_weakly_does_not_start(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {}
    for command in ("gunicorn", "worker module", "dispatcher module"):
        answers[command] = start(command, settings, tmp_path, **WEAK)
    for command in ("edge", "worker", "dispatcher", "nginx --print", "migrate"):
        code, out, error = runner(settings, capsys)(*command.split(), **{**settings.environment(), **WEAK})
        answers[command] = code, out + error
    for command, (code, printed) in answers.items():
        assert code == 1, command
        lines = [line.removeprefix("itemindex: ") for line in printed.splitlines()]
        assert sorted(line.split()[0] for line in lines) == sorted(WEAK), command
        assert all("; " in line for line in lines), command


def test_a_missing_setting_is_one_line_through_gunicorn(settings: Settings, tmp_path: Path) -> None:
    code, printed = start("gunicorn", replace(settings, state_url="", signing_secret=""), tmp_path)
    (line,) = printed.splitlines()
    assert (code, line.startswith("itemindex: STATE_URL, SIGNING_SECRET must be set")) == (1, True)


PARTS = ("gunicorn", "dispatcher module", "worker module", "worker of reports", "feeds run", "matches apply --watch")


def test_every_part_without_a_database_ends_with_one_line_and_does_not_say_that_it_started(
    settings: Settings, tmp_path: Path
) -> None:
    none = dict.fromkeys(("DATABASE_URL", "EDGE_DATABASE_URL", "WORKER_DATABASE_URL"), "")
    for command in PARTS:
        # A name of another part's database keeps the commands from looking for a stack.
        other = (
            "WORKER_DATABASE_URL"
            if command in ("gunicorn", "feeds run", "matches apply --watch")
            else "EDGE_DATABASE_URL"
        )
        code, printed = start(command, settings, tmp_path, **{**none, other: settings.worker_database_url})
        lines = printed.splitlines()
        assert code == 1 and len(lines) == 1, (command, printed)
        assert lines[0].startswith("itemindex: ") and "DATABASE_URL must be set" in lines[0], command


def test_all_faults_of_settings_are_reported_at_once(settings: Settings, tmp_path: Path) -> None:
    missing = replace(settings, state_url="", broker_url="")
    for command in ("gunicorn", "worker module", "dispatcher module"):
        code, printed = start(command, missing, tmp_path, TOKEN_PEPPER="correct horse " * 4, LEASE_TTL_SECONDS="soon")
        lines = [line.removeprefix("itemindex: ") for line in printed.splitlines()]
        assert (code, len(lines)) == (1, 3), printed
        assert lines[0] == "LEASE_TTL_SECONDS must be a whole number"
        assert lines[1] == "TOKEN_PEPPER repeats itself; make a random one: openssl rand -base64 33"
        assert lines[2].startswith("STATE_URL") and "must be set" in lines[2]


def test_a_worker_does_not_start_with_a_key_of_releases_that_it_cannot_use_or_that_everybody_can_read(
    settings: Settings, tmp_path: Path
) -> None:
    key = tmp_path / "key.pem"
    key.write_bytes(new_key())
    key.chmod(0o644)
    text = tmp_path / "text.pem"
    text.write_text("no key")
    text.chmod(0o600)
    for path, fault in (
        (key, f"{key} can be read by every user of this host; run chmod 600 {key}"),
        (tmp_path / "none.pem", "none.pem cannot be read: No such file or directory; correct the path"),
        (tmp_path, f"{tmp_path} cannot be read: Is a directory; correct the path"),
        (text, f"{text} must be an Ed25519 key as PEM without a password: make one"),
    ):
        code, printed = start("worker module", settings, tmp_path, RELEASE_SIGNING_KEY_FILE=str(path))
        [line] = printed.splitlines()
        assert code == 1 and line.startswith("itemindex: RELEASE_SIGNING_KEY_FILE ") and fault in line, line
    # No other part reads it, and one may run on a host that does not have it.
    code, printed = start(
        "worker of reports", replace(settings, state_url=""), tmp_path, RELEASE_SIGNING_KEY_FILE="/no"
    )
    assert "RELEASE_SIGNING_KEY_FILE" not in printed


def test_a_database_without_a_schema_is_one_line_that_says_what_to_run(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"empty_{uuid4().hex}"
    urls = ("database_url", "edge_database_url", "worker_database_url")
    empty = {url.upper(): urlsplit(getattr(settings, url))._replace(path=f"/{name}").geturl() for url in urls}
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            for command in ("edge", "dispatcher", "worker", "feeds run", "matches apply --watch", "loads list"):
                code, out, error = runner(settings, capsys)(*command.split(), **{**settings.environment(), **empty})
                (line,) = (out + error).splitlines()[-1:]
                assert code == 1 and line.startswith("itemindex: the database has no schema"), (command, line)
                assert "run `itemindex migrate`" in line and "Traceback" not in out + error
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_an_address_of_postgresql_that_cannot_be_read_is_one_line_without_its_password(
    settings: Settings, tmp_path: Path
) -> None:
    for command, name in (
        ("gunicorn", "EDGE_DATABASE_URL"),
        ("worker module", "WORKER_DATABASE_URL"),
        ("dispatcher module", "WORKER_DATABASE_URL"),
        ("migrate --directories", "DATABASE_URL"),
    ):
        code, printed = start(command, settings, tmp_path, **{name: "postgresql://u:hunter%zz2@h/d"})
        (line,) = printed.splitlines()
        assert (code, line.startswith(f"itemindex: {name} is no address of PostgreSQL; set it like")) == (1, True), line


def test_an_address_of_metrics_that_cannot_be_used_ends_each_part_with_one_line(
    settings: Settings, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        for command in ("gunicorn", "dispatcher module", "worker module"):
            for given, reason in (("nowhere", " must be host:port"), (listen, f": {listen} cannot be used: ")):
                code, printed = start(command, settings, tmp_path, METRICS_LISTEN=given)
                assert code == 1 and f"itemindex: METRICS_LISTEN{reason}" in printed.splitlines()[-1], (
                    command,
                    printed,
                )
                assert "Traceback" not in printed


def test_a_graceful_time_of_an_edge_that_is_no_number_is_one_line(settings: Settings, tmp_path: Path) -> None:
    code, printed = start("gunicorn", settings, tmp_path, EDGE_GRACEFUL_SECONDS="soon")
    assert (code, printed) == (1, "itemindex: EDGE_GRACEFUL_SECONDS must be a whole number\n")


def test_a_backup_counts_in_the_directory_that_its_host_serves(settings: Settings, tmp_path: Path) -> None:
    """Its unit names METRICS_DIR, and no METRICS_LISTEN: RestoreUntested sees only what is in the directory."""
    nowhere = {"BACKUP_DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none", "BACKUP_DIR": str(tmp_path / "backup")}
    code, _ = start("backup run", settings, tmp_path, METRICS_DIR=str(tmp_path / "metrics"), **nowhere)
    assert code == 1
    assert b"itemindex_backup_restored_seconds" in exposition(tmp_path / "metrics")


def test_an_edge_does_not_start_as_the_owner_of_the_database(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in replace(settings, edge_database_url=settings.database_url).environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DATABASE_URL", settings.database_url)
    with pytest.raises(ConfigurationError, match="EDGE_DATABASE_URL has the user of DATABASE_URL"):
        read_settings()
    # Without DATABASE_URL an edge has to ask PostgreSQL who owns the schema.
    as_owner = replace(settings, edge_database_url=settings.database_url, database_url="")
    code, printed = start("gunicorn", as_owner, tmp_path)
    (line,) = printed.splitlines()
    assert (code, line.startswith("itemindex: EDGE_DATABASE_URL ")) == (1, True)
    assert "owns the schema; use a login" in line


def on_host(name: str, command: str, settings: Settings, folder: Path, **more: str) -> tuple[int, str]:
    """Start a part on a host of this name: in a namespace of its own."""
    return start(
        command, settings, folder, prefix=("unshare", "--uts", "sh", "-c", f'hostname {name}; exec "$@"', "sh"), **more
    )


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a host of another name")
def test_a_second_host_with_a_disk_of_its_own_is_refused_with_what_to_set(settings: Settings, tmp_path: Path) -> None:
    """With default settings each host has its own RESULTS_DIR and SEARCH_DIR, which the edges of others cannot read."""
    first = replace(settings, results_dir=tmp_path / "one/results", search_dir=tmp_path / "one/search")
    second = replace(settings, results_dir=tmp_path / "two/results", search_dir=tmp_path / "two/search")
    listed = {"DATABASE_URL": settings.database_url}
    assert "where the other hosts have them" in on_host("one", "doctor", first, tmp_path, **listed)[1]
    mounted = replace(second, results_dir=tmp_path / "mounted/results", search_dir=tmp_path / "mounted/search")
    shutil.copytree(tmp_path / "one", tmp_path / "mounted")  # what a mount shows: the same files
    for command in ("edge", "worker", "dispatcher"):
        code, printed = on_host("two", command, second, tmp_path)
        assert code == 1 and "Traceback" not in printed
        here, there = second.results_dir, first.results_dir
        assert (
            f"results: {here} on this host (two) is not {there} of the host one; set S3_BUCKET on every host" in printed
        )
        assert "set SEARCH_IN_STORE on every host, or mount the same SEARCH_DIR on every host" in printed
        assert "itemindex migrate --directories" in printed
    code, printed = on_host("two", "doctor", second, tmp_path, **listed)
    assert code == 1 and "set S3_BUCKET on every host" in printed
    assert faults(mounted, settings.database_url) == []
    bucket = replace(mounted, s3_bucket="items")
    assert [remedy for _, remedy in faults(bucket, settings.database_url)] == [
        "set S3_BUCKET on every host, or mount the same RESULTS_DIR on every host"
    ], "half of the hosts moved"
    code, printed = on_host("two", "migrate --directories", bucket, tmp_path, **listed)
    assert code == 0 and "the bucket items" in printed
    assert faults(bucket, settings.database_url) == []
    assert faults(mounted, settings.database_url) != []


def test_a_host_may_move_its_own_directories_and_two_parts_agree_on_one_marker(
    settings: Settings, tmp_path: Path
) -> None:
    with ThreadPoolExecutor() as pool:
        seen = set(pool.map(lambda _: tuple(place.identity for place in places(settings)), range(16)))
    assert len(seen) == 1
    assert faults(settings, settings.database_url) == []
    assert faults(replace(settings, results_dir=tmp_path / "elsewhere"), settings.database_url) == []
    unwritable = replace(settings, results_dir=Path("/proc/nope"))
    assert [place.name for place in places(unwritable)] == ["search"]
    assert faults(settings, "postgresql://nobody@127.0.0.1:1/none") == [], "a part starts without PostgreSQL"


class _Expired(http.server.BaseHTTPRequestHandler):
    """A bucket whose temporary credentials have expired."""

    def do_GET(self) -> None:
        body = b"<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
        self.send_response(400 if "list-type" not in self.path else 403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def test_expired_credentials_of_the_bucket_are_named_and_never_printed(settings: Settings, tmp_path: Path) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Expired) as bucket:
        thread = threading.Thread(target=bucket.serve_forever)
        thread.start()
        remote = replace(
            settings,
            s3_bucket="items",
            s3_endpoint=f"http://127.0.0.1:{bucket.server_port}",
            s3_access_key_id="AKIAEXPIRED",
            s3_secret_access_key="never-in-a-log",
        )
        code, printed = start("doctor", remote, tmp_path, DATABASE_URL=settings.database_url)
        bucket.shutdown()
        thread.join()
    assert code == 1 and "Traceback" not in printed
    assert "refuses the credentials (ExpiredToken)" in printed and "renew S3_ACCESS_KEY_ID" in printed
    assert "never-in-a-log" not in printed
