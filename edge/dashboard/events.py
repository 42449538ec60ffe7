"""Pages of watches, webhooks and the log of events."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from aiohttp import web
from marshmallow import ValidationError

from edge.analytics.report_declarations import REPORTS_BY_KIND
from edge.composition import Services
from edge.dashboard.acting import PlanRights, acting_of
from edge.dashboard.forms import Field, FormFaults
from edge.dashboard.reports import names_in
from edge.dashboard.session_guard import OneTimeSecrets, PageError, SignedIn, form_of, id_in, render, see
from edge.dashboard.tables import named
from edge.events.feed import EventFeed
from edge.events.schemas import MEMBERS, NewWatch, NewWebhook, Replay
from edge.events.watches import WatchService, rendered
from edge.http.parameters import whole_number
from edge.http.problems import Problem
from edge.storage.database import Database, Transaction
from shared.events.types import ABSENT_DAYS_DEFAULT, CONDITIONS, KEPT_DAYS, NEW_LOW_DAYS, TARGETS, TYPES, Condition
from shared.events.webhooks import ENDPOINTS_MAX, REPLAYED_MAX
from shared.printable import isolated

CARDS: dict[Condition, tuple[str, str]] = {
    "below": ("Below an amount", "The lowest price of an item's newest day is below the amount."),
    "new-low": ("A new low", "An item's price is lower than on any of the days before."),
    "returned": ("Offered again", "An item is back after at least n days without a price."),
    "index-moved": ("Prices moved", "Prices of the same items changed by more than a percentage within a month."),
}


_CODE = Field(
    "code", "Target", "The IID of an item, the slug of a brand, or the code of a category.", completes="watched"
)
_MEASURES = {
    "amount": Field("amount", "Amount", "For example `12.50`."),
    "currency": Field("currency", "Currency", "Three letters, for example `HKD`."),
    "percent": Field("percent", "Percent", "How much prices must change from one month to the next."),
}
_KIND = Field("kind", "Prices of", "", "choice", (("listing", "listings"), ("sale", "sales")))
_LABEL = Field("label", "Label", "Optional. Included in every event.")


def condition_of(text: str) -> Condition:
    """Return the condition that an address names, the first one for any other text."""
    return next((name for name in CONDITIONS if name == text), "below")


def fields_of(condition: Condition) -> tuple[Field, ...]:
    """Return the fields of a condition's form."""
    needed, optional = MEMBERS[condition]
    measures = tuple(_measure(name, condition) for name in (*needed, *optional))
    return (_target(condition), _CODE, *measures, _KIND, _LABEL)


def read_form(form: dict[str, str]) -> dict[str, Any]:
    """Return the watch that a filled-in form orders. Raises FormFaults with a sentence for each field."""
    condition = condition_of(form.get("condition", ""))
    given: dict[str, Any] = {"condition": condition}
    for field in fields_of(condition):
        text = form.get(field.name, "").strip()
        if field.name == "currency":
            text = text.upper()
        if text:
            given[field.name] = _number(text) if field.name in ("days", "percent") else text
    try:
        loaded: dict[str, Any] = NewWatch().load(given)
    except ValidationError as error:
        raise FormFaults.of(error, {}) from None
    return loaded


def _number(text: str) -> float | str:
    """Return the number that a text is; other text as it is, so that the schema refuses it with its sentence."""
    return float(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text, re.ASCII) else text


def noun(target: str) -> str:
    """Return the word for what a watch is of: people know an article as an item."""
    return "item" if target == "article" else target


def _target(condition: Condition) -> Field:
    # One article has no index.
    offered = [target for target in TARGETS if condition != "index-moved" or target != "article"]
    sentence = "For a brand or category, each item is reported separately." if condition != "index-moved" else ""
    return Field("target", "Watch", sentence, "choice", tuple((name, noun(name)) for name in offered))


def _measure(name: str, condition: Condition) -> Field:
    if name != "days":
        return _MEASURES[name]
    if condition == "new-low":
        choices = tuple((str(days), f"{days} days") for days in NEW_LOW_DAYS)
        return Field("days", "Lowest of", "", "choice", choices)
    sentence = f"Days without a price; {ABSENT_DAYS_DEFAULT} if empty."
    return Field("days", "Absence", sentence, "number")


_PAGE = "/dashboard/watches"
_LISTED = 50
_RIGHT = "call"


