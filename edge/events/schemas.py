"""Parameters and answers of the feeds of events."""

from typing import Any

from marshmallow import Schema, fields, validate

from edge.http.envelope import ListEnvelope
from edge.http.parameters import Parameters, WholeNumber
from shared.events import CURSOR_MAX, KEPT_DAYS, TYPES


class FeedQuery(Parameters):
    """One page of a feed."""

    after = WholeNumber(
        0,
        CURSOR_MAX,
        load_default=None,
        metadata={
            "description": f"`cursor` of the last event that you have; if absent, the oldest of {KEPT_DAYS} days come"
        },
    )
    limit = WholeNumber(1, 1_000, load_default=100)


class EventsQuery(FeedQuery):
    """One page of the feed of all events."""

    type = fields.List(
        fields.Str(validate=validate.OneOf(list(TYPES))),
        load_default=None,
        validate=validate.Length(max=len(TYPES)),
        metadata={"description": "Only events of this type; repeat it for several types"},
    )


class Event(Schema):
    """Something that happened. Types and members of `data` may be added: ignore those that you do not know."""

    id = fields.Str(
        required=True, metadata={"description": "Id of the event; the same in the feed and as `webhook-id`"}
    )
    cursor = fields.Str(required=True, metadata={"description": "Value for `after`; larger cursors are later"})
    type = fields.Str(required=True, metadata={"example": "watch.fired"})
    timestamp = fields.DateTime(required=True)
    data: Any = fields.Dict(required=True, metadata={"description": "Members by type; see the guide to events"})


class EventList(ListEnvelope):
    """One page, the oldest first. `next_cursor` is the `after` of the next page, null where there is none yet."""

    data = fields.List(fields.Nested(Event()), required=True)
