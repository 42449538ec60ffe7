"""Pages of webhooks."""

from uuid import UUID

from aiohttp import web

from edge.dashboard.forms import Form
from edge.dashboard.page_requests import PageError, form_of, redirect
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.visitor import SignedIn
from edge.events.schemas import NewWebhook, Replay
from edge.http.parameters import whole_number
from edge.http.problems import Problem
from edge.http.validation import load
from edge.storage.database import Transaction
from shared.events.types import TYPES
from shared.events.webhooks import ENDPOINTS_MAX, REPLAYED_MAX
from shared.organizations.accounts import BRAND

_WEBHOOKS = "/dashboard/webhooks"
_ATTEMPTS = 100
# Webhooks have secrets and send an organization's events elsewhere: the right is that of its key.
_RIGHT = "manage-key"
_URL = {
    "label": "URL",
    "missing": "Enter the address that receives the events.",
    "attributes": {"type": "url", "maxlength": 2_000, "placeholder": "https://example.org/hook", "autocomplete": "off"},
    "wide": True,
}
_EVENT_TYPES = {
    "label": "Event types",
    "sentence": "If none is selected, all events are sent, including future types.",
    "control": "boxes",
    "choices": tuple(TYPES.items()),
}
NEW_WEBHOOK = Form.over(NewWebhook(), ("url", "types"), {"url": _URL, "types": _EVENT_TYPES})
_AFTER = {
    "label": "After number",
    "missing": "Enter the number to redeliver from; 0 redelivers all events in the log.",
}
_TO = {"label": "Up to number", "sentence": f"{REPLAYED_MAX:,} events at most; the newest if empty."}
REDELIVERY = Form.over(Replay(), ("after", "to"), {"after": _AFTER, "to": _TO})


class WebhookPages(Pages):
    """The handlers. Every member reads; owners and admins change, where the plan includes webhooks."""

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The organization's webhooks and the form of a new one; its secret is shown once."""
        return await self._list(request, visitor, NEW_WEBHOOK)

    async def create(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Make a webhook; the next page shows its secret, once. A form that is not valid is shown again."""
        await self._principal(visitor, BRAND, _RIGHT)
        form = NEW_WEBHOOK.sent(await form_of(request))
        try:
            wanted = form.load()

            async def make(transaction: Transaction) -> str:
                made = await self._services.webhooks.within(transaction).add(
                    visitor.acting, wanted["url"], wanted["types"]
                )
                return str(made.secret)

            return await self._once(request, visitor, _WEBHOOKS, make)
        except Problem as problem:
            return await self._list(request, visitor, form.refused(problem))

    async def show_one(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One webhook with its newest attempts; a new secret is shown once, as is what was done on this page."""
        return await self._one(request, visitor, REDELIVERY)

    async def rotate(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Replace the secret; the next page shows the new one, once."""
        await self._principal(visitor, BRAND, _RIGHT)
        endpoint = request.match_info["id"]

        async def make(transaction: Transaction) -> str:
            return str((await self._services.webhooks.within(transaction).rotate(visitor.acting, endpoint)).secret)

        return await self._once(request, visitor, f"{_WEBHOOKS}/{endpoint}", make)

    async def enable(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Send to it again, at once."""
        await self._principal(visitor, BRAND, _RIGHT)
        await self._services.webhooks.enable(visitor.acting, request.match_info["id"])
        return redirect(f"{_WEBHOOKS}/{request.match_info['id']}")

    async def disable(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Send nothing to it for now; events wait."""
        await self._principal(visitor, BRAND, _RIGHT)
        await self._services.webhooks.disable(visitor.acting, request.match_info["id"])
        return redirect(f"{_WEBHOOKS}/{request.match_info['id']}")

    async def replay(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Have one event sent again, or those after a cursor."""
        await self._principal(visitor, BRAND, _RIGHT)
        given, endpoint = await form_of(request), request.match_info["id"]
        form = REDELIVERY.sent(given)
        try:
            wanted = load(form.schema, {"event": given["event"]}) if "event" in given else form.load()
        except Problem as problem:
            return await self._one(request, visitor, form.refused(problem))
        count = await self._services.webhooks.replay(
            visitor.acting, endpoint, wanted["event"], wanted["after"], wanted["to"]
        )
        return redirect(f"{_WEBHOOKS}/{endpoint}?replayed={count}")

    async def test(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Have the newest event of its types sent again: a receiver is tried with what it will really get."""
        await self._principal(visitor, BRAND, _RIGHT)
        acting, endpoint = visitor.acting, request.match_info["id"]
        webhook = await self._services.webhooks.find(acting, endpoint)
        newest = await self._services.events.newest(acting.organization, None, 1, webhook.types)
        if not newest:
            raise PageError(409, "There are no events of its types yet. Rotating the API key creates one.")
        count = await self._services.webhooks.replay(acting, endpoint, UUID(newest[0].id), None, None)
        return redirect(f"{_WEBHOOKS}/{endpoint}?replayed={count}")

    async def delete(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Delete it with its attempts."""
        await self._principal(visitor, BRAND, _RIGHT)
        await self._services.webhooks.delete(visitor.acting, request.match_info["id"])
        return redirect(_WEBHOOKS)

    async def _list(self, request: web.Request, visitor: SignedIn, form: Form) -> web.StreamResponse:
        return render(
            request,
            "webhooks.html",
            visitor,
            400 if form.faults else 200,
            webhooks=await self._services.webhooks.find_all(visitor.acting),
            new_secret=None if form.faults else await self._secret(visitor, _WEBHOOKS),
            form=form,
            most=ENDPOINTS_MAX,
            refusal=await self._refusal(visitor, BRAND, _RIGHT),
        )

    async def _one(self, request: web.Request, visitor: SignedIn, form: Form) -> web.StreamResponse:
        acting, endpoint = visitor.acting, request.match_info["id"]
        webhook = await self._services.webhooks.find(acting, endpoint)
        replayed = request.query.get("replayed", "")
        return render(
            request,
            "webhook.html",
            visitor,
            400 if form.faults else 200,
            webhook=webhook,
            new_secret=None if form.faults else await self._secret(visitor, f"{_WEBHOOKS}/{endpoint}"),
            attempts=await self._services.webhooks.attempts(acting, endpoint, _ATTEMPTS),
            replayed=whole_number(replayed, 8),
            form=form,
            refusal=await self._refusal(visitor, BRAND, _RIGHT),
        )
