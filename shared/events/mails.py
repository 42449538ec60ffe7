"""Mails to people: their kinds, who may refuse them, and the links in them. Pure."""

import base64
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from shared.organizations.roles import ROLES, Role
from shared.organizations.sealing import seal, sealing_key, unseal
from shared.printable import base64url

ALERT = "alert"
ALERT_TYPES = ("watch.fired",)
"""The types of events that alerts tell of."""
DIGESTS = {"now": None, "day": "day", "week": "week"}
"""How often alerts are sent, by the value of a form: None is at once."""
UNSUBSCRIBE_PATH = "/dashboard/unsubscribe"
MAILS_PATH = "/dashboard/mails"
_UNSUBSCRIBE, _INVITATION = "unsubscribe", "invitation"
_UUID_BYTES = 16


class MailKind(NamedTuple):
    """A kind of mail: its name on pages, why somebody has such a mail, and whether they may refuse it.

    `roles` are those of the members whom it concerns; `wanted` is whether they have it without asking.
    """

    title: str
    reason: str
    roles: tuple[Role, ...] = ROLES
    refusable: bool = True
    wanted: bool = True


_MANAGERS: tuple[Role, ...] = ("owner", "admin")
_OF_MANAGERS = "owners and admins of an organization have them"
MAIL_KINDS: dict[str, MailKind] = {
    ALERT: MailKind("Alerts", "You asked for alerts by mail", wanted=False),
    "export": MailKind("Finished exports", "You asked for mails of finished exports", wanted=False),
    "report": MailKind("Scheduled reports", "You scheduled this report"),
    "quota": MailKind("Reached quotas", f"Notices of quotas: {_OF_MANAGERS}", _MANAGERS),
    "webhook": MailKind("Disabled webhooks", f"Notices of disabled webhooks: {_OF_MANAGERS}", _MANAGERS),
    "plan": MailKind("Decided plan requests", "Notices of plans: owners of an organization have them", ("owner",)),
    "key": MailKind("Changed API keys", f"Security notices: {_OF_MANAGERS}", _MANAGERS, refusable=False),
    "invitation": MailKind("Invitations", "Somebody invited this address", (), refusable=False),
}
"""By the names that the tables of mails have."""


def kinds_of(role: str) -> dict[str, MailKind]:
    """Return the kinds of mails, alerts aside, that concern a member of a role."""
    return {name: kind for name, kind in MAIL_KINDS.items() if role in kind.roles and name != ALERT}


class Subscriber(NamedTuple):
    """A member to whom mails of one kind about an organization are sent; both by their UUIDs."""

    organization: str
    person: str
    kind: str = ALERT


def unsubscribe_token(signing_secret: str, subscriber: Subscriber) -> str:
    """Return the text that ends a member's mails of a kind and proves that this service wrote it.

    It reveals nobody's id.
    """
    ids = b"".join(UUID(text).bytes for text in (subscriber.organization, subscriber.person))
    kind = b"" if subscriber.kind == ALERT else subscriber.kind.encode()
    return base64url(seal(sealing_key(signing_secret, _UNSUBSCRIBE), ids + kind))


def read_unsubscribe_token(signing_secrets: Iterable[str], token: str) -> Subscriber | None:
    """Return whose mails a token ends, None for a text that none of the secrets sealed."""
    try:
        sealed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except ValueError:
        return None
    for secret in signing_secrets:
        opened = unseal(sealing_key(secret, _UNSUBSCRIBE), sealed)
        if opened is not None:
            ids, kind = opened[: 2 * _UUID_BYTES], opened[2 * _UUID_BYTES :].decode()
            organization, person = (str(UUID(bytes=ids[at : at + _UUID_BYTES])) for at in (0, _UUID_BYTES))
            return Subscriber(organization, person, kind or ALERT)
    return None


def seal_invitation(signing_secret: str, secret: str) -> bytes:
    """Return the secret of an invitation's link, encrypted for the time until its mail is sent."""
    return seal(sealing_key(signing_secret, _INVITATION), secret.encode())


def open_invitation(signing_secrets: Iterable[str], sealed: bytes) -> str | None:
    """Return the secret of `seal_invitation`, None where no signing secret opens it."""
    opened = (unseal(sealing_key(secret, _INVITATION), sealed) for secret in signing_secrets)
    return next((plain.decode() for plain in opened if plain is not None), None)


def invitation_link(origin: str, secret: str) -> str:
    """Return the link that an invited person opens. The secret is in the fragment: no server's log ever sees it."""
    return f"{origin}/dashboard/invitation#{secret}"
