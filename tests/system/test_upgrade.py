"""Upgrading under load: the schema grows, then each part is replaced in its turn, and no caller notices."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from deploy.ctl.healthcheck import wait_until_healthy
from deploy.local import valkey
from deploy.local.paths import Paths, free_port
from deploy.local.service_process import ServiceProcess, tail
from deploy.local.stack import Stack
from shared.db.connect import connect
from tests.assurance.drills.checks import SQL
from tests.support.accounts import issue_key
from tests.support.demo import load_prices
from tests.support.traffic import Traffic
from tests.system.conftest import PROJECT

pytestmark = [pytest.mark.xdist_group("upgrade"), pytest.mark.timeout(300)]

PARTS = ("edge-a", "edge-b", "dispatcher", "worker-a", "worker-b")
_QUEUES = "maintenance,reports,exports"
# What a later release may do to tables that are in use, each in its own transaction with the others.
LATER = PROJECT / "tests/support/later.sql"
_READY_SECONDS = 60.0
_JOBS_SECONDS = 60.0


class Upgrade:
    """A stack of the old code, and the new code beside it: the same with one migration more."""

    def __init__(self, folder: Path) -> None:
        self.new = folder / "new"
        for name in ("edge", "workers", "shared", "deploy"):
            shutil.copytree(PROJECT / name, self.new / name)  # with its bytecode, which is that of the same sources
        shutil.copyfile(LATER, self.new / "shared/db/migrations/9999_later.sql")
        workers = tuple((f"worker-{name}", _QUEUES, 2) for name in "ab")
        self.stack = Stack(Paths.below(folder / "data"), free_port(), workers=workers, loads=False)

    def start(self) -> None:
        """Start the old code on the demo data. Results are sent by the edges: nginx needs no edge to go on sending."""
        stack = self.stack
        stack.start_servers(lambda what: None)
        broker = f"redis+socket://{valkey.url(stack.paths, 'state').removeprefix('unix://')}?virtual_host=1"
        stack.settings = replace(stack.settings, x_accel_location="", revision="old", broker_url=broker)
        stack.identity = None  # no one signs in
        load_prices(stack.settings)
        stack.start_service(lambda what: None)

    def traffic(self) -> Traffic:
        """Return callers of the service who are under no limit."""
        with connect(self.stack.settings.database_url, application="tests") as connection:
            connection.execute(SQL.lift_limits)
            key = issue_key(connection, self.stack.settings.token_pepper)
            iids = [row[0] for row in connection.execute("SELECT iid FROM items ORDER BY iid LIMIT 20")]
            row = connection.execute("SELECT slug FROM brands ORDER BY item_count DESC LIMIT 1").fetchone()
        assert row is not None
        return Traffic(self.stack.port, key, iids, row[0])

    def ctl(self, *arguments: str) -> str:
        """Run `itemindex` of the new code, as its image would."""
        environment = {**os.environ, **self.stack.settings.environment(), **self.is_new()}
        done = subprocess.run(
            [sys.executable, "-m", "deploy.ctl.main", *arguments],
            cwd=self.new,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def put(self, part: str, *, new: bool) -> None:
        """Stop a part in order and start it from the other code."""
        child = self.child(part)
        program = child.program
        child.stop()
        if part.startswith("edge"):
            self.stack.paths.socket(part).unlink(missing_ok=True)
        environment = {**program.environment, "REVISION": "old", "PYTHONPATH": ""}
        child.program = replace(program, environment={**environment, **(self.is_new() if new else {})})
        child.start()
        if part.startswith("edge"):
            bind = {"EDGE_BIND": f"unix:{self.stack.paths.socket(part)}"}
            assert wait_until_healthy(bind, _READY_SECONDS), tail(program.log)

    def child(self, part: str) -> ServiceProcess:
        """Return the program of a part."""
        return next(child for child in self.stack.children if child.program.name == part)

    def is_new(self) -> dict[str, str]:
        """Return the environment that makes a process one of the new code."""
        return {"PYTHONPATH": str(self.new), "REVISION": "new"}


@pytest.fixture
def upgrade(tmp_path: Path) -> Iterator[Upgrade]:
    made = Upgrade(tmp_path)
    try:
        made.start()
        yield made
    finally:
        for child in made.stack.children:
            child.program = replace(child.program, stop_seconds=0.5)  # nothing of it is needed any more
        made.stack.stop()


def until(condition: Callable[[], object], reported: str = "", seconds: float = _READY_SECONDS) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, reported
        time.sleep(0.05)


@contextlib.contextmanager
def long_report(url: str) -> Iterator[None]:
    """A transaction reads the very tables that a migration wants to change, and continues to read."""
    with psycopg.connect(url) as connection:
        connection.execute("SELECT FROM items, jobs, job_orders LIMIT 1")
        yield


def test_every_part_is_replaced_and_no_caller_notices(upgrade: Upgrade) -> None:
    traffic = upgrade.traffic()
    until(lambda: traffic.call("GET", "/ready")[1]["status"] == "ready", "the search index is not made")
    settings = upgrade.stack.settings
    status, export = traffic.call(
        "POST", "/index/exports", b'{"dataset": "observations", "format": "csv"}', Content_Type="application/json"
    )
    assert status == 202, export
    path = f"/index/exports/{export['id']}"
    until(lambda: traffic.call("GET", path)[1]["manifest"], "the export is not made")
    [file] = traffic.call("GET", path)[1]["manifest"]["files"]

    traffic.start()
    until(lambda: len(traffic.answers) == 7, str(traffic.answers))
    with long_report(settings.worker_database_url):
        migrating = subprocess.Popen(
            [sys.executable, "-m", "deploy.ctl.main", "migrate"],
            cwd=upgrade.new,
            env={**os.environ, **settings.environment(), **upgrade.is_new()},
            stdout=subprocess.PIPE,
        )
        trying = "SELECT FROM pg_stat_activity WHERE application_name = 'itemindex-migrate'"
        with psycopg.connect(settings.database_url, autocommit=True) as connection:
            until(lambda: connection.execute(trying).fetchone() is not None, "no migration runs")
        answered = traffic.answers["order"]
        until(lambda: traffic.answers["order"] > answered + 4 or traffic.failures, "no order is taken meanwhile")
        assert migrating.poll() is None, "it did not wait for the report"
        assert traffic.failures == [], "while the migration waited"
    printed, _ = migrating.communicate(timeout=60)
    assert b"9999_later" in printed
    assert "9999_later" in upgrade.ctl("migrate", "--dry-run", "--json")

    traffic.download(f"/v1{path}/files/{file['name']}", 5.0)
    for part in PARTS:
        upgrade.put(part, new=True)
        assert traffic.failures == [], part
    before = traffic.revisions.copy()
    until(lambda: traffic.revisions["api-new"] > before["api-new"] + 20)
    assert traffic.revisions["api-old"] == before["api-old"] > 0
    upgrade.put("edge-b", new=False)  # and back: the old code lives with the new schema
    until(lambda: traffic.revisions["api-old"] > before["api-old"] + 5)
    traffic.stop()

    assert traffic.failures == []
    assert traffic.answers["download"] == 1
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        ended = "SELECT state, count(*)::int FROM jobs j JOIN job_orders o ON o.job_id = j.id WHERE o.id = ANY($1::uuid[]) GROUP BY 1"
        until(
            lambda: {s for s, _ in connection.execute(ended, (traffic.jobs,))} <= {"succeeded", "failed"},
            "jobs are still under way",
            _JOBS_SECONDS,
        )
        assert dict(connection.execute(ended, (traffic.jobs,)).fetchall()) == {"succeeded": len(traffic.jobs)}
