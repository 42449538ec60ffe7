"""/webhooks: addresses to which events are sent, and their deliveries."""

from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp_apispec import docs, json_schema, match_info_schema, querystring_schema

from edge.events import schemas
from edge.events.watches import acting_of, created
from edge.events.webhook_service import WebhookService
from edge.http.json import NO_STORE, answers, unstored_json
from edge.http.lists import envelope
from edge.http.parameters import BODY, PATH, QUERY
from edge.storage.idempotency import PARAMETER, IdempotentActs, Outcome, outcome_of, response_of

_TAGS = ["webhooks"]


class Webhooks:
    """The handlers."""

    def __init__(self, webhooks: WebhookService, acts: IdempotentActs, data_version: Callable[[], int]) -> None:
        self._webhooks = webhooks
        self._acts = acts
        self._data_version = data_version

    @docs(
        operationId="createWebhook",
        summary="Create a webhook",
        description="Each event is sent as one POST, signed according to Standard Webhooks 1.0, in the order of the "
        "feed. An event that is not accepted (2xx within 10 s) is sent again after 5 s, then at increasing "
        "intervals of up to 24 h; later events wait. The secret is shown only once.",
        tags=_TAGS,
        parameters=[PARAMETER],
    )
    @json_schema(schemas.NewWebhook())
    @answers(schemas.Webhook, 201, "The webhook with its secret; `Location` is its address")
    async def create(self, request: web.Request) -> web.StreamResponse:
        """Make a webhook."""
        acting, body = acting_of(request), request[BODY]

        async def act(webhooks: WebhookService) -> Outcome:
            return outcome_of(await webhooks.add(acting, body["url"], body["types"]), 201)

        return created(request, await self._once(request, act))

    @docs(operationId="listWebhooks", summary="List your organization's webhooks", tags=_TAGS)
    @answers(schemas.WebhookList, 200, "All webhooks")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with all webhooks."""
        return self._listed(await self._webhooks.listed(acting_of(request)))

    @docs(operationId="getWebhook", summary="State of a webhook", tags=_TAGS)
    @match_info_schema(schemas.WebhookPath())
    @answers(schemas.Webhook, 200, "The webhook, without its secret")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with one webhook."""
        return unstored_json(await self._webhooks.one(acting_of(request), request[PATH]["id"]))

    @docs(
        operationId="deleteWebhook",
        summary="Delete a webhook",
        tags=_TAGS,
        parameters=[PARAMETER],
        responses={"204": {"description": "Deleted; no more events are sent to it"}},
    )
    @match_info_schema(schemas.WebhookPath())
    async def delete(self, request: web.Request) -> web.StreamResponse:
        """Delete."""
        acting, endpoint = acting_of(request), request[PATH]["id"]

        async def act(webhooks: WebhookService) -> Outcome:
            await webhooks.delete(acting, endpoint)
            return Outcome(204)

        return response_of(await self._once(request, act))

    @docs(
        operationId="rotateWebhookSecret",
        summary="Replace a webhook's secret",
        description="For 24 hours, each event is signed with the new and the previous secret. If the answer was lost, "
        "repeat the call with the same `Idempotency-Key`: another rotation would end the previous secret immediately.",
        tags=_TAGS,
        parameters=[PARAMETER],
    )
    @match_info_schema(schemas.WebhookPath())
    @answers(schemas.Webhook, 201, "The webhook with its new secret, shown only once")
    async def rotate(self, request: web.Request) -> web.StreamResponse:
        """Replace the secret."""
        acting, endpoint = acting_of(request), request[PATH]["id"]

        async def act(webhooks: WebhookService) -> Outcome:
            return outcome_of(await webhooks.rotate(acting, endpoint), 201)

        return response_of(await self._once(request, act))

    @docs(
        operationId="enableWebhook",
        summary="Enable a webhook",
        description="A disabled webhook continues where it stopped. A webhook that waits for its next attempt is "
        "tried immediately.",
        tags=_TAGS,
        parameters=[PARAMETER],
    )
    @match_info_schema(schemas.WebhookPath())
    @answers(schemas.Webhook, 200, "The webhook as it is now")
    async def enable(self, request: web.Request) -> web.StreamResponse:
        """Enable."""
        acting, endpoint = acting_of(request), request[PATH]["id"]

        async def act(webhooks: WebhookService) -> Outcome:
            return outcome_of(await webhooks.enable(acting, endpoint), 200)

        return response_of(await self._once(request, act))

    @docs(
        operationId="disableWebhook",
        summary="Disable a webhook",
        description="Events wait until it is enabled again, for as long as the log keeps them.",
        tags=_TAGS,
        parameters=[PARAMETER],
    )
    @match_info_schema(schemas.WebhookPath())
    @answers(schemas.Webhook, 200, "The webhook as it is now")
    async def disable(self, request: web.Request) -> web.StreamResponse:
        """Disable."""
        acting, endpoint = acting_of(request), request[PATH]["id"]

        async def act(webhooks: WebhookService) -> Outcome:
            return outcome_of(await webhooks.disable(acting, endpoint), 200)

        return response_of(await self._once(request, act))

    @docs(
        operationId="replayEvents",
        summary="Replay events to a webhook",
        description="Sends one event by its ID, or all after a cursor, in their order and with their original IDs.",
        tags=_TAGS,
        parameters=[PARAMETER],
    )
    @match_info_schema(schemas.WebhookPath())
    @json_schema(schemas.Replay())
    @answers(schemas.Replayed, 202, "The number of events that will be sent")
    async def replay(self, request: web.Request) -> web.StreamResponse:
        """Order a replay."""
        acting, endpoint, body = acting_of(request), request[PATH]["id"], request[BODY]

        async def act(webhooks: WebhookService) -> Outcome:
            events = await webhooks.replay(acting, endpoint, body["event"], body["after"], body["to"])
            return outcome_of(schemas.Replayed(events), 202)

        return response_of(await self._once(request, act))

    @docs(operationId="listAttempts", summary="List delivery attempts of a webhook", tags=_TAGS)
    @match_info_schema(schemas.WebhookPath())
    @querystring_schema(schemas.AttemptsQuery())
    @answers(schemas.AttemptList, 200, "The newest attempts")
    async def attempts(self, request: web.Request) -> web.StreamResponse:
        """Answer with the newest attempts."""
        limit = request[QUERY]["limit"]
        return self._listed(await self._webhooks.attempts(acting_of(request), request[PATH]["id"], limit))

    async def _once(self, request: web.Request, act: Callable[[WebhookService], Awaitable[Outcome]]) -> Outcome:
        acting = acting_of(request)
        within = self._webhooks.within
        return await self._acts.run(request, acting.scope, lambda database: act(within(database)), acting.organization)

    def _listed(self, rows: object) -> web.Response:
        assert isinstance(rows, list)
        response = envelope(
            rows, total=len(rows), exact=True, next_cursor=None, query={}, data_version=self._data_version()
        )
        response.headers.update(NO_STORE)
        return response
