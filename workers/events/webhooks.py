"""Sends events to webhooks and by mail, and the queue of other mails: each receiver in its order, on its own."""

import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime

import msgspec

from shared.db.connect import Connection, connect, unavailable
from shared.db.queries import load_queries
from shared.events.mails import Subscriber
from shared.events.types import event_document
from shared.events.webhooks import key_of, open_secret, signature_headers
from shared.organizations.accounts import BRAND
from shared.settings.settings import Settings
from shared.telemetry.log import Log, trace_of
from workers.events.alert_mail import AlertMail, MailedEvent
from workers.events.delivery_outcome import DeliveryOutcome
from workers.events.mailer import MAIL_SECONDS_MAX, Mailer
from workers.events.notices import NoticeQueue
from workers.events.poster import SECONDS_MAX, Poster
from workers.jobs.failed_rows import note_failed_row

SQL = load_queries(__file__, "webhooks.sql")
_log = Log("worker")
# By which a lease outlasts one call, so that its outcome can be recorded under it.
_SPARE_SECONDS = 20.0
# Of webhooks and of mails, so that a mail server which hangs holds no thread that webhooks need.
_AT_ONCE = {"webhook": 200, "mail": 4}
# One mail tells of many events: a load may fire a watch of a category for each of its items.
_EVENTS_MAX = {"webhook": 1, "mail": 1_000}
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class ClaimedEndpoint:
    """A claimed endpoint. Only writes that carry its `lease_no` still count. One without a URL is a member's mail."""

    id: str
    lease_no: int
    organization: str
    url: str | None
    person: str | None
    address: str | None
    organization_name: str
    digest: str | None

    @property
    def channel(self) -> str:
        """Return by what its events are sent: `webhook` or `mail`."""
        return "mail" if self.url is None else "webhook"


@dataclass(frozen=True, slots=True)
class _DueEvent:
    number: int
    id: str
    type: str
    at: datetime
    data: dict[str, object]
    sealed_secret: bytes | None
    sealed_secret_before: bytes | None
    failures: int
    replayed: bool


def deliver(settings: Settings, seconds: float, call_seconds: float = SECONDS_MAX) -> int:
    """Send due events and mails to many receivers at once, for at most `seconds`; return how many were accepted.

    An endpoint that hangs holds a thread of its own for the time of one call, `call_seconds`, and nothing else: a call
    that is under way when the time is over ends in the background, and the next run serves the others meanwhile.
    """
    poster = Poster(settings.webhook_private_addresses, call_seconds)
    connection = connect(settings.worker_database_url, application="webhooks", autocommit=True)
    return _Deliverer(settings, connection, poster, time.monotonic() + seconds).run()


