"""The embedded servers for tests: started once per test process, a fresh database for each test."""

import itertools
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self

import psycopg
import pytest
import valkey

from deploy.local import postgres
from deploy.local import valkey as local_valkey
from deploy.local.paths import Paths
from deploy.local.service_process import Program, ServiceProcess, tail
from shared.db.connect import connect
from shared.db.migrate import migrate
from shared.settings.settings import Settings
from tests.support.database import end_session

_FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    # A test opens some ten connections; 4,096 rounds of hashing would be most of what each of them costs its client.
    "scram_iterations": "1",
    "wal_compression": "off",
    # It would visit each template and each test's database in turn; what it writes makes one that a test only read change.
    "autovacuum": "off",
    # A database is some six hundred small files: the kernel copies them for less than reading and writing each does.
    "file_copy_method": "clone",
}

# Ten times a second is for servers with work: those of four test processes would wake the cores eighty times.
_STORE_FAST = ("--hz", "2")

# A copy of a database is hundreds of small files: in memory they cost a third of what they do on a disk.
_MEMORY, _MEMORY_BYTES_MIN = Path("/dev/shm"), 2 << 30

# Brings something into an empty index: its database, its folders. The path is a folder for files on the way.
Contents = Callable[[Settings, Path], object]


def begins_with(contents: Contents) -> pytest.MarkDecorator:
    """Let a test begin with these contents, whatever the other tests of its module begin with."""
    return pytest.mark.parametrize("contents", [contents])


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """Make a folder for as long as the block lasts: in memory where there is room, else where temporary files go."""
    roomy = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _MEMORY_BYTES_MIN
    with tempfile.TemporaryDirectory(prefix="itemindex-tests-", dir=_MEMORY if roomy else None) as name:
        yield Path(name)


