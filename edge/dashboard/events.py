"""The page of the log of events, the newest first, each in words."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aiohttp import web

from edge.dashboard.session_guard import PageError, SignedIn, render
from edge.events.feed import EventFeed
from shared.events.types import KEPT_DAYS, TYPES

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
    name, iid = data["label"] or f"{data['target']} {data['code']}", data.get("iid")
    text = _CONDITIONS[data["condition"]].format_map(data)
    if data["condition"] == "new-low" and data["low_before"] is not None:
        text += f"; it was {data['low_before']} before"
    return EventWords(f"{name}: {text}", f"/dashboard/explorer/{iid}" if iid else None)


def _job(data: Data) -> EventWords:
    return EventWords(
        f"{data['kind'].replace('-', ' ').capitalize()} {data['state']}", f"/dashboard/jobs/{data['job']}"
    )


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

_LISTED = 50


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
        events = await self._feed.newest(organization, _cursor(request), _LISTED + 1, types)
        listed = [(event, words_of(event.type, event.data)) for event in events[:_LISTED]]
        older = events[_LISTED - 1].cursor if len(events) > _LISTED else None
        values: dict[str, Any] = {"events": listed, "older": older, "types": TYPES, "chosen": chosen, "days": KEPT_DAYS}
        return render(request, "events.html", visitor, **values)


def _cursor(request: web.Request) -> int | None:
    text = request.query.get("before", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise PageError(400, "This page of the log does not exist. Go back to the first page.")
    return int(text)
