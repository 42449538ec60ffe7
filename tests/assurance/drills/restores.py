"""PostgreSQL killed and deleted while it is written to, and restored to many moments; counts what was lost."""

import datetime
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from shared.db.connect import Connection, connect
from tests.assurance.drills.checks import Check
from tests.support.backups import BackedUp

LOST_SECONDS_MAX = 5.0
BACK_SECONDS_MAX = 90.0
_WRITE = "INSERT INTO written (text) SELECT md5(random()::text) FROM generate_series(1, 20)"
_DIGEST = "SELECT count(*), md5(string_agg(text, '' ORDER BY id)) FROM written"
# As wide as the observations of the index, with an index as theirs.
_FILL = """
CREATE TABLE filled (LIKE observations INCLUDING DEFAULTS);
INSERT INTO filled (item_id, mark, price_minor, day, channel_id, source_id, kind, currency)
SELECT n / 40, n, 100 + n % 5000, date '2026-01-01' + n % 300, n % 7, 1, 'l', 'HKD' FROM generate_series(1, %s) n;
CREATE UNIQUE INDEX ON filled (item_id, day, channel_id, mark);
"""

Digest = tuple[object, ...]


@dataclass
class Found:
    """What the restores brought back."""

    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    lost_seconds: float = 0.0
    checks: list[Check] = field(default_factory=list)


class RestoreDrill:
    """The same seed draws the same moments."""

    def __init__(
        self, folder: Path, moments: int, rows: int, seed: int, report_progress: Callable[[str], None]
    ) -> None:
        self._folder, self._moments, self._rows, self._tell = folder, moments, rows, report_progress
        self._random = random.Random(seed)
        self._digests: list[tuple[datetime.datetime, Digest]] = []
        self._acknowledged = datetime.datetime.min.replace(tzinfo=datetime.UTC)
        self._killed = threading.Event()

    def run(self) -> Found:
        """Write, kill, delete, restore, compare."""
        with BackedUp.running(self._folder) as service:
            with connect(service.url, application="drill", autocommit=True) as connection:
                connection.execute(
                    "CREATE TABLE written (id bigserial PRIMARY KEY, text text, at timestamptz DEFAULT clock_timestamp())"
                )
                if self._rows:
                    self._tell(f"writing {self._rows:,} rows")
                    fill(connection, self._rows)
            self._tell("taking the base backup")
            service.start_backup()
            writer = threading.Thread(target=self._write, args=(service.url,), name="writer", daemon=True)
            writer.start()
            while len(self._digests) < 20 * self._moments:
                time.sleep(0.1)
            last = self._digests[-1][0]
            while service.reaches() < last:
                time.sleep(0.2)
            self._tell("killing PostgreSQL, deleting its directory")
            service.destroy()
            self._killed.set()
            writer.join()
            service.stop_backup()
            return self._restored(service, last)

    def _write(self, url: str) -> None:
        """Commit until the server is gone; a digest behind each commit."""
        with suppress(psycopg.Error), connect(url, application="drill", autocommit=True) as connection:
            while not self._killed.is_set():
                connection.execute(_WRITE)
                [(moment,)] = connection.execute("SELECT clock_timestamp()").fetchall()
                self._acknowledged = moment.astimezone(datetime.UTC)
                self._digests.append((self._acknowledged, _digest(connection)))

    def _restored(self, service: BackedUp, last: datetime.datetime) -> Found:
        found = Found()
        known = [one for one in self._digests if one[0] <= last]
        for number, (moment, digest) in enumerate(self._random.sample(known, self._moments)):
            self._tell(f"restore {number + 1} of {self._moments}")
            if self._back(service, found, "--to", moment.isoformat()) != digest:
                found.wrong.append(moment.isoformat())
            service.destroy()
        self._back(service, found)
        with connect(service.url, application="drill") as connection:
            [(newest,)] = connection.execute("SELECT max(at) FROM written").fetchall()
        found.lost_seconds = max(0.0, (self._acknowledged - newest).total_seconds())
        slowest = max(found.seconds)
        found.checks = [
            Check(
                "each moment has the digest that was recorded",
                f"{len(found.wrong)} wrong of {self._moments}",
                not found.wrong,
            ),
            Check("at most 5 s are lost", f"{found.lost_seconds:.2f} s", found.lost_seconds <= LOST_SECONDS_MAX),
            Check("back within 90 s", f"{slowest:.1f} s at most", slowest <= BACK_SECONDS_MAX),
        ]
        return found

    @staticmethod
    def _back(service: BackedUp, found: Found, *options: str) -> Digest:
        """Restore, start the server and return the digest; note how long it took until it answered."""
        began = time.monotonic()
        service.ctl("restore", *options, "--into", str(service.data))
        service.start_server()
        found.seconds.append(time.monotonic() - began)
        with connect(service.url, application="drill") as connection:
            return _digest(connection)


def fill(connection: Connection, rows: int) -> None:
    """Make a table of as many rows, each as wide as an observation."""
    for statement in _FILL.split(";")[:-1]:
        connection.execute(statement.replace("%s", str(rows)).encode())


def _digest(connection: Connection) -> Digest:
    [digest] = connection.execute(_DIGEST).fetchall()
    return digest
