"""Sends events to webhooks: each endpoint in its order, by one worker at a time, independent of all others."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import msgspec
import psycopg

from shared.config import Settings
from shared.db.connect import Connection, connect, unavailable
from shared.db.queries import beside
from shared.events import event_document
from shared.webhook_secrets import opened_secret
from shared.webhooks import RETRY_SECONDS, key_of, signature_headers
from workers.webhooks.post import SECONDS_MAX, Answer, Poster

SQL = beside(__file__, "deliver.sql")
# By which a lease outlasts one call, so that its outcome can be recorded under it.
_SPARE_SECONDS = 20.0
_AT_ONCE = 200
_POLL_SECONDS = 0.2
_GONE = 410


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A claimed endpoint. Only writes that carry its `lease_no` still count."""

    id: str
    lease_no: int
    organization: str
    url: str


@dataclass(frozen=True, slots=True)
class _Event:
    number: int
    id: str
    type: str
    at: Any
    data: dict[str, Any]
    sealed_secret: bytes
    sealed_secret_before: bytes | None
    failures: int
    replayed: bool


def deliver(
    settings: Settings,
    seconds: float,
    stopping: Callable[[], bool] = lambda: False,
    call_seconds: float = SECONDS_MAX,
) -> int:
    """Send what is due, to many endpoints at once, until nothing is due or for so many seconds; return how many events.

    An endpoint that hangs holds a thread of its own for the time of one call, `call_seconds`, and nothing else: a call
    that is under way when the time is over ends in the background, and the next run serves the others meanwhile.
    """
    poster = Poster(settings.webhook_private_addresses, call_seconds)
    connection = connect(settings.worker_database_url, application="webhooks", autocommit=True)
    return _Deliverer(settings, connection, poster, time.monotonic() + seconds, stopping).run()


class _Deliverer:
    """One run. Its threads share a connection, one transaction at a time; no receiver is called under the lock."""

    def __init__(
        self,
        settings: Settings,
        connection: Connection,
        poster: Poster,
        until: float,
        stopping: Callable[[], bool],
    ) -> None:
        self._settings = settings
        self._connection = connection
        self._lock = threading.Lock()
        self._poster = poster
        self._lease_seconds = poster.seconds + _SPARE_SECONDS
        self._until = until
        self._stopping = stopping

    def run(self) -> int:
        """Work until nothing is due or the time is over. The connection is closed when the last call has ended."""
        sent = 0
        running: set[Future[int]] = set()
        pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="webhook")
        try:
            while self._may_continue():
                running |= {pool.submit(self._drain, one) for one in self._claim(_AT_ONCE - len(running))}
                if not running:
                    break
                done, running = wait(running, _POLL_SECONDS, FIRST_COMPLETED)
                sent += sum(one.result() for one in done)
            done, running = wait(running, _POLL_SECONDS)
            return sent + sum(one.result() for one in done)
        finally:
            pool.shutdown(wait=False)
            threading.Thread(target=self._close_after, args=(running,), daemon=True).start()

    def _close_after(self, running: set[Future[int]]) -> None:
        wait(running)
        self._connection.close()

    def _may_continue(self) -> bool:
        return time.monotonic() < self._until and not self._stopping()

    def _claim(self, free: int) -> list[Endpoint]:
        if not free:
            return []
        with self._lock:
            rows = self._connection.execute(SQL.claim, (self._lease_seconds, free)).fetchall()
        return [Endpoint(*row) for row in rows]

    def _drain(self, endpoint: Endpoint) -> int:
        """Send one endpoint's events in their order until none is left or one fails; return how many were accepted.

        An outage of PostgreSQL ends it: the lease expires, and the event is sent again.
        """
        sent = 0
        fence = (endpoint.id, endpoint.lease_no)
        try:
            while self._may_continue():
                read_at = time.monotonic()
                with self._lock:
                    row = self._connection.execute(SQL.next_event, fence).fetchone()
                # A process that was stopped for a while may have lost the lease: it must not send any more.
                if row is None or time.monotonic() - read_at > _SPARE_SECONDS:
                    break
                event = _Event(*row)
                answer = self._send(endpoint, event)
                with self._lock:
                    if not _settle(self._connection, endpoint, event, answer, self._lease_seconds):
                        return sent
                sent += 1
            with self._lock:
                self._connection.execute(SQL.release, fence)
        except psycopg.Error as error:
            if not unavailable(error):
                raise
        return sent

    def _send(self, endpoint: Endpoint, event: _Event) -> Answer:
        body = msgspec.json.encode(event_document(event.number, event.id, event.type, event.at, event.data))
        secrets = self._settings.signing_secrets
        stored = [sealed for sealed in (event.sealed_secret, event.sealed_secret_before) if sealed is not None]
        opened = [opened_secret(secrets, endpoint.id, sealed) for sealed in stored]
        keys = [key_of(secret) for secret in opened if secret is not None]
        if not keys:
            return Answer(None, "secret-unreadable")
        headers = signature_headers(keys, event.id, int(time.time()), body)
        fields = {"Content-Type": "application/json", "User-Agent": "ItemIndex-Webhooks/1", **headers}
        return self._poster.post(endpoint.url, body, fields)


def _settle(connection: Connection, endpoint: Endpoint, event: _Event, answer: Answer, lease_seconds: float) -> bool:
    """Record an attempt and what follows from it; tell whether the next event may be sent."""
    fence = (endpoint.id, endpoint.lease_no)
    with connection.transaction():
        noted = (event.id, event.number, answer.status, answer.outcome, answer.text, answer.milliseconds)
        connection.execute(SQL.note_attempt, (*fence, *noted))
        if answer.accepted:
            values = (*fence, event.number, event.replayed, lease_seconds)
            held = connection.execute(SQL.accepted, values).fetchone() is not None
            if held and event.replayed:
                connection.execute(SQL.replayed, (endpoint.id, event.number))
            return held
        if answer.status == _GONE:
            connection.execute(SQL.disable, (*fence, "The receiver answered 410 Gone."))
        elif event.failures >= len(RETRY_SECONDS):
            reason = f"An event was not accepted {event.failures + 1} times in a row."
            connection.execute(SQL.disable, (*fence, reason))
        else:
            connection.execute(SQL.failed, (*fence, RETRY_SECONDS[event.failures]))
    return False
