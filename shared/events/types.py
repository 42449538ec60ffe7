"""The types of events and the conditions of watches, each declared once. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from shared.clock import Rfc3339, rfc3339

KEPT_DAYS = 30
CURSOR_MAX = 10**18 - 1
"""The greatest cursor that a caller may name: eighteen digits, more than events will ever need."""
TYPES: dict[str, str] = {
    "job.ended": "A job that the organization ordered succeeded, failed or was cancelled.",
    "export.ready": "The files of an export can be downloaded.",
    "release.cut": "A dataset has a new release.",
    "item.merged": "An item was merged into another one.",
    "item.split": "An item is no longer part of another one.",
    "item.withdrawn": "An item was withdrawn.",
    "item.restored": "An item that was merged or withdrawn is active again.",
    "watch.fired": "The condition of a watch was met.",
    "outliers.changed": "Later observations changed whether earlier prices count as outliers, or why.",
    "quota.reached": "80 % or 100 % of the day's units are used.",
    "key.rotated": "The organization's API key was rotated.",
    "key.revoked": "An API key was revoked.",
    "webhook.disabled": "A webhook was disabled: its receiver did not accept an event for days, or responded with 410.",
}


class Event(msgspec.Struct):
    """An event. Types and members of `data` may be added: ignore those that you do not know."""

    id: Annotated[str, Meta(description="ID of the event, also sent as `webhook-id`")]
    cursor: Annotated[str, Meta(description="Value for `after`; later events have larger cursors")]
    type: Annotated[str, Meta(examples=["watch.fired"])]
    timestamp: Rfc3339
    data: Annotated[Mapping[str, Any], Meta(description="Members by type; see the guide to events")]


def event_document(number: int, event_id: str, type_: str, at: datetime, data: Mapping[str, Any]) -> Event:
    """Return an event as the feed and webhooks show it."""
    return Event(event_id, str(number), type_, rfc3339(at), data)


Condition = Literal["below", "new-low", "returned", "index-moved"]
Target = Literal["article", "brand", "category"]
TARGETS: tuple[Target, ...] = get_args(Target)
CONDITIONS: dict[Condition, str] = {
    "below": "the lowest price of an item's newest day is below `amount`",
    "new-low": "that price is lower than on each of the previous `days` days",
    "returned": "an item is observed again after at least `days` days without a price",
    "index-moved": "prices of the same items changed by more than `percent` from one month to the next",
}
NEW_LOW_DAYS = (30, 90, 365)
ABSENT_DAYS_DEFAULT = 30
HYSTERESIS = 0.02
"""How far a price must rise above the amount before it can fall below it again, and how far below the last low that was
reported another low of the same span must be, as a share."""
WATCHES_MAX = 10_000
"""How many watches an organization may have."""
