"""A mail about alerts: one that fired, or many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from typing import NamedTuple

from shared.events.mails import ALERT, MAIL_KINDS, Subscriber
from shared.events.words import watch_name, words_of
from shared.printable import many
from shared.settings.settings import Settings
from workers.events.mail_text import MailLine, MailText, origin_of

_LISTED = 50
_DIGESTS = {"day": "Daily digest", "week": "Weekly digest"}


class MailedEvent(NamedTuple):
    """An event that a mail tells of."""

    id: str
    type: str
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertMail:
    """A mail to a member about events of an organization; `names` are those of items, by IID.

    `digest` is the period whose events it tells of, `day` or `week`; None: whatever waited.
    """

    address: str
    organization: str
    subscriber: Subscriber
    events: Sequence[MailedEvent]
    names: Mapping[str, str]
    digest: str | None = None

    def message(self, settings: Settings) -> EmailMessage:  # type: ignore[explicit-any]  # of its own generics
        """Return the mail. Raises ValueError where the address is none that a header can hold."""
        feed = f"{origin_of(settings)}/dashboard/events"
        events = self._by_watch() if self.digest else [("", self.events)]
        lines, left = list[MailLine](), _LISTED
        for heading, group in events:
            shown = group[:left]
            left -= len(shown)
            if heading and shown:
                lines.append(MailLine(heading))
            for event in shown:
                text, link = words_of(event.type, event.data, self.names)
                lines.append(MailLine(text, f"{origin_of(settings)}{link}" if link else feed))
        count = len(self.events)
        if count > _LISTED:
            lines.append(MailLine(f"And {count - _LISTED:,} more", feed))
        return MailText(
            subject=self._subject(lines),
            lines=lines,
            reason=f"{MAIL_KINDS[ALERT].reason}. Organization: {self.organization}",
            message_id=f"{self.events[-1].id}.{self.subscriber.person}",
            subscriber=self.subscriber,
        ).message(settings, self.address)

    def _subject(self, lines: Sequence[MailLine]) -> str:
        count = len(self.events)
        if self.digest:
            return f"{_DIGESTS[self.digest]} of {self.organization}: {many(count, 'alert')}"
        return lines[0].text if count == 1 else f"{many(count, 'alert')} of {self.organization}"

    def _by_watch(self) -> list[tuple[str, Sequence[MailedEvent]]]:
        """Return the events of each watch together, with a heading where it fired more than once."""
        groups: dict[object, list[MailedEvent]] = {}
        for event in self.events:
            groups.setdefault(event.data.get("watch", event.id), []).append(event)
        headed = list[tuple[str, Sequence[MailedEvent]]]()
        for group in groups.values():
            first = group[0].data
            several = len(group) > 1 and "label" in first
            heading = f"{watch_name(first, {})}: fired {len(group):,} times" if several else ""
            headed.append((heading, group))
        return headed
