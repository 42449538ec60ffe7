"""What every mail is made of: its headers, plain text and HTML, and the link that ends such mails (RFC 8058)."""

from collections.abc import Sequence
from dataclasses import dataclass
from email.headerregistry import Address, BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime, parseaddr
from html import escape
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from shared.clock import utc_now
from shared.events.mails import UNSUBSCRIBE_PATH, Subscriber, unsubscribe_token
from shared.printable import printable
from shared.settings.settings import Settings

_SUBJECT_CHARACTERS_MAX = 150
_ISOLATES = {0x2068: None, 0x2069: None}  # as `isolate` writes them


class Mail(Protocol):
    """A mail to one address."""

    @property
    def address(self) -> str: ...

    def message(self, settings: Settings) -> EmailMessage:  # type: ignore[explicit-any]  # of its own generics
        """Return the mail. Raises ValueError where the address is none that a header can hold."""


class MailLine(NamedTuple):
    """A sentence and the page that it leads to; a heading leads nowhere."""

    text: str
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailText:
    """The parts of a mail. `subscriber` is whom its link unsubscribes, None where such mails cannot be refused."""

    subject: str
    lines: Sequence[MailLine]
    reason: str
    message_id: str
    subscriber: Subscriber | None

    def message(  # type: ignore[explicit-any]  # of the generics of EmailMessage
        self, settings: Settings, address: str
    ) -> EmailMessage:
        """Return the mail to an address. Raises ValueError where that is none that a header can hold."""
        message = EmailMessage(_POLICY)
        message["From"] = Address("Item Index", addr_spec=settings.mail_from)
        message["To"] = Address(addr_spec=address)
        message["Subject"] = _plain(self.subject)[:_SUBJECT_CHARACTERS_MAX]
        message["Date"] = format_datetime(utc_now())
        # The same for each attempt, so that a server or a reader recognizes a repetition.
        message["Message-ID"] = f"<{self.message_id}@{parseaddr(settings.mail_from)[1].rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        end = ""
        if self.subscriber is not None:
            token = unsubscribe_token(settings.signing_secret, self.subscriber)
            end = f"{origin_of(settings)}{UNSUBSCRIBE_PATH}?token={token}"
            message["List-Unsubscribe"] = f"<{end}>"
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        lines = [MailLine(_plain(text), link) for text, link in self.lines]
        reason = _plain(self.reason)
        body = "\n\n".join("\n".join(filter(None, line)) for line in lines)
        message.set_content(f"{body}\n\n-- \n{reason}\n" + (f"Unsubscribe: {end}\n" if end else ""))
        items = "".join(_paragraph(line) for line in lines)
        unsubscribe = f'. <a href="{escape(end)}">Unsubscribe</a>' if end else ""
        message.add_alternative(
            f'<!doctype html><html lang="en"><body>{items}'
            f"<p><small>{escape(reason)}{unsubscribe}</small></p></body></html>",
            subtype="html",
        )
        return message


def _plain(text: str) -> str:
    """Return a text in one line without marks of direction: those around our own names would be shown as escapes."""
    return printable(text.translate(_ISOLATES))


def _paragraph(line: MailLine) -> str:
    text = escape(line.text)
    return f'<p><a href="{escape(line.address)}">{text}</a></p>' if line.address else f"<p>{text}</p>"


def origin_of(settings: Settings) -> str:
    """Return the scheme and host of the service's public address."""
    return "{0.scheme}://{0.netloc}".format(urlsplit(settings.base_url))


class _UnfoldedHeader(UnstructuredHeader, BaseHeader):
    """A header in one line. The policy would encode a long address as words, and no program would follow it."""

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


def _header_registry() -> HeaderRegistry:
    registry = HeaderRegistry()
    registry.map_to_type("list-unsubscribe", _UnfoldedHeader)
    return registry


_POLICY = SMTP.clone(header_factory=_header_registry())
