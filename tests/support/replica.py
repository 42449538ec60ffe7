"""A primary that streams, and a replica of it, made as an operator makes one: by pg_basebackup."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self

import psycopg
from psycopg.types.json import Jsonb

from deploy.local import postgres
from deploy.local.paths import Paths
from deploy.local.service_process import ServiceProcess, tail
from shared.db.connect import Connection, connect
from shared.jobs.contract import JOB_KINDS
from shared.settings.settings import Settings
from tests.support.servers import Servers

# A replica that was killed copies a database's template again, which may have changed since: only whole pages in the log make
# of that copy what it was before.
# A vacuum by itself could cancel a reading at any moment.
STREAMING = {"wal_level": "replica", "max_wal_senders": "4", "full_page_writes": "on", "autovacuum": "off"}
LOGIN, PASSWORD = "itemindex_analytics_login", "only-for-reading"


class Pair:
    """A primary's servers, and its replica."""

    def __init__(self, primary: Servers, paths: Paths) -> None:
        self.primary = primary
        self.paths = paths
        self.child: ServiceProcess

    @classmethod
    @contextmanager
    def running(cls, folder: Path) -> Iterator[Self]:
        """Run both for as long as the block lasts."""
        with Servers.running(folder / "primary", STREAMING) as primary:
            pair = cls(primary, Paths.below(folder / "replica"))
            login = f"CREATE ROLE {LOGIN} LOGIN PASSWORD '{PASSWORD}' IN ROLE itemindex_analytics"
            with connect(primary.url(postgres.OWNER, "owner", "postgres"), application="tests") as connection:
                connection.execute(login)
            pair._copy()
            pair.start()
            try:
                yield pair
            finally:
                pair.child.stop()

    def start(self) -> None:
        """Start the replica, and wait until it answers."""
        self.child = ServiceProcess(postgres.program(self.paths, self.primary.secrets["owner_password"]))
        self.child.start()
        assert self.child.wait_ready(30), tail(self.child.program.log, 20)

    def kill(self) -> None:
        """Kill the replica with all its processes, in the middle of whatever they do.

        A backend is the leader of a session of its own: a signal to the group of the postmaster does not reach it, and
        until it notices that its postmaster is gone it would answer one more statement.
        """
        assert self.child.process is not None
        backends = [int(str(pid)) for (pid,) in self.on_replica("SELECT pid FROM pg_stat_activity")]
        os.killpg(self.child.process.pid, signal.SIGKILL)
        for pid in backends:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.child.process.wait(10)

    def settings(self, primary: Settings, wait_seconds: float = 20.0) -> Settings:
        """Return settings with which reports are read from the replica, by the role that may only read."""
        database = primary.database_url.partition("@/")[2].partition("?")[0]
        url = postgres.url(self.paths, LOGIN, PASSWORD, database)
        return replace(primary, replica_database_url=url, replica_wait_seconds=wait_seconds)

    def catch_up(self) -> None:
        """Wait until the replica has replayed all that the primary has written so far."""
        owner = self.primary.url(postgres.OWNER, "owner", "postgres")
        with connect(owner, application="tests", autocommit=True) as connection:
            connection.execute("SET synchronous_commit = on")
            row = connection.execute("SELECT pg_logical_emit_message(true, 'tests', 'so far')").fetchone()
        assert row is not None
        while self.on_replica(f"SELECT pg_last_wal_replay_lsn() >= '{row[0]}'") != [(True,)]:
            time.sleep(0.02)

    def on_replica(self, statement: str) -> list[tuple[object, ...]]:
        """Run a statement on the replica as its owner."""
        with psycopg.connect(self._owner(), autocommit=True) as connection:
            return connection.execute(statement).fetchall()

    def set(self, name: str, value: str) -> None:
        """Change a setting of the replica while it runs."""
        with psycopg.connect(self._owner(), autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
            connection.execute("SELECT pg_reload_conf()")

    def _owner(self) -> str:
        return postgres.url(self.paths, postgres.OWNER, self.primary.secrets["owner_password"], "postgres")

    def _copy(self) -> None:
        prefix, user = postgres.identity()
        directory = self.paths.root / "postgres"
        directory.mkdir(mode=0o700)
        if user is not None:
            os.chown(directory, user, user)
        source = self.primary.url(postgres.OWNER, "owner", "postgres")
        command = [
            *prefix,
            postgres.binary("pg_basebackup"),
            "-D",
            str(directory),
            "-d",
            source,
            "--write-recovery-conf",
            "--wal-method=stream",
            "--checkpoint=fast",
            "--no-sync",
        ]
        options = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)  # type: ignore[call-overload]
        assert done.returncode == 0, done.stderr


def ordered(settings: Settings, kind: str = "cohorts", format: str = "json", **parameters: object) -> str:
    """Put a report in the queue, as of the newest data_version."""
    with connect(settings.database_url, application="tests") as connection:
        row = connection.execute(
            """INSERT INTO jobs (kind, queue, parameters, fingerprint, data_version, attempts_max, format)
            SELECT $1, 'reports', $2, uuidv7()::text, coalesce(max(version), 0), $3, $4 FROM data_versions
            RETURNING id::text""",
            (kind, Jsonb(parameters), JOB_KINDS[kind].attempts_max, format),
        ).fetchone()
        assert row is not None
        return str(row[0])


def in_recovery(connection: Connection) -> bool:
    """Return whether a connection leads to the replica."""
    row = connection.execute("SELECT pg_is_in_recovery()").fetchone()
    assert row is not None
    return bool(row[0])