class _Deliverer:
    """One run. Its threads share a connection, one transaction at a time; no receiver is called under the lock."""

    def __init__(self, settings: Settings, connection: Connection, poster: Poster, until: float) -> None:
        self._settings = settings
        self._connection = connection
        self._lock = threading.Lock()
        self._poster = poster
        self._mailer = Mailer(settings, self._keep_mail)
        self._notices = NoticeQueue(settings, connection, self._lock, self._mailer)
        self._lease_seconds = {
            "webhook": poster.seconds + _SPARE_SECONDS,
            "mail": MAIL_SECONDS_MAX + _SPARE_SECONDS,
        }
        self._until = until

    def run(self) -> int:
        """Work until nothing is due or the time is over. The connection is closed when the last call has ended."""
        sent = 0
        running: dict[Future[int], str] = {}
        pool = ThreadPoolExecutor(sum(_AT_ONCE.values()), thread_name_prefix="webhook")
        try:
            while self._may_continue():
                for channel, at_once in _AT_ONCE.items():
                    free = at_once - sum(used == channel for used in running.values())
                    if channel == "mail":
                        notices = self._notices.claim(free)
                        running |= {pool.submit(self._notices.send, notice): channel for notice in notices}
                        free -= len(notices)
                    running |= {pool.submit(self._drain, claimed): channel for claimed in self._claim(channel, free)}
                if not running:
                    break
                sent += _collect(running)
            return sent + _collect(running)
        finally:
            pool.shutdown(wait=False)
            threading.Thread(target=self._close_after, args=(set(running),), daemon=True).start()

    def _close_after(self, running: set[Future[int]]) -> None:
        ended, _ = wait(running)
        for error in filter(None, (run.exception() for run in ended)):  # the run, which would raise it, is over
            _log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))
        self._connection.close()

    def _may_continue(self) -> bool:
        return time.monotonic() < self._until

    def _claim(self, channel: str, free: int) -> list[ClaimedEndpoint]:
        if not free:
            return []
        values = (self._lease_seconds[channel], free, BRAND, channel == "mail")
        with self._lock:
            rows = self._connection.execute(SQL.claim, values).fetchall()
        return [ClaimedEndpoint(*row) for row in rows]

    def _drain(self, endpoint: ClaimedEndpoint) -> int:
        """Send one endpoint's events in their order until none is left or one fails; return how many were accepted.

        An outage of PostgreSQL ends it: the lease expires, and the event is sent again. So does a fault that is the
        endpoint's own, which must not keep the others from their events.
        """
        sent = 0
        fence, channel = (endpoint.id, endpoint.lease_no), endpoint.channel
        try:
            while self._may_continue():
                read_at = time.monotonic()
                with self._lock:
                    rows = self._connection.execute(SQL.next_events, (*fence, _EVENTS_MAX[channel])).fetchall()
                # A process that was stopped for a while may have lost the lease: it must not send any more.
                if not rows or time.monotonic() - read_at > _SPARE_SECONDS:
                    break
                events = [_DueEvent(*row) for row in rows]
                answer = self._post(endpoint, events[0]) if endpoint.url else self._mail(endpoint, events)
                with self._lock:
                    if not _settle(self._connection, endpoint, events[-1], answer, self._lease_seconds[channel]):
                        return sent
                sent += len(events)
            with self._lock:
                self._connection.execute(SQL.release, fence)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this endpoint's alone
            if not unavailable(error):
                note_failed_row("webhook", endpoint.id, error, _log)
        return sent

    def _mail(self, endpoint: ClaimedEndpoint, events: list[_DueEvent]) -> DeliveryOutcome:
        iids = [event.data["iid"] for event in events if "iid" in event.data]
        with self._lock:
            names: dict[str, str] = dict(self._connection.execute(SQL.item_names, (iids,)).fetchall())
        mail = AlertMail(
            address=endpoint.address or "",
            organization=endpoint.organization_name,
            subscriber=Subscriber(endpoint.organization, endpoint.person or ""),
            events=[MailedEvent(event.id, event.type, event.data) for event in events],
            names=names,
            digest=endpoint.digest,
        )
        return self._mailer.send(mail)

    def _keep_mail(self, recipient: str, subject: str, body: str) -> None:
        with self._lock:
            self._connection.execute(SQL.keep_mail, (recipient, subject, body))

    def _post(self, endpoint: ClaimedEndpoint, event: _DueEvent) -> DeliveryOutcome:
        body = msgspec.json.encode(event_document(event.number, event.id, event.type, event.at, event.data))
        secrets = self._settings.signing_secrets
        stored = [sealed for sealed in (event.sealed_secret, event.sealed_secret_before) if sealed is not None]
        opened = [open_secret(secrets, endpoint.id, sealed) for sealed in stored]
        keys = [key_of(secret) for secret in opened if secret is not None]
        if not keys:
            return DeliveryOutcome(None, "secret-unreadable")
        headers = signature_headers(keys, event.id, int(time.time()), body)
        fields = {"Content-Type": "application/json", "User-Agent": "ItemIndex-Webhooks/1", **headers}
        return self._poster.post(endpoint.url or "", body, fields)


def _collect(running: dict[Future[int], str]) -> int:
    """Take out the runs that ended within a moment; return how many events they sent."""
    done, _ = wait(running, _POLL_SECONDS, FIRST_COMPLETED)
    for run in done:
        del running[run]
    return sum(run.result() for run in done)


def _settle(
    connection: Connection, endpoint: ClaimedEndpoint, event: _DueEvent, answer: DeliveryOutcome, lease_seconds: float
) -> bool:
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
        if answer.ends is not None:
            connection.execute(SQL.disable, (*fence, answer.ends))
        elif (attempt := answer.next_attempt(event.failures)) is not None:
            connection.execute(SQL.failed, (*fence, *attempt))
        else:
            reason = f"An event was not accepted {event.failures + 1} times in a row."
            connection.execute(SQL.disable, (*fence, reason))
    return False
