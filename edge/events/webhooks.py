"""/webhooks: addresses to which events are sent, and their deliveries; each act is in the audit log."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Self
from uuid import UUID

import asyncpg
from aiohttp import web

from edge.auth.actor import Actor, acting_of
from edge.events import schemas
from edge.events.schemas import DeliveryAttempt, Webhook
from edge.events.watches import with_location
from edge.http.context import uuid7
from edge.http.faults import Fault
from edge.http.json import NO_STORE, unstored_json
from edge.http.lists import envelope
from edge.http.problems import Problem, invalid_parameters
from edge.http.routing import operation
from edge.http.validation import BODY, PATH, QUERY
from edge.storage.database import Database, Transaction
from edge.storage.idempotency import PARAMETER, IdempotentActs
from shared.clock import rfc3339, utc_now
from shared.db.queries import load_queries
from shared.events.webhook_addresses import url_fault
from shared.events.webhooks import ENDPOINTS_MAX, REPLAYED_MAX, ROTATION_SECONDS, new_secret, seal_secret
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
            values = (endpoint, url, types, self._seal(endpoint, secret), acting.name)
            await transaction.fetch(SQL.add, acting.organization, *values)
            [row] = await transaction.fetch(SQL.listed, acting.organization, endpoint)
        return render_webhook(row, secret)

    async def find_all(self, acting: Actor) -> list[Webhook]:
        rows = await self._database.fetch(SQL.listed, acting.organization, None, scope=acting.scope)
        return [render_webhook(row) for row in rows]

    async def find(self, acting: Actor, endpoint: str, secret: str | None = None) -> Webhook:
        """Return a webhook. Raises `webhook-not-found`."""
        rows = await self._database.fetch(SQL.listed, acting.organization, _uuid(endpoint), scope=acting.scope)
        if not rows:
            raise _not_found()
        return render_webhook(rows[0], secret)

    async def rotate(self, acting: Actor, endpoint: str) -> Webhook:
        """Give a webhook another secret and return it, once; the one before signs as well for a day."""
        secret, endpoint = new_secret(), _uuid(endpoint)
        sealed = self._seal(endpoint, secret)
        await self._act(acting, SQL.rotate, endpoint, sealed, ROTATION_SECONDS)
        return await self.find(acting, endpoint, secret)

    async def enable(self, acting: Actor, endpoint: str) -> Webhook:
        """Send to a disabled webhook again, and to one that waits for its next attempt at once."""
        await self._act(acting, SQL.enable, _uuid(endpoint))
        return await self.find(acting, endpoint)

    async def disable(self, acting: Actor, endpoint: str) -> Webhook:
        """Send nothing to a webhook until it is enabled; events wait for it as long as the log keeps them."""
        await self._act(acting, SQL.disable, _uuid(endpoint), _DISABLED)
        return await self.find(acting, endpoint)

    async def delete(self, acting: Actor, endpoint: str) -> None:
        await self._act(acting, SQL.delete, _uuid(endpoint))

    async def attempts(self, acting: Actor, endpoint: str, limit: int) -> list[DeliveryAttempt]:
        """Return the newest attempts. Raises `webhook-not-found`."""
        await self.find(acting, endpoint)
        rows = await self._database.fetch(SQL.attempts, _uuid(endpoint), limit, scope=acting.scope)
        return [DeliveryAttempt(**{**row, "at": rfc3339(row["at"])}) for row in rows]

    async def replay(self, acting: Actor, endpoint: str, event: UUID | None, after: int | None, to: int | None) -> int:
        """Have events sent again in their order, before later ones; return how many. Raises `webhook-not-found`."""
        await self.find(acting, endpoint)
        chosen = (after or 0, _NEWEST if to is None else to, event, REPLAYED_MAX)
        values = (acting.organization, _uuid(endpoint), *chosen, acting.name)
        [row] = await self._database.fetch(SQL.replay, *values, scope=acting.scope)
        return int(row["events"])

    def _seal(self, endpoint: str, secret: str) -> bytes:
        return seal_secret(self._secret, endpoint, secret)

    async def _act(self, acting: Actor, query: str, endpoint: str, *values: object) -> None:
        if not await self._database.fetch(
            query, acting.organization, endpoint, *values, acting.name, scope=acting.scope
        ):
            raise _not_found()


def render_webhook(row: asyncpg.Record, secret: str | None = None) -> Webhook:
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
    return Problem(
        "webhook-not-found", "Your organization has no webhook with this ID.", advice="List them at /v1/webhooks."
    )


_operation = partial(operation, "webhooks")
_act = partial(_operation, parameters=[PARAMETER])


class Webhooks:
    def __init__(self, webhooks: WebhookService, acts: IdempotentActs, data_version: Callable[[], int]) -> None:
        self._webhooks = webhooks
        self._acts = acts
        self._data_version = data_version

    @_act(
        "createWebhook",
        schemas.NewWebhook,
        answers={201: (schemas.Webhook, "The webhook with its secret; `Location` is its address")},
    )
    async def create(self, request: web.Request) -> web.StreamResponse:
        """Create a webhook.

        Each event is sent as one POST, signed according to Standard Webhooks 1.0, in the order of the feed. An event
        that is not accepted (2xx within 10 s) is sent again after 5 s, then at increasing intervals of up to 24 h;
        later events wait. The secret is shown only once.
        """
        acting, body = acting_of(request), request[BODY]
        made = await self._once(request, 201, lambda acts: acts.add(acting, body["url"], body["types"]))
        return with_location(request, made)

    @_operation("listWebhooks", answers={200: (schemas.WebhookList, "All webhooks")})
    async def list(self, request: web.Request) -> web.StreamResponse:
        """List your organization's webhooks."""
        return self._list_response(await self._webhooks.find_all(acting_of(request)))

    @_operation("getWebhook", schemas.WebhookPath, answers={200: (schemas.Webhook, "The webhook, without its secret")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """State of a webhook."""
        return unstored_json(await self._webhooks.find(acting_of(request), request[PATH]["id"]))

    @_act("deleteWebhook", schemas.WebhookPath, answers={204: "Deleted; no more events are sent to it"})
    async def delete(self, request: web.Request) -> web.StreamResponse:
        """Delete a webhook."""
        return await self._once(request, 204, lambda acts: acts.delete(acting_of(request), request[PATH]["id"]))

    @_act(
        "rotateWebhookSecret",
        schemas.WebhookPath,
        answers={201: (schemas.Webhook, "The webhook with its new secret, shown only once")},
    )
    async def rotate(self, request: web.Request) -> web.StreamResponse:
        """Replace a webhook's secret.

        For 24 hours, each event is signed with the new and the previous secret. If the response was lost, repeat the
        call with the same `Idempotency-Key`: another rotation would end the previous secret immediately.
        """
        return await self._once(request, 201, lambda acts: acts.rotate(acting_of(request), request[PATH]["id"]))

    @_act("enableWebhook", schemas.WebhookPath, answers={200: (schemas.Webhook, "The webhook as it is now")})
    async def enable(self, request: web.Request) -> web.StreamResponse:
        """Enable a webhook.

        A disabled webhook continues where it stopped. A webhook that waits for its next attempt is tried immediately.
        """
        return await self._once(request, 200, lambda acts: acts.enable(acting_of(request), request[PATH]["id"]))

    @_act("disableWebhook", schemas.WebhookPath, answers={200: (schemas.Webhook, "The webhook as it is now")})
    async def disable(self, request: web.Request) -> web.StreamResponse:
        """Disable a webhook.

        Events wait until it is enabled again, for as long as the log keeps them.
        """
        return await self._once(request, 200, lambda acts: acts.disable(acting_of(request), request[PATH]["id"]))

    @_act(
        "replayEvents",
        schemas.WebhookPath,
        schemas.Replay,
        answers={202: (schemas.Replayed, "The number of events that will be sent")},
    )
    async def replay(self, request: web.Request) -> web.StreamResponse:
        """Replay events to a webhook.

        Sends one event by its ID, or all after a cursor, in their order and with their original IDs.
        """
        acting, endpoint, body = acting_of(request), request[PATH]["id"], request[BODY]

        async def act(webhooks: WebhookService) -> object:
            return schemas.Replayed(await webhooks.replay(acting, endpoint, body["event"], body["after"], body["to"]))

        return await self._once(request, 202, act)

    @_operation(
        "listAttempts",
        schemas.WebhookPath,
        schemas.AttemptsQuery,
        answers={200: (schemas.AttemptList, "The newest attempts")},
    )
    async def attempts(self, request: web.Request) -> web.StreamResponse:
        """List delivery attempts of a webhook."""
        limit = request[QUERY]["limit"]
        return self._list_response(await self._webhooks.attempts(acting_of(request), request[PATH]["id"], limit))

    async def _once(
        self, request: web.Request, status: int, act: Callable[[WebhookService], Awaitable[object]]
    ) -> web.Response:
        acting = acting_of(request)
        return await self._acts.respond(request, acting.scope, self._webhooks, act, status, acting.organization)

    def _list_response(self, rows: object) -> web.Response:
        assert isinstance(rows, list)
        response = envelope(
            rows, total=len(rows), exact=True, next_cursor=None, query={}, data_version=self._data_version()
        )
        response.headers.update(NO_STORE)
        return response
