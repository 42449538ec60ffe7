"""A mail server for tests: aiosmtpd on loopback, with the replies that a test chooses."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from deploy.local.paths import free_port

_OK = "250 OK"


@dataclass
class MailServer:
    """The replies to RCPT and to DATA, and the mails that were accepted."""

    port: int = field(default_factory=free_port)
    recipient_reply: str = _OK
    data_reply: str = _OK
    credentials: list[tuple[bytes, bytes]] = field(default_factory=list)
    envelopes: list[Envelope] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    @property
    def mails(self) -> list[EmailMessage]:
        """The accepted mails, parsed."""
        return [message_from_bytes(envelope.original_content or b"", policy=default) for envelope in self.envelopes]

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.recipient_reply == _OK:
            envelope.rcpt_tos.append(address)
        return self.recipient_reply

    async def handle_DATA(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        if self.data_reply == _OK:
            self.envelopes.append(envelope)
        return self.data_reply


@contextmanager
def mail_server(made: MailServer | None = None, *, tls: ssl.SSLContext | None = None) -> Iterator[MailServer]:
    """Serve mail, again with what `made` had; with `tls` it offers STARTTLS and asks for a password."""
    made = made or MailServer()

    def authenticate(
        server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: LoginPassword
    ) -> AuthResult:
        made.credentials.append((data.login, data.password))
        return AuthResult(success=True)

    controller = Controller(
        made,
        hostname="127.0.0.1",
        port=made.port,
        tls_context=tls,
        require_starttls=tls is not None,
        auth_required=tls is not None,
        authenticator=authenticate,
    )
    controller.start()
    try:
        yield made
    finally:
        controller.stop()
