"""Numbered migrations, forward only, one transaction each, under an advisory lock with time-outs.

A file is `NNNN_what.sql` and begins with `-- phase: expand` (old code still works afterwards) or `-- phase: contract`.
One that builds an index CONCURRENTLY is a single statement, and runs outside a transaction, as PostgreSQL wants it.
"""

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import psycopg

from shared.db.connect import Connection
from shared.errors import MigrationRefused

DIRECTORY = Path(__file__).with_name("migrations")
_NAME = re.compile(r"(?P<number>\d{4})_[a-z0-9_]+\.sql")
_PHASE = re.compile(r"\A-- phase: (?P<phase>expand|contract)\n")
_LOCK_KEY = 0x17E311DE
# While a statement waits for its lock, all later ones wait behind it: no longer than an edge waits for an
# answer. A report that reads the table for a minute is outlasted by trying again, not by waiting.
_LOCK_TIMEOUT = "200ms"
_LOCK_SECONDS_MAX = 300.0
_LOCK_PAUSE_SECONDS = (0.2, 1.0)
_STATEMENT_TIMEOUT = "10min"
_TURN_PAUSE_SECONDS = 0.2
_CONCURRENT_INDEX = re.compile(r"CREATE (?:UNIQUE )?INDEX CONCURRENTLY (?:IF NOT EXISTS )?(?P<index>[a-z0-9_]+) ON")

_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    number integer PRIMARY KEY, name text NOT NULL, phase text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())
"""


@dataclass(frozen=True)
class LockPatience:
    """How long a migration waits for the lock of a table: at a time, and in all."""

    timeout: str = _LOCK_TIMEOUT
    seconds_max: float = _LOCK_SECONDS_MAX


_PATIENCE = LockPatience()


class Migration(NamedTuple):
    """One step of the schema."""

    number: int
    name: str
    phase: str
    sql: str


def available(directory: Path = DIRECTORY) -> list[Migration]:
    """Return all migrations in order; raise ValueError on a twin or a missing phase.

    A number may be missing: branches reserve theirs, and a later migration with a lower number is still applied.
    """
    steps = [_read(path) for path in sorted(directory.glob("*.sql"))]
    if len({step.number for step in steps}) != len(steps):
        raise ValueError("two migrations have the same number")
    return steps


def pending_migrations(connection: Connection) -> list[Migration]:
    """Return what the database still lacks, without changing anything."""
    exists = connection.execute("SELECT to_regclass('schema_migrations') IS NOT NULL").fetchone()
    done = (
        {row[0] for row in connection.execute("SELECT number FROM schema_migrations")}
        if exists and exists[0]
        else set()
    )
    connection.rollback()
    return [step for step in available() if step.number not in done]


def migrate(
    connection: Connection,
    applied: Callable[[Migration], None] = lambda step: None,
    *,
    contract: bool = True,
    patience: LockPatience = _PATIENCE,
) -> list[Migration]:
    """Apply the missing migrations and return them; without `contract` only those with which old code works.

    Two at once are safe: the second waits, then finds nothing to do. Raises MigrationRefused where no lock can be had.
    """
    _take_turn(connection)
    try:
        connection.execute(_TABLE)
        connection.commit()
        steps = pending_migrations(connection)
        if not contract and len(steps) < len(available()):  # an empty database has no old code
            steps = [step for step in steps if step.phase == "expand"]
        for step in steps:
            _apply(connection, step, patience)
            applied(step)
        return steps
    finally:
        connection.rollback()
        connection.execute("SELECT pg_advisory_unlock($1)", (_LOCK_KEY,))
        connection.commit()


def _take_turn(connection: Connection) -> None:
    """Wait while another migrates; asking again, because one that waits in a statement holds a snapshot, for which the
    other's index that is built CONCURRENTLY would wait in turn."""
    while True:
        [(taken,)] = connection.execute("SELECT pg_try_advisory_lock($1)", (_LOCK_KEY,)).fetchall()
        connection.commit()
        if taken:
            return
        time.sleep(_TURN_PAUSE_SECONDS)


def _apply(connection: Connection, step: Migration, patience: LockPatience) -> None:
    ends = time.monotonic() + patience.seconds_max
    while True:
        try:
            return _try(connection, step, patience.timeout)
        except psycopg.errors.LockNotAvailable:
            if time.monotonic() > ends:
                raise MigrationRefused(
                    f"{step.name}: a table it changes was in use for {patience.seconds_max:.0f} s"
                ) from None
            time.sleep(random.uniform(*_LOCK_PAUSE_SECONDS))  # noqa: S311 - two who met must not meet again


def _try(connection: Connection, step: Migration, lock_timeout: str) -> None:
    if "CONCURRENTLY" in step.sql:
        connection.autocommit = True
        for found in _CONCURRENT_INDEX.finditer(step.sql):
            _drop_invalid(connection, found["index"])
        connection.execute(step.sql)
        connection.autocommit = False
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{lock_timeout}'")
        connection.execute(f"SET LOCAL statement_timeout = '{_STATEMENT_TIMEOUT}'")
        if "CONCURRENTLY" not in step.sql:
            connection.execute(step.sql)
        connection.execute(
            "INSERT INTO schema_migrations (number, name, phase) VALUES ($1, $2, $3)",
            (step.number, step.name, step.phase),
        )


def _drop_invalid(connection: Connection, index: str) -> None:
    """Drop what an interrupted build has left: it would count as existing, and serve no query."""
    left = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid"
    if connection.execute(left, (index,)).fetchone():
        connection.execute(f"DROP INDEX CONCURRENTLY {index}")


def _read(path: Path) -> Migration:
    name = _NAME.fullmatch(path.name)
    text = path.read_text(encoding="utf-8")
    phase = _PHASE.match(text)
    if not name or not phase:
        raise ValueError(
            f"{path.name}: the name must be NNNN_what.sql and the first line `-- phase: expand` or contract"
        )
    return Migration(int(name["number"]), path.stem, phase["phase"], text)
