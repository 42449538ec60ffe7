"""What mends at night: the commands of docs/guides/night.md that no fault of `outages` tries, and how long each takes."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from deploy.ctl.healthcheck import wait_until_healthy
from deploy.local.paths import Paths, free_port
from deploy.local.service_process import ServiceProcess
from deploy.local.stack import Stack
from shared.db.connect import connect
from tests.assurance.drills.checks import SQL, Check
from tests.assurance.drills.client import Client, decoded
from tests.assurance.drills.restores import fill
from tests.support.accounts import issue_key
from tests.support.backups import COMMAND, BackedUp
from tests.support.demo import load_prices

EDGES, RETRY, WORKER, KILLED, FEEDS, BACKUP, BASE, TRIED = CASES = (
    "Edges restart one after the other",
    "A job is retried",
    "A worker is started",
    "A worker is killed",
    "Feeds are restarted",
    "The backup is restarted",
    "A base backup is taken",
    "A backup is tried",
)
_SECONDS_MAX = 120.0
_LOOK_SECONDS = 0.05
_PAUSE_SECONDS = 0.005


@dataclass
class NightDrill:
    """The drill below a folder; `rows` are observations beside, for the times of backups."""

    folder: Path
    rows: int
    report_progress: Callable[[str], None]
    found: list[Check] = field(default_factory=list)

    def run(self) -> list[Check]:
        """Try each command; whether it mended, and how long that took."""
        self._stack = Stack(Paths.below(self.folder / "service"), free_port())
        try:
            self._stack.start_servers(self.report_progress)
            load_prices(self._stack.settings)
            self._stack.start_service(self.report_progress)
            self._service()
        finally:
            self._stack.stop()
        with BackedUp.running(self.folder / "backed-up") as backed_up:
            self._backups(backed_up)
        return self.found

    def _note(self, name: str, began: float, *, mended: bool, more: str = "") -> None:
        self.report_progress(name)
        self.found.append(Check(name, f"{time.monotonic() - began:.1f} s{more}", mended))

    def _service(self) -> None:
        with connect(self._stack.settings.database_url, application="drill", autocommit=True) as connection:
            connection.execute(SQL.lift_limits)
            key = issue_key(connection, self._stack.settings.token_pepper)
            [(_, self._brand)] = connection.execute(SQL.some_item).fetchall()
        self._client = Client("127.0.0.1", self._stack.port, key, time.monotonic() + 10 * _SECONDS_MAX)
        self._edges()
        workers, feeds = self._part("worker-reports"), self._part("feeds")
        workers.stop()
        waiting = self._order(1)
        began = time.monotonic()
        workers.start()
        self._note(WORKER, began, mended=self._made(waiting))
        workers.stop()
        self._ctl("jobs", "cancel", job := self._job(self._order(2)))
        workers.start()
        self._made(self._order(3))
        began = time.monotonic()
        self._ctl("jobs", "retry", job)
        self._note(RETRY, began, mended=self._until(lambda: self._state(job) == "succeeded"))
        assert workers.process is not None
        waiting = self._order(4)
        os.killpg(workers.process.pid, signal.SIGKILL)
        workers.process.wait()
        began = time.monotonic()
        workers.start()
        self._note(KILLED, began, mended=self._made(waiting))
        feeds.stop()
        before = feeds.program.log.read_text().count('"event":"started"')
        began = time.monotonic()
        feeds.start()
        started = lambda: feeds.program.log.read_text().count('"event":"started"') > before  # noqa: E731
        self._note(FEEDS, began, mended=self._until(started))

    def _edges(self) -> None:
        began, failed = time.monotonic(), 0
        for name in ("edge-a", "edge-b"):
            edge = self._part(name)
            edge.ask_to_end()
            while edge.alive:
                failed += self._fails()
            edge.ensure_ended()
            self._stack.paths.socket(name).unlink(missing_ok=True)
            edge.start()
            bind = {"EDGE_BIND": f"unix:{self._stack.paths.socket(name)}"}
            while not wait_until_healthy(bind, 0.0):
                failed += self._fails()
        self._note(EDGES, began, mended=not failed, more=f" for both, {failed} calls failed")

    def _fails(self) -> bool:
        """Return whether a call fails; it waits a little, because nginx refuses more than 1,000 calls a second."""
        time.sleep(_PAUSE_SECONDS)
        return self._client.once("/health")[0] != 200

    def _backups(self, backed_up: BackedUp) -> None:
        if self.rows:
            with connect(backed_up.url, application="drill", autocommit=True) as connection:
                fill(connection, self.rows)
        backed_up.start_backup()
        self._until(lambda: bool(list(backed_up.backups.glob("*/restored"))))
        backed_up.stop_backup()
        received = backed_up.reaches()
        began = time.monotonic()
        backed_up.start_backup(new=False)
        self._note(BACKUP, began, mended=self._until(lambda: backed_up.reaches() > received))
        size = sum(path.stat().st_size for path in backed_up.bases()[-1].rglob("*") if path.is_file()) / 1e9
        for name, command in ((BASE, "take"), (TRIED, "verify")):
            began = time.monotonic()
            backed_up.ctl("backup", command)
            self._note(name, began, mended=True, more=f" for {size:.2f} GB")

    def _part(self, name: str) -> ServiceProcess:
        return next(child for child in self._stack.children if child.program.name == name)

    def _order(self, day: int) -> str:
        path = f"/index/cohorts?brand={self._brand}&from=2025-01-0{day}&to=2026-12-31"
        return str(decoded(self._client.get(path, Prefer="respond-async")[1])["id"])

    def _made(self, order: str) -> bool:
        return self._until(lambda: decoded(self._client.get(f"/jobs/{order}")[1])["state"] == "succeeded")

    def _job(self, order: str) -> str:
        return self._one("SELECT job_id::text FROM job_orders WHERE id = $1", order)

    def _state(self, job: str) -> str:
        return self._one("SELECT state FROM jobs WHERE id = $1", job)

    def _one(self, query: str, value: str) -> str:
        with connect(self._stack.settings.database_url, application="drill") as connection:
            return str(connection.execute(query, (value,)).fetchall()[0][0])

    def _ctl(self, *arguments: str) -> None:
        environment = {**os.environ, **self._stack.settings.environment()}
        subprocess.run([*COMMAND, *arguments], check=True, capture_output=True, env=environment)

    @staticmethod
    def _until(over: Callable[[], bool]) -> bool:
        ends = time.monotonic() + _SECONDS_MAX
        while time.monotonic() < ends:
            if over():
                return True
            time.sleep(_LOOK_SECONDS)
        return False
