"""Pages of the webhooks: the list and the form, and of each one its state, its secret, its attempts and replays."""

from typing import Any
from uuid import UUID

from aiohttp import web
from marshmallow import ValidationError

from edge.composition import Services
from edge.dashboard.acting import PlanRights, acting_of
from edge.dashboard.forms import FormFaults
from edge.dashboard.one_time import OneTimeSecrets
from edge.dashboard.session_guard import PageError, SignedIn, form_of, render, see
from edge.events.schemas import NewWebhook, Replay
from edge.events.webhook_service import WebhookService
from edge.http.problems import Problem
from edge.storage.database import Transaction
from shared.events.types import TYPES
from shared.events.webhooks import ENDPOINTS_MAX, REPLAYED_MAX

_PAGE = "/dashboard/webhooks"
_ATTEMPTS = 100
# Webhooks have secrets and send an organization's events elsewhere: the right is that of its key.
_RIGHT = "manage-key"
_FIELDS = frozenset({"url", "types"})


class WebhookPages:
    """The handlers. Every member reads; owners and admins change, where the plan includes webhooks."""

    def __init__(self, services: Services, secret: OneTimeSecrets, rights: PlanRights) -> None:
        self._webhooks = services.webhooks
        self._feed = services.events
        self._secret = secret
        self._rights = rights
        self._settings = services.settings

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The organization's webhooks and the form of a new one; its secret is shown once."""
        return await self._list(request, visitor, {}, (), {})

    async def create(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Make a webhook; the next page shows its secret, once. A form that is not valid is shown again."""
        await self._rights.require(visitor, _RIGHT)
        form = await form_of(request)
        types = [str(name) for name in (await request.post()).getall("types", [])]
        try:
            wanted = _new(form, types)

            async def make(transaction: Transaction) -> str:
                made = await self._acts(transaction).add(acting_of(visitor), wanted["url"], wanted["types"])
                return str(made.secret)

            return await self._secret.once(request, visitor, _PAGE, make)
        except (FormFaults, Problem) as error:
            if isinstance(error, Problem) and error.type.slug not in ("invalid-parameter", "state-conflict"):
                raise
            return await self._list(request, visitor, form, types, FormFaults.of_failure(error, {}, _FIELDS).faults)

    async def one(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One webhook with its newest attempts; a new secret is shown once, as is what was done on this page."""
        return await self._one(request, visitor, {}, {})

    async def rotate(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Replace the secret; the next page shows the new one, once."""
        await self._rights.require(visitor, _RIGHT)
        endpoint = request.match_info["id"]

        async def make(transaction: Transaction) -> str:
            return str((await self._acts(transaction).rotate(acting_of(visitor), endpoint)).secret)

        return await self._secret.once(request, visitor, f"{_PAGE}/{endpoint}", make)

    async def enable(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Send to it again, at once."""
        await self._rights.require(visitor, _RIGHT)
        await self._webhooks.enable(acting_of(visitor), request.match_info["id"])
        return see(f"{_PAGE}/{request.match_info['id']}")

    async def disable(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Send nothing to it for now; events wait."""
        await self._rights.require(visitor, _RIGHT)
        await self._webhooks.disable(acting_of(visitor), request.match_info["id"])
        return see(f"{_PAGE}/{request.match_info['id']}")

    async def replay(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Have one event sent again, or those after a cursor."""
        await self._rights.require(visitor, _RIGHT)
        form = await form_of(request)
        try:
            event, after, to = _replay(form)
        except FormFaults as error:
            return await self._one(request, visitor, form, error.faults)
        endpoint = request.match_info["id"]
        count = await self._webhooks.replay(acting_of(visitor), endpoint, event, after, to)
        return see(f"{_PAGE}/{endpoint}?replayed={count}")

    async def test(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Have the newest event of its types sent again: a receiver is tried with what it will really get."""
        await self._rights.require(visitor, _RIGHT)
        acting, endpoint = acting_of(visitor), request.match_info["id"]
        webhook = await self._webhooks.one(acting, endpoint)
        newest = await self._feed.newest(acting.organization, None, 1, webhook.types)
        if not newest:
            raise PageError(409, "There are no events of its types yet. Rotating the API key creates one.")
        count = await self._webhooks.replay(acting, endpoint, UUID(newest[0].id), None, None)
        return see(f"{_PAGE}/{endpoint}?replayed={count}")

    async def delete(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Delete it with its attempts."""
        await self._rights.require(visitor, _RIGHT)
        await self._webhooks.delete(acting_of(visitor), request.match_info["id"])
        return see(_PAGE)

    def _acts(self, transaction: Transaction) -> WebhookService:
        return WebhookService(transaction, self._settings)

    async def _list(
        self, request: web.Request, visitor: SignedIn, given: dict[str, str], types: Any, faults: dict[str, str]
    ) -> web.StreamResponse:
        return render(
            request,
            "webhooks.html",
            visitor,
            400 if faults else 200,
            webhooks=await self._webhooks.listed(acting_of(visitor)),
            new_secret=None if faults else await self._secret.take(visitor, _PAGE),
            types=TYPES,
            given=given,
            chosen=types,
            faults=faults,
            most=ENDPOINTS_MAX,
            refusal=await self._rights.refusal(visitor, _RIGHT),
        )

    async def _one(
        self, request: web.Request, visitor: SignedIn, given: dict[str, str], faults: dict[str, str]
    ) -> web.StreamResponse:
        acting, endpoint = acting_of(visitor), request.match_info["id"]
        webhook = await self._webhooks.one(acting, endpoint)
        replayed = request.query.get("replayed", "")
        return render(
            request,
            "webhook.html",
            visitor,
            400 if faults else 200,
            webhook=webhook,
            new_secret=None if faults else await self._secret.take(visitor, f"{_PAGE}/{endpoint}"),
            attempts=await self._webhooks.attempts(acting, endpoint, _ATTEMPTS),
            replayed=int(replayed) if replayed.isascii() and replayed.isdigit() and len(replayed) < 9 else None,
            given=given,
            faults=faults,
            replayed_most=REPLAYED_MAX,
            refusal=await self._rights.refusal(visitor, _RIGHT),
        )


def _new(form: dict[str, str], types: list[str]) -> dict[str, Any]:
    """Return the webhook that a form orders; no type chosen is every type. Raises FormFaults."""
    try:
        loaded: dict[str, Any] = NewWebhook().load({"url": form.get("url", "").strip(), "types": types or None})
    except ValidationError as error:
        raise FormFaults.of(error, {}) from None
    return loaded


def _replay(form: dict[str, str]) -> tuple[UUID | None, int | None, int | None]:
    """Return the event, or the cursors after and up to which events are sent again. Raises FormFaults."""
    given: dict[str, Any] = {"event": form.get("event") or None}
    for name in ("after", "to"):
        text = form.get(name, "").strip()
        given[name] = (int(text) if text.isascii() and text.isdigit() and len(text) < 19 else text) if text else None
    if given["event"] is None and given["after"] is None:
        raise FormFaults({"after": "Enter the cursor to redeliver from; 0 redelivers all events in the log."})
    try:
        loaded = Replay().load(given)
    except ValidationError as error:
        raise FormFaults.of(error, {"event": "after"}) from None
    return loaded["event"], loaded["after"], loaded["to"]
