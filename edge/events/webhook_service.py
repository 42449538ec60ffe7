"""Acts of an organization on its webhooks; each act is in its audit log."""

from collections.abc import Sequence
from typing import Any, Self
from uuid import UUID

import asyncpg

from edge.events.schemas import DeliveryAttempt, Webhook
from edge.events.watch_service import Actor
from edge.http.context import uuid7
from edge.http.problems import Fault, Problem, invalid_parameters
from edge.storage.database import Database, Transaction
from shared.clock import rfc3339, utc_now
from shared.db.queries import load_queries
from shared.events.webhooks import ENDPOINTS_MAX, REPLAYED_MAX, ROTATION_SECONDS, new_secret, sealed_secret, url_fault
from shared.index.iid import require_uuid
from shared.settings.settings import Settings

SQL = load_queries(__file__, "webhooks.sql")
_NEWEST = 2**62
_DISABLED = "Disabled by its organization."


class WebhookService:
    """The webhooks of organizations."""

    def __init__(self, database: Database | Transaction, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._secret = settings.signing_secret
        self._private_allowed = settings.webhook_private_addresses

    def within(self, database: Database | Transaction) -> Self:
        """Return the service whose acts are part of a transaction, where it is given one."""
        return type(self)(database, self._settings)

    async def add(self, acting: Actor, url: str, types: Sequence[str] | None) -> Webhook:
        """Make a webhook and return it with its secret, once. Raises `invalid-parameter`, `state-conflict`."""
        fault = url_fault(url, private_allowed=self._private_allowed)
        if fault is not None:
            raise invalid_parameters([Fault("url", fault)])
        endpoint, secret = str(uuid7()), new_secret()
        async with self._database.transaction(acting.scope) as transaction:
            await transaction.fetch(SQL.lock, acting.organization)
            [counted] = await transaction.fetch(SQL.count, acting.organization)
            if counted["total"] >= ENDPOINTS_MAX:
                raise Problem(
                    "state-conflict", f"An organization can have {ENDPOINTS_MAX} webhooks at most; delete one."
                )
            values = (endpoint, url, types, self._sealed(endpoint, secret), acting.name)
            await transaction.fetch(SQL.add, acting.organization, *values)
            [row] = await transaction.fetch(SQL.listed, acting.organization, endpoint)
        return rendered(row, secret)

    async def listed(self, acting: Actor) -> list[Webhook]:
        rows = await self._database.fetch(SQL.listed, acting.organization, None, scope=acting.scope)
        return [rendered(row) for row in rows]

    async def one(self, acting: Actor, endpoint: str, secret: str | None = None) -> Webhook:
        """Return a webhook. Raises `webhook-not-found`."""
        rows = await self._database.fetch(SQL.listed, acting.organization, _uuid(endpoint), scope=acting.scope)
        if not rows:
            raise _not_found()
        return rendered(rows[0], secret)

    async def rotate(self, acting: Actor, endpoint: str) -> Webhook:
        """Give a webhook another secret and return it, once; the one before signs as well for a day."""
        secret, endpoint = new_secret(), _uuid(endpoint)
        sealed = self._sealed(endpoint, secret)
        await self._act(acting, SQL.rotate, endpoint, sealed, ROTATION_SECONDS)
        return await self.one(acting, endpoint, secret)

    async def enable(self, acting: Actor, endpoint: str) -> Webhook:
        """Send to a disabled webhook again, and to one that waits for its next attempt at once."""
        await self._act(acting, SQL.enable, _uuid(endpoint))
        return await self.one(acting, endpoint)

    async def disable(self, acting: Actor, endpoint: str) -> Webhook:
        """Send nothing to a webhook until it is enabled; events wait for it as long as the log keeps them."""
        await self._act(acting, SQL.disable, _uuid(endpoint), _DISABLED)
        return await self.one(acting, endpoint)

    async def delete(self, acting: Actor, endpoint: str) -> None:
        await self._act(acting, SQL.delete, _uuid(endpoint))

    async def attempts(self, acting: Actor, endpoint: str, limit: int) -> list[DeliveryAttempt]:
        """Return the newest attempts. Raises `webhook-not-found`."""
        await self.one(acting, endpoint)
        rows = await self._database.fetch(SQL.attempts, _uuid(endpoint), limit, scope=acting.scope)
        return [DeliveryAttempt(**{**row, "at": rfc3339(row["at"])}) for row in rows]

    async def replay(self, acting: Actor, endpoint: str, event: UUID | None, after: int | None, to: int | None) -> int:
        """Have events sent again in their order, before later ones; return how many. Raises `webhook-not-found`."""
        await self.one(acting, endpoint)
        chosen = (after or 0, _NEWEST if to is None else to, event, REPLAYED_MAX)
        values = (acting.organization, _uuid(endpoint), *chosen, acting.name)
        [row] = await self._database.fetch(SQL.replay, *values, scope=acting.scope)
        return int(row["events"])

    def _sealed(self, endpoint: str, secret: str) -> bytes:
        return sealed_secret(self._secret, endpoint, secret)

    async def _act(self, acting: Actor, query: str, endpoint: str, *values: Any) -> None:
        if not await self._database.fetch(
            query, acting.organization, endpoint, *values, acting.name, scope=acting.scope
        ):
            raise _not_found()


def rendered(row: asyncpg.Record, secret: str | None = None) -> Webhook:
    """Return a webhook as answers show it."""
    disabled, waiting = row["disabled_at"] is not None, row["due_at"] > utc_now()
    return Webhook(
        id=row["id"],
        url=row["url"],
        types=row["types"],
        state="disabled" if disabled else "retrying" if row["failures"] else "active",
        disabled_reason=row["disabled_reason"],
        failures=row["failures"],
        next_attempt_at=rfc3339(row["due_at"]) if waiting and not disabled else None,
        pending=row["pending"],
        cursor=row["position"],
        secret=secret,
        secret_before_ends=rfc3339(row["secret_before_ends"]) if row["secret_before_ends"] else None,
        created_at=rfc3339(row["created_at"]),
    )


def _uuid(text: str) -> str:
    return require_uuid(text, _not_found())


def _not_found() -> Problem:
    return Problem("webhook-not-found", "Your organization has no webhook with this ID.")
