"""Mails to members: each chooses which kinds they have at their own address, there or by the link of a mail."""

from collections.abc import Mapping
from typing import NamedTuple

from edge.auth.actor import Actor
from edge.storage.database import Database, Scope
from shared.clock import rfc3339
from shared.db.queries import load_queries
from shared.events.mails import ALERT, ALERT_TYPES, Subscriber, read_unsubscribe_token
from shared.settings.settings import Settings

SQL = load_queries(__file__, "member_mails.sql")
_OUTBOX = Scope(task="outbox")


class MailState(NamedTuple):
    """The alerts of a member who asked for them; `ended` is why there are no more, `digest` as for `request`."""

    digest: str | None
    ended: str | None
    failures: int
    next_attempt_at: str
    mailed_at: str | None


class OutboxMail(NamedTuple):
    """A mail that was kept instead of sent."""

    at: str
    recipient: str
    subject: str
    body: str


class MemberMailService:
    """The mails of members."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._secrets = settings.signing_secrets
        self.offered = bool(settings.mail_from)
        """Whether this service sends mails."""

    async def request(self, acting: Actor, digest: str | None = None) -> None:
        """Mail the next alerts of the organization to the member; also again after refusals ended it.

        `digest` is `day` or `week`, None for each at once. What waits is sent in the new way.
        """
        values = (acting.organization, acting.person, list(ALERT_TYPES), acting.name, digest)
        await self._database.fetch(SQL.request, *values, scope=acting.scope)

    async def end(self, acting: Actor) -> None:
        """Mail no alerts to the member any more; what waits is not sent either."""
        await self._database.fetch(SQL.end, acting.organization, acting.person, acting.name, scope=acting.scope)

    async def state(self, acting: Actor) -> MailState | None:
        """Return how the member's alerts stand, None for one who has asked for none."""
        row = await self._database.fetch_row(SQL.state, acting.organization, acting.person, scope=acting.scope)
        if row is None:
            return None
        ended = row["disabled_reason"] if row["disabled_at"] is not None else None
        mailed_at = rfc3339(row["mailed_at"]) if row["mailed_at"] is not None else None
        return MailState(row["digest"], ended, row["failures"], rfc3339(row["due_at"]), mailed_at)

    def subscriber_of(self, token: str) -> Subscriber | None:
        """Return whose mails the link of a mail ends, None for a link that this service did not write."""
        return read_unsubscribe_token(self._secrets, token)

    async def choices(self, acting: Actor) -> dict[str, bool]:
        """Return by kind which mails the member wants or refuses; a kind that is left out is as by default."""
        rows = await self._database.fetch(SQL.choices, acting.organization, acting.person, scope=acting.scope)
        return {row["kind"]: row["wanted"] for row in rows}

    async def choose(self, acting: Actor, wanted: Mapping[str, bool]) -> None:
        """Keep which kinds of mails the member wants or refuses, alerts aside; nothing for one who has left."""
        values = (acting.organization, acting.person, list(wanted), list(wanted.values()))
        await self._database.fetch(SQL.choose, *values, scope=acting.scope)

    async def unsubscribe(self, subscriber: Subscriber) -> None:
        """End the mails of a kind by the link, which proves who received it; safe to call twice."""
        acting = Actor(subscriber.organization, "", subscriber.person)
        if subscriber.kind == ALERT:
            await self.end(acting)
        else:
            await self.choose(acting, {subscriber.kind: False})

    async def outbox(self, limit: int) -> list[OutboxMail]:
        """Return the newest mails that were kept instead of sent."""
        rows = await self._database.fetch(SQL.outbox, limit, scope=_OUTBOX)
        return [OutboxMail(rfc3339(row["at"]), row["recipient"], row["subject"], row["body"]) for row in rows]
