"""A mail that tells somebody of one thing: a key, a quota, an export, a plan, an invitation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import EmailMessage

from shared.events.mails import MAIL_KINDS, Subscriber, invitation_link
from shared.events.words import words_of
from shared.settings.settings import Settings
from workers.events.mail_text import MailLine, MailText, origin_of

_HOME, _PLAN, _REPORTS = "/dashboard", "/dashboard/plan", "/dashboard/jobs"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeMail:
    """A row of the queue. `data` are its members; an invitation has no `person` and a `secret`."""

    id: str
    kind: str
    address: str
    organization: str
    organization_name: str
    person: str | None
    data: Mapping[str, object]
    secret: str = ""

    def message(self, settings: Settings) -> EmailMessage:  # type: ignore[explicit-any]  # of its own generics
        """Return the mail. Raises ValueError where the address is none that a header can hold."""
        kind, name = MAIL_KINDS[self.kind], self.organization_name
        subject, lines = _WORDS.get(self.kind, _event)(self, settings)
        refusable = kind.refusable and self.person is not None
        return MailText(
            subject=subject,
            lines=lines,
            reason=f"{kind.reason}. Organization: {name}",
            message_id=self.id,
            subscriber=Subscriber(self.organization, self.person or "", self.kind) if refusable else None,
        ).message(settings, self.address)


_Words = tuple[str, list[MailLine]]


def _event(mail: NoticeMail, settings: Settings) -> _Words:
    text, link = words_of(str(mail.data["type"]), mail.data)
    return f"{text} ({mail.organization_name})", [MailLine(text, f"{origin_of(settings)}{link or _HOME}")]


def _plan(mail: NoticeMail, settings: Settings) -> _Words:
    approved = mail.data["decision"] == "approved"
    subject = f"{mail.organization_name} now has the {mail.data['plan']} plan"
    if not approved:
        subject = f"The {mail.data['requested']} plan was declined for {mail.organization_name}"
    lines = [MailLine(subject, f"{origin_of(settings)}{_PLAN}")]
    if not approved:
        lines.append(MailLine(f"The organization keeps the {mail.data['plan']} plan."))
    return subject, lines


def _invitation(mail: NoticeMail, settings: Settings) -> _Words:
    name, role, inviter = mail.organization_name, mail.data["role"], mail.data["invited_by"]
    what = f"{inviter or 'A member'} invites you to {name} at Item Index as {role}"
    return f"Invitation to {name}", [
        MailLine(what, invitation_link(origin_of(settings), mail.secret)),
        MailLine("The link works once, for this address, within seven days of the invitation."),
        MailLine("Ignore this mail if you expected no invitation."),
    ]


def _report(mail: NoticeMail, settings: Settings) -> _Words:
    origin, name = origin_of(settings), mail.data["name"]
    if "reason" in mail.data:
        subject = f"Scheduled report not run: {name}"
        return subject, [MailLine(f"{subject}. {mail.data['reason']}", f"{origin}{_REPORTS}")]
    ready = mail.data["state"] == "succeeded"
    subject = f"Scheduled report {'answered' if ready else 'failed'}: {name}"
    return subject, [MailLine(subject, f"{origin}{_REPORTS}/{mail.data['job']}")]


_WORDS: Mapping[str, Callable[[NoticeMail, Settings], _Words]] = {
    "plan": _plan,
    "invitation": _invitation,
    "report": _report,
}
