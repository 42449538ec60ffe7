"""A worker's connection is kept from one job to the next, and only while nothing speaks against it."""

import time

import psycopg
import pytest

from shared.db.connect import Connection, connect
from shared.settings.settings import Settings
from workers.worker import KeptConnection


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def _kept(settings: Settings, clock: _Clock, idle_seconds_max: float = 60.0) -> KeptConnection:
    def opened() -> Connection:
        return connect(settings.worker_database_url, application="worker", autocommit=True)

    return KeptConnection(opened, idle_seconds_max, clock)


def _borrowed(kept: KeptConnection, statement: str = "SELECT 1", *, keep: bool = True) -> int:
    with kept.lent() as connection:
        connection.execute(statement)
        if keep:
            kept.keep()
        return connection.info.backend_pid


def test_a_connection_is_lent_again_after_its_borrower_has_ended_well(settings: Settings) -> None:
    kept = _kept(settings, _Clock())
    assert _borrowed(kept) == _borrowed(kept) == _borrowed(kept, keep=False)
    kept.close()


@pytest.mark.parametrize(("statement", "keep"), [("SELECT 1", False), ("BEGIN", True)], ids=["not-kept", "transaction"])
def test_a_connection_that_may_hold_something_is_closed(settings: Settings, statement: str, keep: bool) -> None:
    kept = _kept(settings, _Clock())
    first = _borrowed(kept, statement, keep=keep)
    assert _borrowed(kept) != first
    kept.close()


def test_a_borrower_that_raises_gives_nothing_back(settings: Settings) -> None:
    kept = _kept(settings, _Clock())
    first = _borrowed(kept)
    with pytest.raises(psycopg.errors.DivisionByZero):
        _borrowed(kept, "SELECT 1 / 0", keep=False)
    assert _borrowed(kept) != first
    kept.close()


def test_an_idle_connection_is_given_up_after_its_time_and_none_is_kept_without_one(settings: Settings) -> None:
    clock = _Clock()
    kept = _kept(settings, clock)
    first = _borrowed(kept)
    clock.now = 61.0
    assert _borrowed(kept) != first
    kept.close()
    none = _kept(settings, clock, 0.0)
    assert _borrowed(none) != _borrowed(none)


def test_a_connection_that_the_server_has_ended_is_replaced(settings: Settings) -> None:
    kept = _kept(settings, _Clock())
    first = _borrowed(kept)
    with connect(settings.database_url, application="tests", autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend($1)", (first,))
        ends = time.monotonic() + 60
        while other.execute("SELECT FROM pg_stat_activity WHERE pid = $1", (first,)).fetchone() is not None:
            assert time.monotonic() < ends
            time.sleep(0.01)
    assert _borrowed(kept) != first
    kept.close()
