"""A worker whose broker stopped during a job connects again; its connection is kept while nothing speaks against it."""

import time

import psycopg
import pytest
from kombu import Connection, Queue
from kombu.transport import redis

from shared.db.connect import Connection as DatabaseConnection
from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.servers import Contents, Servers
from tests.support.shop import open_shop
from workers.jobs.kept_connection import KeptConnection
from workers.jobs.kombu_redis import ReconnectingQoS, patch_kombu


@pytest.fixture
def contents() -> Contents:
    return open_shop


def test_an_acknowledgement_that_fails_ends_the_connection(servers: Servers, settings: Settings) -> None:
    patch_kombu()
    assert redis.Channel.QoS is ReconnectingQoS
    with Connection(settings.broker_url) as connection:
        queue = Queue("lost")(connection.default_channel)
        queue.declare()
        connection.SimpleQueue("lost").put({})
        message = queue.get()
        assert message is not None
        pool = message.channel.pool
        pool.connection_kwargs["path"] = str(servers.paths.run / "unused.sock")
        pool.reset()
        with pytest.raises(BrokenPipeError):
            message.ack()
        assert not message.acknowledged


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def _kept(settings: Settings, clock: _Clock, idle_seconds_max: float = 60.0) -> KeptConnection:
    def opened() -> DatabaseConnection:
        return connect(settings.worker_database_url, application="worker", autocommit=True)

    return KeptConnection(opened, idle_seconds_max, clock)


def _borrowed(kept: KeptConnection, statement: str = "SELECT 1", *, keep: bool = True) -> int:
    with kept.lend() as connection:
        connection.execute(statement)
        if keep:
            kept.keep()
        return connection.info.backend_pid


def test_a_connection_is_lent_again_only_while_nothing_speaks_against_it(settings: Settings) -> None:
    clock = _Clock()
    kept = _kept(settings, clock)
    first = _borrowed(kept)
    assert _borrowed(kept) == first, "its borrower ended well"
    assert _borrowed(kept, keep=False) == first
    second = _borrowed(kept, "BEGIN")
    assert second != first, "one that was not kept is closed"
    third = _borrowed(kept)
    assert third != second, "one with a transaction is closed"
    with pytest.raises(psycopg.errors.DivisionByZero):
        _borrowed(kept, "SELECT 1 / 0", keep=False)
    fourth = _borrowed(kept)
    assert fourth != third, "a borrower that raises gives nothing back"
    clock.now = 61.0
    fifth = _borrowed(kept)
    assert fifth != fourth, "an idle one is given up after its time"
    with connect(settings.database_url, application="tests", autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend($1)", (fifth,))
        ends = time.monotonic() + 60
        while other.execute("SELECT FROM pg_stat_activity WHERE pid = $1", (fifth,)).fetchone() is not None:
            assert time.monotonic() < ends
            time.sleep(0.01)
    assert _borrowed(kept) != fifth, "one that the server has ended is replaced"
    kept.close()
    none = _kept(settings, clock, 0.0)
    assert _borrowed(none) != _borrowed(none), "without a time none is kept"
