"""A PostgreSQL that is backed up, killed, deleted and restored: as an operator does it, by the commands."""

import datetime
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.local import postgres
from deploy.local.backups import timelines
from deploy.local.paths import PROJECT, Paths
from deploy.local.service_process import Program, ServiceProcess, tail
from shared.db.connect import connect
from shared.db.migrate import migrate

COMMAND = [sys.executable, "-m", "deploy.ctl.main"]
STREAMING = {
    "wal_level": "replica",
    "max_wal_senders": "4",
    "full_page_writes": "on",
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "64MB",
    "scram_iterations": "1",
}
LOGIN, PASSWORD = "itemindex_backup_login", "only-for-backups"


class BackedUp:
    """PostgreSQL with the schema, and what backs it up."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = Paths.below(folder / "service")
        self.secrets = self.paths.secrets()
        self.backups = folder / "100 %f of it's backups"  # a shell and PostgreSQL read this name
        self.data = self.paths.root / "postgres"
        self.bucket: dict[str, str] = {}
        """The settings of a bucket that has a copy."""
        self.url = postgres.url(self.paths, postgres.OWNER, self.secrets["owner_password"])
        self._server: ServiceProcess
        self._backup: ServiceProcess | None = None

    @classmethod
    @contextmanager
    def running(cls, folder: Path, like: Path | None = None) -> Iterator["BackedUp"]:
        """Run the server for as long as the block lasts; `like`: the folder of one that has ended, to begin with a copy."""
        if like is not None:
            shutil.copytree(like / "service", folder / "service")
        made = cls(folder)
        made.start_server()
        try:
            if like is None:
                postgres.prepare(made.paths, made.secrets)
                with connect(made.url, application="tests") as connection:
                    migrate(connection)
                    connection.execute(f"CREATE ROLE {LOGIN} LOGIN REPLICATION PASSWORD '{PASSWORD}'")
                    connection.execute(f"GRANT CONNECT ON DATABASE {postgres.DATABASE} TO {LOGIN}")
            yield made
        finally:
            made.stop_backup()
            made._server.stop()

    def start_server(self) -> None:
        """Start PostgreSQL on its directory, and wait for it."""
        self._server = ServiceProcess(postgres.program(self.paths, self.secrets["owner_password"], STREAMING))
        self._server.start()
        assert self._server.wait_ready(60), tail(self._server.program.log, 20)

    def destroy(self) -> None:
        """Kill PostgreSQL with all its processes, and delete its directory."""
        assert self._server.process is not None
        with connect(self.url, application="tests") as connection:
            backends = [int(str(pid)) for (pid,) in connection.execute("SELECT pid FROM pg_stat_activity").fetchall()]
        os.killpg(self._server.process.pid, signal.SIGKILL)
        for pid in backends:
            if Path(f"/proc/{pid}").exists():
                os.kill(pid, signal.SIGKILL)
        self._server.process.wait(10)
        shutil.rmtree(self.data)

    def start_backup(self, *, new: bool = True) -> None:
        """Start `itemindex backup run`; on a timeline that has no backup yet (`new`), wait for its base backup."""
        before = len(self.bases())
        program = Program(
            name="backup",
            command=[*COMMAND, "backup", "run"],
            log=self.folder / "backup.log",
            environment=self.environment,
            ready=lambda: not new or len(self.bases()) > before,
        )
        self._backup = ServiceProcess(program)
        self._backup.start()
        assert self._backup.wait_ready(120), tail(program.log, 20)

    def bases(self) -> list[Path]:
        """List the complete base backups of all timelines."""
        return sorted(self.backups.glob("*/base/[0-9]*Z"))

    def stop_backup(self) -> None:
        """Stop it, if it runs."""
        if self._backup is not None:
            self._backup.stop()

    @property
    def environment(self) -> dict[str, str]:
        """The settings of the backup."""
        return {
            "BACKUP_DATABASE_URL": postgres.url(self.paths, LOGIN, PASSWORD),
            "BACKUP_DIR": str(self.backups),
            "COLUMNS": "400",
            **self.bucket,
        }

    def ctl(self, *arguments: str, code: int = 0, **more: str) -> str:
        """Run `itemindex` with the backup's settings; return what it printed."""
        kept = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
        done = subprocess.run(
            [*COMMAND, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=PROJECT,
            env={**kept, **self.environment, **more},
            timeout=300,
        )
        printed = done.stdout + done.stderr
        assert done.returncode == code and "Traceback" not in printed, printed
        return printed

    def reaches(self) -> datetime.datetime:
        """Return the last moment that the newest backup can be restored to, from where `itemindex backup list` has it."""
        newest, base = [(one, base.moment) for one in timelines(self.backups) for base in one.bases()][-1]
        return max(newest.received_until() or base, base)
