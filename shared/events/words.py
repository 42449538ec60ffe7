"""An event in words, for pages and mails, and the page of the dashboard that it links to. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from shared.events.types import TYPES
from shared.printable import isolate

Data = Mapping[str, object]
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


def noun(target: str) -> str:
    """Return the word for what a watch is of: people know an article as an item."""
    return "item" if target == "article" else target


def words_of(type_: str, data: Data, names: Mapping[str, str] | None = None) -> EventWords:
    """Return an event in words. A type or a member that is not known here is left to the sentence of its type.

    `names` are the names of items, by IID.
    """
    try:
        if type_ == "watch.fired":
            return _watch(data, names or {})
        text, page = _WORDS[type_]
        return EventWords(text.format_map(data), f"/dashboard{page.format_map(data)}" if page else None)
    except KeyError:
        return EventWords(TYPES.get(type_, type_))


def watch_name(data: Data, names: Mapping[str, str]) -> str:
    """Return what the watch of an event is called: its label, or what it is of. Raises KeyError."""
    return str(data["label"] or names.get(str(data.get("iid"))) or f"{noun(str(data['target']))} {data['code']}")


def _watch(data: Data, names: Mapping[str, str]) -> EventWords:
    iid = data.get("iid")
    name = watch_name(data, names)
    text = _CONDITIONS[str(data["condition"])].format_map(data)
    if data["condition"] == "new-low" and data["low_before"] is not None:
        text += f"; it was {data['low_before']} before"
    return EventWords(f"{isolate(name)}: {text}", f"/dashboard/explorer/{iid}" if iid else None)


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