class Servers:
    """PostgreSQL with templates of what tests begin with, a state store and a cache store."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.secrets = paths.secrets()
        self.children: dict[str, ServiceProcess] = {}
        self._numbers = itertools.count()
        self._templates: dict[Contents | None, str] = {}
        self._unchanged = ("", "")
        self._owner: psycopg.Connection[tuple[object, ...]]
        self._stores: tuple[valkey.Valkey, ...]

    @classmethod
    @contextmanager
    def running(cls, folder: Path, options: dict[str, str] | None = None) -> Iterator[Self]:
        """Run the servers for as long as the block lasts; `options` are PostgreSQL's."""
        servers = cls(Paths.below(folder))
        try:
            servers.start(
                postgres.program(servers.paths, servers.secrets["owner_password"], {**_FAST, **(options or {})})
            )
            for store in (local_valkey.state(servers.paths), local_valkey.cache(servers.paths)):
                servers.start(replace(store, command=[*store.command, *_STORE_FAST]))
            postgres.prepare(servers.paths, servers.secrets)
            owner = servers.url(postgres.OWNER, "owner", "postgres")
            with (
                psycopg.connect(owner, autocommit=True) as servers._owner,
                servers._store("state") as state,
                servers._store("cache") as cache,
            ):
                servers._stores = (state, cache)
                # Its password is older than the number of rounds.
                servers._owner.execute(f"ALTER ROLE {postgres.OWNER} PASSWORD '{servers.secrets['owner_password']}'")
                servers._template(None)
                yield servers
        finally:
            for child in reversed(servers.children.values()):
                child.stop()

    def start(self, program: Program) -> ServiceProcess:
        """Start one server and wait for it."""
        child = ServiceProcess(program)
        self.children[program.name] = child
        child.start()
        assert child.wait_ready(30), tail(program.log, 20)
        return child

    @contextmanager
    def fresh(self, folder: Path | None = None, contents: Contents | None = None) -> Iterator[Settings]:
        """Make a database of its own with these contents, empty the stores, and return the settings for them.

        Contents are made once; every database that begins with them is a copy, as are the files that belong to it: they
        go into the folder, or into one of their own that is gone after the block. A database in which nothing was
        written is the next one that begins with the same contents.
        """
        template = self._template(contents)
        own = self.paths.root / f"test_{next(self._numbers)}"
        own.mkdir()
        name = self._database(template, own.name)
        transaction = self._next_transaction()
        for kept in ("search", "results"):
            if (self.paths.root / template / kept).exists():
                shutil.copytree(self.paths.root / template / kept, (folder or own) / kept)
        for store in self._stores:
            store.flushall()
        try:
            yield self.settings(name, folder or own)
        finally:
            self._end_sessions(name)
            self._keep_or_drop(template, name, unchanged=self._next_transaction() == transaction)
            shutil.rmtree(own)

    def settings(self, database: str, folder: Path) -> Settings:
        """Return settings for one database."""
        base = Settings.from_environment({"STATE_URL": local_valkey.url(self.paths, "state")})
        return replace(
            base,
            database_url=self.url(postgres.OWNER, "owner", database),
            edge_database_url=self.url(postgres.EDGE, "edge", database),
            worker_database_url=self.url(postgres.WORKER, "worker", database),
            cache_url=local_valkey.url(self.paths, "cache"),
            token_pepper="a pepper for tests, long enough to be one",
            signing_secret="a secret for tests, long enough to be one",
            search_dir=folder / "search",
            match_dir=folder / "match",
            feeds_dir=folder / "feeds",
            results_dir=folder / "results",
            access_log=str(folder / "access.log"),
            base_url="http://testserver/v1",
            problem_base_url="http://testserver/v1/errors",
            drain_seconds=0.0,
            # Most tests want an organization that has its plan; those of approval set it otherwise.
            plan_approval="none",
            # A test calls faster than a person; those of the limit set it lower.
            person_calls_per_second=10_000,
            # A machine full of tests is no outage; a test of an outage sets how long to wait.
            state_timeout_seconds=5.0,
            database_timeout_seconds=30.0,
            oidc_timeout_seconds=10.0,
        )

    def url(self, user: str, name: str, database: str) -> str:
        """Return a login's address of a database."""
        return postgres.url(self.paths, user, self.secrets[f"{name}_password"], database)

    def _store(self, name: str) -> valkey.Valkey:
        return valkey.Valkey(unix_socket_path=str(self.paths.socket(name)))

    def _database(self, template: str, name: str) -> str:
        kept_template, kept = self._unchanged
        self._unchanged = ("", "")
        if kept and kept_template == template:
            return kept
        if kept:
            self._drop(kept)
        self._copy(template, name)
        return name

    def _keep_or_drop(self, template: str, name: str, *, unchanged: bool) -> None:
        if unchanged and not self._unchanged[1]:
            self._unchanged = (template, name)
        else:
            self._drop(name)

    def _copy(self, template: str, name: str) -> None:
        # The other strategy writes each page into the log: seven times the work.
        self._owner.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY')

    def _drop(self, name: str) -> None:
        self._owner.execute(f'DROP DATABASE "{name}" WITH (FORCE)')

    def _next_transaction(self) -> object:
        """Return the number of the next transaction that writes, into whichever database.

        Every transaction takes one that changes a row, a definition or a setting, committed or not; so does one that
        draws the first number of a sequence since a checkpoint, and each database is copied behind one. Readers do not.
        """
        return self._owner.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())").fetchone()

    def _end_sessions(self, database: str) -> None:
        """End its sessions and see them gone, sooner than DROP DATABASE, which looks once in a tenth of a second."""
        end_session()
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        while self._owner.execute(query, (database,)).fetchall():
            time.sleep(0.001)

    def _template(self, contents: Contents | None) -> str:
        if contents not in self._templates:
            name = f"template_{next(self._numbers)}"
            folder = self.paths.root / name
            folder.mkdir()
            origin = "template1" if contents is None else self._template(None)
            self._copy(origin, name)
            if contents is None:
                with connect(self.url(postgres.OWNER, "owner", name), application="tests") as connection:
                    migrate(connection)
            else:
                contents(self.settings(name, folder), folder)
                end_session()
            self._templates[contents] = name
        return self._templates[contents]
