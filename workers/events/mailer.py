"""Sends one mail through the server of SMTP_URL, bounded in time."""

import smtplib
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

from shared.printable import printable
from shared.settings.checks import OUTBOX_URL
from shared.settings.settings import Settings
from workers.events.bounded_connection import seconds_left, system_trust
from workers.events.delivery_outcome import DeliveryOutcome
from workers.events.mail_text import Mail

MAIL_SECONDS_MAX = 60.0
_KEPT_CHARACTERS = 1_000
_ACCEPTED = 250
_PERMANENT = 500
_PORTS = {"smtp": 587, "smtps": 465}
_NO_TLS = "The mail server offers no STARTTLS, and a password is not sent without it."
KeepMail = Callable[[str, str, str], None]


class Mailer:
    """Sends mails. Without a server, `keep` is given the recipient, the subject and the plain text."""

    def __init__(self, settings: Settings, keep: KeepMail, tls: ssl.SSLContext | None = None) -> None:
        self._settings = settings
        self._keep = keep
        self._tls = tls or system_trust()
        self._seconds = MAIL_SECONDS_MAX

    def send(self, mail: Mail) -> DeliveryOutcome:
        """Send a mail and return what came of it.

        A refusal of the recipient or of the mail with 5xx ends it. Whatever else fails before a server has judged the
        recipient (no connection, our password, our own address) is an outage: nothing of it is the recipient's fault.
        """
        if not (self._settings.smtp_url and self._settings.mail_from):
            return DeliveryOutcome(None, "no-mail-server", outage=True)
        try:
            message = mail.message(self._settings)
        except ValueError:
            return DeliveryOutcome(None, "unusable-address", ends="Your address can't be written into a mail.")
        if self._settings.smtp_url == OUTBOX_URL:
            text = message.get_body(("plain",))
            self._keep(mail.address, str(message["Subject"]), str(text.get_content()) if text is not None else "")
            return DeliveryOutcome(None, "accepted")
        started = time.monotonic()
        outcome = self._outcome(message, started + self._seconds)
        return replace(outcome, milliseconds=int((time.monotonic() - started) * 1000))

    def _outcome(  # type: ignore[explicit-any]  # of the generics of EmailMessage
        self, message: EmailMessage, deadline: float
    ) -> DeliveryOutcome:
        try:
            server = self._connect(deadline)
        except (OSError, smtplib.SMTPException) as error:
            return _outage(error, deadline)
        try:
            server.send_message(message)
        except smtplib.SMTPRecipientsRefused as refused:
            [(status, reply)] = refused.recipients.values()
            return _outcome_of_refusal(status, reply)
        except smtplib.SMTPDataError as refused:
            return _outcome_of_refusal(refused.smtp_code, refused.smtp_error)
        except smtplib.SMTPNotSupportedError:
            return DeliveryOutcome(None, "unusable-address", ends="The mail server doesn't take such an address.")
        except (OSError, smtplib.SMTPException) as error:
            return _outage(error, deadline)
        finally:
            # Whatever becomes of the farewell, the mail is accepted or it is not.
            with suppress(OSError, smtplib.SMTPException):
                server.quit()
            server.close()
        return DeliveryOutcome(_ACCEPTED, "accepted")

    def _connect(self, deadline: float) -> smtplib.SMTP:
        parts = urlsplit(self._settings.smtp_url)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        if parts.scheme == "smtps":
            server: smtplib.SMTP = _BoundedTlsServer(host, port, deadline, context=self._tls)
        else:
            server = _BoundedServer(host, port, deadline)
        try:
            server.ehlo_or_helo_if_needed()
            if parts.scheme == "smtp" and server.has_extn("starttls"):
                server.starttls(context=self._tls)
                server.ehlo_or_helo_if_needed()
            elif parts.scheme == "smtp" and parts.username is not None:
                raise smtplib.SMTPException(_NO_TLS)
            if parts.username is not None:
                server.login(unquote(parts.username), unquote(parts.password or ""))
        except BaseException:
            server.close()
            raise
        return server


class _BoundedServer(smtplib.SMTP):
    """A connection to a mail server each of whose replies is awaited until the deadline at most."""

    def __init__(self, host: str, port: int, deadline: float, **options: ssl.SSLContext) -> None:
        self._deadline = deadline
        super().__init__(host, port, timeout=seconds_left(deadline), **options)  # type: ignore[arg-type]

    def getreply(self) -> tuple[int, bytes]:
        """Return the next reply. Raises TimeoutError where the deadline is over."""
        if self.sock is not None:
            self.sock.settimeout(seconds_left(self._deadline))
        return super().getreply()


class _BoundedTlsServer(_BoundedServer, smtplib.SMTP_SSL):
    """The same by TLS from the first byte."""


def _outcome_of_refusal(status: int, reply: bytes | str) -> DeliveryOutcome:
    """Return what a server's refusal of a recipient or of a mail comes to: with 5xx it ends."""
    text = reply.decode(errors="replace") if isinstance(reply, bytes) else reply
    text = text[:_KEPT_CHARACTERS]
    if status >= _PERMANENT:
        return DeliveryOutcome(status, "refused", text, ends=f"The mail server answered {status}: {printable(text)}")
    return DeliveryOutcome(status, "deferred", text)


def _outage(error: Exception, deadline: float) -> DeliveryOutcome:
    late = isinstance(error, TimeoutError) or time.monotonic() >= deadline
    status = error.smtp_code if isinstance(error, smtplib.SMTPResponseException) else None
    text = _NO_TLS if _NO_TLS in error.args else type(error).__name__
    return DeliveryOutcome(status, "timed-out" if late else "server-unavailable", text, outage=True)
