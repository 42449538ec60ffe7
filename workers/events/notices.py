"""Sends the queue of mails that tell of one thing each; alerts are with the webhooks."""

import threading
from dataclasses import dataclass

from shared.db.connect import Connection, unavailable
from shared.db.queries import load_queries
from shared.events.mails import open_invitation
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from workers.events.delivery_outcome import DeliveryOutcome
from workers.events.mailer import MAIL_SECONDS_MAX, Mailer
from workers.events.notice_mail import NoticeMail
from workers.jobs.failed_rows import note_failed_row

SQL = load_queries(__file__, "notices.sql")
_log = Log("worker")
# By which a lease outlasts one mail, so that its outcome can be recorded under it.
_SPARE_SECONDS = 20.0
_UNREADABLE = "The link can't be read any more: the signing key was replaced. Invite the address again."


@dataclass(frozen=True, slots=True)
class ClaimedNotice:
    """A claimed row. Only writes that carry its `lease_no` still count."""

    id: str
    lease_no: int
    failures: int
    kind: str
    address: str
    organization: str
    organization_name: str
    person: str | None
    data: dict[str, object]
    sealed_secret: bytes | None


class NoticeQueue:
    """One run over the queue, on the connection of its caller, which `lock` guards; no mail is sent under the lock."""

    def __init__(self, settings: Settings, connection: Connection, lock: threading.Lock, mailer: Mailer) -> None:
        self._settings = settings
        self._connection = connection
        self._lock = lock
        self._mailer = mailer
        self._outage = False

    def claim(self, free: int) -> list[ClaimedNotice]:
        """Return what is due, `free` rows at most; none in an outage of the mail server."""
        if not free or self._outage:
            return []
        with self._lock:
            rows = self._connection.execute(SQL.claim, (MAIL_SECONDS_MAX + _SPARE_SECONDS, free)).fetchall()
        return [ClaimedNotice(*row) for row in rows]

    def send(self, notice: ClaimedNotice) -> int:
        """Send one mail and record what came of it; return 1 where it was accepted, else 0.

        An outage of PostgreSQL ends it: the lease expires, and the mail is sent again.
        """
        try:
            outcome = self._outcome(notice)
            with self._lock:
                self._settle(notice, outcome)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this mail's alone
            if not unavailable(error):
                note_failed_row("mail", notice.id, error, _log)
            return 0
        return int(outcome.accepted)

    def _outcome(self, notice: ClaimedNotice) -> DeliveryOutcome:
        secret = None
        if notice.sealed_secret is not None:
            secret = open_invitation(self._settings.signing_secrets, notice.sealed_secret)
            if secret is None:
                return DeliveryOutcome(None, "secret-unreadable", ends=_UNREADABLE)
        mail = NoticeMail(
            id=notice.id,
            kind=notice.kind,
            address=notice.address,
            organization=notice.organization,
            organization_name=notice.organization_name,
            person=notice.person,
            data=notice.data,
            secret=secret or "",
        )
        return self._mailer.send(mail)

    def _settle(self, notice: ClaimedNotice, outcome: DeliveryOutcome) -> None:
        fence = (notice.id, notice.lease_no)
        if outcome.accepted or outcome.ends is not None:
            self._connection.execute(SQL.end, (*fence, outcome.ends))
        elif (attempt := outcome.next_attempt(notice.failures)) is not None:
            self._connection.execute(SQL.failed, (*fence, *attempt))
            if outcome.outage:
                self._outage = True
                self._connection.execute(SQL.wait, (attempt.pause,))
        else:
            reason = f"The mail server deferred it {notice.failures + 1} times in a row: {outcome.text}"
            self._connection.execute(SQL.end, (*fence, reason))
