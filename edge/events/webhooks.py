"""/webhooks: addresses to which events are sent, and their deliveries."""

from collections.abc import Awaitable, Callable
from functools import partial

from aiohttp import web

from edge.events import schemas
from edge.events.watches import acting_of, created
from edge.events.webhook_service import WebhookService
from edge.http.json import NO_STORE, unstored_json
from edge.http.lists import envelope
from edge.http.parameters import BODY, PATH, QUERY
from edge.http.routing import operation
from edge.storage.idempotency import PARAMETER, IdempotentActs

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
        return created(request, made)

    @_operation("listWebhooks", answers={200: (schemas.WebhookList, "All webhooks")})
    async def list(self, request: web.Request) -> web.StreamResponse:
        """List your organization's webhooks."""
        return self._listed(await self._webhooks.listed(acting_of(request)))

    @_operation("getWebhook", schemas.WebhookPath, answers={200: (schemas.Webhook, "The webhook, without its secret")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """State of a webhook."""
        return unstored_json(await self._webhooks.one(acting_of(request), request[PATH]["id"]))

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
        return self._listed(await self._webhooks.attempts(acting_of(request), request[PATH]["id"], limit))

    async def _once(
        self, request: web.Request, status: int, act: Callable[[WebhookService], Awaitable[object]]
    ) -> web.Response:
        acting = acting_of(request)
        return await self._acts.respond(request, acting.scope, self._webhooks, act, status, acting.organization)

    def _listed(self, rows: object) -> web.Response:
        assert isinstance(rows, list)
        response = envelope(
            rows, total=len(rows), exact=True, next_cursor=None, query={}, data_version=self._data_version()
        )
        response.headers.update(NO_STORE)
        return response
