"""Pages of watches, webhooks and the log of events."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from aiohttp import web

from edge.analytics.report_declarations import REPORTS_BY_KIND
from edge.dashboard.forms import Choice, Form, FormPages
from edge.dashboard.pages import Pages
from edge.dashboard.reports import names_in
from edge.dashboard.session_guard import PageError, SignedIn, form_of, id_in, render, see
from edge.dashboard.tables import named
from edge.events.schemas import MEMBERS, NewWatch, NewWebhook, Replay
from edge.events.watches import rendered
from edge.http.parameters import load, whole_number
from edge.http.problems import Problem
from edge.storage.database import Transaction
from shared.events.types import ABSENT_DAYS_DEFAULT, KEPT_DAYS, NEW_LOW_DAYS, TARGETS, TYPES, Condition
from shared.events.webhooks import ENDPOINTS_MAX, REPLAYED_MAX
from shared.organizations.accounts import BRAND, Principal
from shared.printable import isolated

_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "code": {"label": "Target", "completes": "watched"},
    "percent": {"sentence": "How much prices must change from one month to the next."},
    "kind": {"choices": (("listing", "listings"), ("sale", "sales")), "default": ""},
    "label": {"sentence": "Optional. Included in every event."},
}
_LOWEST_OF = {
    "label": "Lowest of",
    "sentence": "",
    "choices": tuple((str(days), f"{days} days") for days in NEW_LOW_DAYS),
    "default": "",
}
_ABSENCE = {"label": "Absence", "sentence": f"Days without a price; {ABSENT_DAYS_DEFAULT} if empty."}


def noun(target: str) -> str:
    """Return the word for what a watch is of: people know an article as an item."""
    return "item" if target == "article" else target


def _form(condition: Condition) -> Form:
    """Return the form of a watch with this condition: what is watched, what the condition needs, and a label."""
    needed, optional = MEMBERS[condition]
    moved = condition == "index-moved"  # a single item has no index
    target = {
        "label": "Watch",
        "sentence": "" if moved else "For a brand or category, each item is reported separately.",
        "choices": tuple((name, noun(name)) for name in TARGETS if name != "article" or not moved),
        "default": "",
    }
    words = {**_FIELDS, "target": target, "days": _LOWEST_OF if condition == "new-low" else _ABSENCE}
    names, chosen = ("target", "code", *needed, *optional, "kind", "label"), {"condition": condition}
    return Form.over(NewWatch(), names, words, chosen, chosen)


_TITLES: Mapping[Condition, tuple[str, str]] = {
    "below": ("Below an amount", "The lowest price of an item's newest day is below the amount."),
    "new-low": ("A new low", "An item's price is lower than on any of the days before."),
    "returned": ("Offered again", "An item is back after at least n days without a price."),
    "index-moved": ("Prices moved", "Prices of the same items changed by more than a percentage within a month."),
}
FORMS: dict[str, Choice] = {
    name: Choice(title, sentence, BRAND, _form(name)) for name, (title, sentence) in _TITLES.items()
}
_PAGE = "/dashboard/watches"
_LISTED = 50


class WatchPages(FormPages):
    """The handlers. Every member reads; members who may call the API also change, where the plan includes watches."""

    path, title, button, chooses, choices = _PAGE, "New watch", "Create watch", "condition", FORMS
    crumb, previews = "Watches", False

    async def _act(
        self, request: web.Request, visitor: SignedIn, principal: Principal, form: Form
    ) -> web.StreamResponse:
        wanted, watches = form.load(), self._services.watches
        return await self._once(
            request, visitor, _PAGE, lambda transaction: watches.within(transaction).add(visitor.acting, wanted)
        )

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The organization's watches, the newest first, a page at a time."""
        rows, total = await self._services.watches.page(visitor.acting, _LISTED, id_in(request, "after"))
        watches = [rendered(row) for row in rows[:_LISTED]]
        subjects = [("iid" if watch.target == "article" else watch.target, watch.code) for watch in watches]
        names = await names_in(self._database, [dict([subject]) for subject in subjects])
        return render(
            request,
            "watches.html",
            visitor,
            watches=[(watch, named(names, *subject)) for watch, subject in zip(watches, subjects, strict=True)],
            noun=noun,
            total=total,
            next=rows[_LISTED - 1]["id"] if len(rows) > _LISTED else None,
            refusal=await self._refusal(visitor, BRAND),
        )

    async def pause(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Pause a watch, or have it evaluated again."""
        await self._principal(visitor, BRAND)
        paused = (await form_of(request)).get("paused") == "true"
        await self._services.watches.pause(visitor.acting, request.match_info["id"], paused=paused)
        return see(_PAGE)

    async def delete(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Delete a watch; its events stay in the log for their time."""
        await self._principal(visitor, BRAND)
        await self._services.watches.delete(visitor.acting, request.match_info["id"])
        return see(_PAGE)


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
    "label": "After cursor",
    "missing": "Enter the cursor to redeliver from; 0 redelivers all events in the log.",
}
_TO = {"label": "Up to cursor", "sentence": f"{REPLAYED_MAX:,} events at most; the newest if empty."}
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

    async def one(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
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
        return see(f"{_WEBHOOKS}/{request.match_info['id']}")

    async def disable(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Send nothing to it for now; events wait."""
        await self._principal(visitor, BRAND, _RIGHT)
        await self._services.webhooks.disable(visitor.acting, request.match_info["id"])
        return see(f"{_WEBHOOKS}/{request.match_info['id']}")

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
        return see(f"{_WEBHOOKS}/{endpoint}?replayed={count}")

    async def test(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Have the newest event of its types sent again: a receiver is tried with what it will really get."""
        await self._principal(visitor, BRAND, _RIGHT)
        acting, endpoint = visitor.acting, request.match_info["id"]
        webhook = await self._services.webhooks.one(acting, endpoint)
        newest = await self._services.events.newest(acting.organization, None, 1, webhook.types)
        if not newest:
            raise PageError(409, "There are no events of its types yet. Rotating the API key creates one.")
        count = await self._services.webhooks.replay(acting, endpoint, UUID(newest[0].id), None, None)
        return see(f"{_WEBHOOKS}/{endpoint}?replayed={count}")

    async def delete(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Delete it with its attempts."""
        await self._principal(visitor, BRAND, _RIGHT)
        await self._services.webhooks.delete(visitor.acting, request.match_info["id"])
        return see(_WEBHOOKS)

    async def _list(self, request: web.Request, visitor: SignedIn, form: Form) -> web.StreamResponse:
        return render(
            request,
            "webhooks.html",
            visitor,
            400 if form.faults else 200,
            webhooks=await self._services.webhooks.listed(visitor.acting),
            new_secret=None if form.faults else await self._secret(visitor, _WEBHOOKS),
            form=form,
            most=ENDPOINTS_MAX,
            refusal=await self._refusal(visitor, BRAND, _RIGHT),
        )

    async def _one(self, request: web.Request, visitor: SignedIn, form: Form) -> web.StreamResponse:
        acting, endpoint = visitor.acting, request.match_info["id"]
        webhook = await self._services.webhooks.one(acting, endpoint)
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


Data = Mapping[str, Any]
_CONDITIONS = {
    "below": "{price} {currency} on {day}, below {amount}",
    "new-low": "{price} {currency} on {day}, the lowest of {days} days",
    "returned": "back on {day} after at least {days} days without a price",
    "index-moved": "prices changed by {change_percent} % up to {day}",
}


class EventWords(NamedTuple):
    """An event in a sentence; `link` is a page of the dashboard, None where there is none."""

    text: str
    link: str | None = None


def words_of(type_: str, data: Data) -> EventWords:
    """Return an event in words. A type or a member that is not known here is left to the sentence of its type."""
    try:
        if type_ in _COMPOSED:
            return _COMPOSED[type_](data)
        text, page = _WORDS[type_]
        return EventWords(text.format_map(data), f"/dashboard{page.format_map(data)}" if page else None)
    except KeyError:
        return EventWords(TYPES.get(type_, type_))


def _watch(data: Data) -> EventWords:
    name, iid = data["label"] or f"{noun(data['target'])} {data['code']}", data.get("iid")
    text = _CONDITIONS[data["condition"]].format_map(data)
    if data["condition"] == "new-low" and data["low_before"] is not None:
        text += f"; it was {data['low_before']} before"
    return EventWords(f"{isolated(name)}: {text}", f"/dashboard/explorer/{iid}" if iid else None)


def _job(data: Data) -> EventWords:
    report = REPORTS_BY_KIND.get(data["kind"])
    title = f"{report.title} report" if report else data["kind"].replace("-", " ").capitalize()
    return EventWords(f"{title} {data['state']}", f"/dashboard/jobs/{data['job']}")


_COMPOSED: Mapping[str, Callable[[Data], EventWords]] = {"watch.fired": _watch, "job.ended": _job}
# The words of each other type, and its page below /dashboard.
_WORDS: Mapping[str, tuple[str, str]] = {
    "export.ready": ("The files of an export are ready to download", "/exports/{job}"),
    "release.cut": ("Release {data_version} of {dataset}: {rows:,} rows", "/datasets/{dataset}?release={data_version}"),
    "item.merged": ("{iid} became part of {survivor_iid}", "/explorer/{survivor_iid}"),
    "item.split": ("{iid} is no longer part of {survivor_iid}", "/explorer/{iid}"),
    "item.withdrawn": ("{iid} was withdrawn", ""),
    "item.restored": ("{iid} is active again", "/explorer/{iid}"),
    "outliers.changed": ("Later observations changed which prices of {month} are outliers: {observations:,}", ""),
    "quota.reached": ("{percent} % of the daily units used on {day}: {used:,} of {limit:,}", "/usage"),
    "key.rotated": ("Key {key_id} is the new key", "/key"),
    "key.revoked": ("Key {key_id} was revoked", "/key"),
    "webhook.disabled": ("{reason}", "/webhooks/{webhook}"),
}

_EVENTS_LISTED = 50


class EventPages(Pages):
    """The handler. Every member reads."""

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One page of events, of one type where the address names one."""
        chosen = request.query.get("type", "")
        if chosen and chosen not in TYPES:
            raise PageError(400, "There is no such event type.")
        organization = visitor.acting.organization
        types = [chosen] if chosen else None
        events = await self._services.events.newest(organization, _cursor(request), _EVENTS_LISTED + 1, types)
        listed = [(event, words_of(event.type, event.data)) for event in events[:_EVENTS_LISTED]]
        older = events[_EVENTS_LISTED - 1].cursor if len(events) > _EVENTS_LISTED else None
        values: dict[str, Any] = {"events": listed, "older": older, "types": TYPES, "chosen": chosen, "days": KEPT_DAYS}
        return render(request, "events.html", visitor, **values)


def _cursor(request: web.Request) -> int | None:
    text = request.query.get("before", "")
    if not text:
        return None
    cursor = whole_number(text, 18)
    if cursor is None:
        raise PageError(400, "This page of the log does not exist. Go back to the first page.")
    return cursor
