"""A connection that is kept idle from one job to the next."""

import contextlib
import select
import time
from collections.abc import Callable, Iterator

from psycopg.pq import TransactionStatus

from shared.db.connect import Connection


class KeptConnection:
    """Lends one connection at a time, and keeps it idle for `idle_seconds_max`; with 0 each one is closed.

    It is kept only after `keep`, and only where no transaction is left in its session.
    """

    def __init__(
        self, connect: Callable[[], Connection], idle_seconds_max: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._connect = connect
        self._idle_seconds_max = idle_seconds_max
        self._clock = clock
        self._idle: Connection | None = None
        self._idle_since = 0.0
        self._keep = False

    @contextlib.contextmanager
    def lend(self) -> Iterator[Connection]:
        """Lend the kept connection, or a new one. Raises psycopg.OperationalError if PostgreSQL is unavailable."""
        connection = self._usable() or self._connect()
        self._keep = False
        try:
            yield connection
        finally:
            if self._keep and connection.info.transaction_status is TransactionStatus.IDLE and connection.autocommit:
                self._idle, self._idle_since = connection, self._clock()
            else:
                connection.close()

    def keep(self) -> None:
        """Keep the connection that is lent: its borrower has ended well and holds no lock of the session."""
        self._keep = self._idle_seconds_max > 0

    def close(self) -> None:
        """Close the kept connection."""
        if self._idle is not None:
            self._idle.close()
            self._idle = None

    def _usable(self) -> Connection | None:
        """Return the kept connection unless it is old, or the server has said anything: then it has ended."""
        connection, self._idle = self._idle, None
        if connection is None:
            return None
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        if self._clock() - self._idle_since < self._idle_seconds_max and not poll.poll(0):
            return connection
        connection.close()
        return None
