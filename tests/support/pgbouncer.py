"""PgBouncer of Debian's package in transaction mode, in front of the tests' PostgreSQL."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from deploy.local import postgres
from deploy.local.paths import free_port
from deploy.local.service_process import Program, ServiceProcess, tail

MISSING = "" if shutil.which("pgbouncer") else "pgbouncer is not installed"
"""Why it cannot be run here; empty where it can."""


@contextmanager
def pgbouncer(folder: Path, url: str, connections: int) -> Iterator[str]:
    """Run it for as long as the block lasts, with so few connections to the server; return its address for the login."""
    named = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    port = free_port()
    settings = {
        "listen_addr": "127.0.0.1",
        "listen_port": port,
        "unix_socket_dir": "",
        "auth_type": "scram-sha-256",
        "auth_file": folder / "users.txt",
        "pool_mode": "transaction",
        "default_pool_size": connections,
        "max_client_conn": 200,
        # Each transaction goes to the connection that was not used for longest: what a session leaves behind is found.
        "server_round_robin": 1,
    }
    lines = [f"{name} = {value}" for name, value in settings.items()]
    database = f"{named['dbname']} = host={named['host']} port={named['port']} dbname={named['dbname']}"
    (folder / "pgbouncer.ini").write_text("\n".join(["[databases]", database, "[pgbouncer]", *lines, ""]))
    (folder / "users.txt").write_text(f'"{named["user"]}" "{named["password"]}"\n')
    prefix, user = postgres.identity()  # it refuses to run as root, as PostgreSQL does
    for path in (folder, folder / "pgbouncer.ini", folder / "users.txt"):
        os.chown(path, user if user is not None else -1, user if user is not None else -1)
    address = f"postgresql://{named['user']}:{named['password']}@127.0.0.1:{port}/{named['dbname']}"

    def answers() -> bool:
        try:
            with psycopg.connect(address, connect_timeout=5):
                return True
        except psycopg.OperationalError:
            return False

    program = Program(
        name="pgbouncer",
        command=[*prefix, str(shutil.which("pgbouncer")), str(folder / "pgbouncer.ini")],
        log=folder / "pgbouncer.log",
        ready=answers,
        user=user,
    )
    child = ServiceProcess(program)
    child.start()
    try:
        assert child.wait_ready(30), tail(program.log, 20)
        yield address
    finally:
        child.stop()