class WatchPages:
    """The handlers. Every member reads; members who may call the API also change, where the plan includes watches."""

    def __init__(self, database: Database, watches: WatchService, once: OneTimeSecrets, rights: PlanRights) -> None:
        self._database = database
        self._watches = watches
        self._once = once
        self._rights = rights

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The organization's watches, the newest first, a page at a time."""
        rows, total = await self._watches.page(acting_of(visitor), _LISTED, id_in(request, "after"))
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
            refusal=await self._rights.refusal(visitor, _RIGHT),
        )

    async def new(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The form. The address chooses the condition and can fill the fields in."""
        given = {name: value for name, value in request.query.items() if len(value) <= 400}
        return await self._form(request, visitor, given, {})

    async def create(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Make a watch, then show the list; a form that is not valid is shown again as it was filled in."""
        await self._rights.require(visitor, _RIGHT)
        form = await form_of(request)
        names = frozenset(field.name for field in fields_of(condition_of(form.get("condition", ""))))
        try:
            wanted = read_form(form)

            async def make(transaction: Transaction) -> None:
                await self._watches.within(transaction).add(acting_of(visitor), wanted)

            return await self._once.once(request, visitor, _PAGE, make)
        except (FormFaults, Problem) as error:
            if isinstance(error, Problem) and error.type.slug not in ("invalid-parameter", "state-conflict"):
                raise
            return await self._form(request, visitor, form, FormFaults.of_failure(error, {}, names).faults)

    async def pause(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Pause a watch, or have it evaluated again."""
        await self._rights.require(visitor, _RIGHT)
        paused = (await form_of(request)).get("paused") == "true"
        await self._watches.pause(acting_of(visitor), request.match_info["id"], paused=paused)
        return see(_PAGE)

    async def delete(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Delete a watch; its events stay in the log for their time."""
        await self._rights.require(visitor, _RIGHT)
        await self._watches.delete(acting_of(visitor), request.match_info["id"])
        return see(_PAGE)

    async def _form(
        self, request: web.Request, visitor: SignedIn, given: dict[str, str], faults: dict[str, str]
    ) -> web.StreamResponse:
        chosen = condition_of(given.get("condition", ""))
        values: dict[str, Any] = {
            "conditions": CARDS,
            "chosen": chosen,
            "fields": fields_of(chosen),
        }
        values |= {"given": given, "faults": faults, "refusal": await self._rights.refusal(visitor, _RIGHT)}
        return render(request, "watch_new.html", visitor, 400 if faults else 200, **values)


_WEBHOOKS = "/dashboard/webhooks"
_ATTEMPTS = 100
# Webhooks have secrets and send an organization's events elsewhere: the right is that of its key.
_WEBHOOK_RIGHT = "manage-key"
_FIELDS = frozenset({"url", "types"})


class WebhookPages:
    """The handlers. Every member reads; owners and admins change, where the plan includes webhooks."""

    def __init__(self, services: Services, secret: OneTimeSecrets, rights: PlanRights) -> None:
        self._webhooks = services.webhooks
        self._feed = services.events
        self._secret = secret
        self._rights = rights

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The organization's webhooks and the form of a new one; its secret is shown once."""
        return await self._list(request, visitor, {}, (), {})

    async def create(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Make a webhook; the next page shows its secret, once. A form that is not valid is shown again."""
        await self._rights.require(visitor, _WEBHOOK_RIGHT)
        form = await form_of(request)
        types = [str(name) for name in (await request.post()).getall("types", [])]
        try:
            wanted = _new(form, types)

            async def make(transaction: Transaction) -> str:
                made = await self._webhooks.within(transaction).add(acting_of(visitor), wanted["url"], wanted["types"])
                return str(made.secret)

            return await self._secret.once(request, visitor, _WEBHOOKS, make)
        except (FormFaults, Problem) as error:
            if isinstance(error, Problem) and error.type.slug not in ("invalid-parameter", "state-conflict"):
                raise
            return await self._list(request, visitor, form, types, FormFaults.of_failure(error, {}, _FIELDS).faults)

    async def one(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One webhook with its newest attempts; a new secret is shown once, as is what was done on this page."""
        return await self._one(request, visitor, {}, {})

    async def rotate(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Replace the secret; the next page shows the new one, once."""
        await self._rights.require(visitor, _WEBHOOK_RIGHT)
        endpoint = request.match_info["id"]

        async def make(transaction: Transaction) -> str:
            return str((await self._webhooks.within(transaction).rotate(acting_of(visitor), endpoint)).secret)

        return await self._secret.once(request, visitor, f"{_WEBHOOKS}/{endpoint}", make)

    async def enable(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Send to it again, at once."""
        await self._rights.require(visitor, _WEBHOOK_RIGHT)
        await self._webhooks.enable(acting_of(visitor), request.match_info["id"])
        return see(f"{_WEBHOOKS}/{request.match_info['id']}")

    async def disable(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Send nothing to it for now; events wait."""
        await self._rights.require(visitor, _WEBHOOK_RIGHT)
        await self._webhooks.disable(acting_of(visitor), request.match_info["id"])
        return see(f"{_WEBHOOKS}/{request.match_info['id']}")

    async def replay(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Have one event sent again, or those after a cursor."""
        await self._rights.require(visitor, _WEBHOOK_RIGHT)
        form = await form_of(request)
        try:
            event, after, to = _replay(form)
        except FormFaults as error:
            return await self._one(request, visitor, form, error.faults)
        endpoint = request.match_info["id"]
        count = await self._webhooks.replay(acting_of(visitor), endpoint, event, after, to)
        return see(f"{_WEBHOOKS}/{endpoint}?replayed={count}")

    async def test(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Have the newest event of its types sent again: a receiver is tried with what it will really get."""
        await self._rights.require(visitor, _WEBHOOK_RIGHT)
        acting, endpoint = acting_of(visitor), request.match_info["id"]
        webhook = await self._webhooks.one(acting, endpoint)
        newest = await self._feed.newest(acting.organization, None, 1, webhook.types)
        if not newest:
            raise PageError(409, "There are no events of its types yet. Rotating the API key creates one.")
        count = await self._webhooks.replay(acting, endpoint, UUID(newest[0].id), None, None)
        return see(f"{_WEBHOOKS}/{endpoint}?replayed={count}")

    async def delete(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Delete it with its attempts."""
        await self._rights.require(visitor, _WEBHOOK_RIGHT)
        await self._webhooks.delete(acting_of(visitor), request.match_info["id"])
        return see(_WEBHOOKS)

    async def _list(
        self, request: web.Request, visitor: SignedIn, given: dict[str, str], types: Any, faults: dict[str, str]
    ) -> web.StreamResponse:
        return render(
            request,
            "webhooks.html",
            visitor,
            400 if faults else 200,
            webhooks=await self._webhooks.listed(acting_of(visitor)),
            new_secret=None if faults else await self._secret.take(visitor, _WEBHOOKS),
            types=TYPES,
            given=given,
            chosen=types,
            faults=faults,
            most=ENDPOINTS_MAX,
            refusal=await self._rights.refusal(visitor, _WEBHOOK_RIGHT),
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
            new_secret=None if faults else await self._secret.take(visitor, f"{_WEBHOOKS}/{endpoint}"),
            attempts=await self._webhooks.attempts(acting, endpoint, _ATTEMPTS),
            replayed=whole_number(replayed, 8),
            given=given,
            faults=faults,
            replayed_most=REPLAYED_MAX,
            refusal=await self._rights.refusal(visitor, _WEBHOOK_RIGHT),
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
        text = form.get(name, "").strip() or None
        number = whole_number(text or "", 18)
        given[name] = text if number is None else number
    if given["event"] is None and given["after"] is None:
        raise FormFaults({"after": "Enter the cursor to redeliver from; 0 redelivers all events in the log."})
    try:
        loaded = Replay().load(given)
    except ValidationError as error:
        raise FormFaults.of(error, {"event": "after"}) from None
    return loaded["event"], loaded["after"], loaded["to"]


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
        return _WORDS[type_](data)
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


def _export(data: Data) -> EventWords:
    return EventWords("The files of an export are ready to download", f"/dashboard/exports/{data['job']}")


def _release(data: Data) -> EventWords:
    text = f"Release {data['data_version']} of {data['dataset']}: {data['rows']:,} rows"
    return EventWords(text, f"/dashboard/datasets/{data['dataset']}?release={data['data_version']}")


def _merged(data: Data) -> EventWords:
    text = f"{data['iid']} became part of {data['survivor_iid']}"
    return EventWords(text, f"/dashboard/explorer/{data['survivor_iid']}")


def _split(data: Data) -> EventWords:
    text = f"{data['iid']} is no longer part of {data['survivor_iid']}"
    return EventWords(text, f"/dashboard/explorer/{data['iid']}")


def _quota(data: Data) -> EventWords:
    text = f"{data['percent']} % of the daily units used on {data['day']}: {data['used']:,} of {data['limit']:,}"
    return EventWords(text, "/dashboard/usage")


_WORDS: Mapping[str, Callable[[Data], EventWords]] = {
    "watch.fired": _watch,
    "job.ended": _job,
    "export.ready": _export,
    "release.cut": _release,
    "item.merged": _merged,
    "item.split": _split,
    "item.withdrawn": lambda data: EventWords(f"{data['iid']} was withdrawn"),
    "item.restored": lambda data: EventWords(f"{data['iid']} is active again", f"/dashboard/explorer/{data['iid']}"),
    "quota.reached": _quota,
    "key.rotated": lambda data: EventWords(f"Key {data['key_id']} is the new key", "/dashboard/key"),
    "key.revoked": lambda data: EventWords(f"Key {data['key_id']} was revoked", "/dashboard/key"),
    "webhook.disabled": lambda data: EventWords(data["reason"], f"/dashboard/webhooks/{data['webhook']}"),
}

_EVENTS_LISTED = 50


class EventPages:
    """The handler. Every member reads."""

    def __init__(self, feed: EventFeed) -> None:
        self._feed = feed

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One page of events, of one type where the address names one."""
        chosen = request.query.get("type", "")
        if chosen and chosen not in TYPES:
            raise PageError(400, "There is no such event type.")
        organization = visitor.acting.membership.organization_id
        types = [chosen] if chosen else None
        events = await self._feed.newest(organization, _cursor(request), _EVENTS_LISTED + 1, types)
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
