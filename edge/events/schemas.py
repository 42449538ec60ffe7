"""Parameters and answers of /events, /watches and /webhooks, declared once."""

from collections.abc import Mapping
from typing import Annotated, Literal

from marshmallow import ValidationError, fields, validate, validates_schema
from msgspec import Meta, Struct

from edge.http.lists import ListPage
from edge.http.parameters import (
    CurrencyCode,
    CursorText,
    JsonFlag,
    JsonInteger,
    JsonNumber,
    Parameters,
    PathParameters,
    QueryParameters,
    Utf8,
    WholeNumber,
    field_doc,
    one_of,
)
from shared.clock import Rfc3339
from shared.events.types import (
    ABSENT_DAYS_DEFAULT,
    CONDITIONS,
    CURSOR_MAX,
    KEPT_DAYS,
    NEW_LOW_DAYS,
    TARGETS,
    TYPES,
    Condition,
    Event,
    Target,
)
from shared.events.webhooks import REPLAYED_MAX
from shared.money import to_minor

# The required and the optional fields of each condition.
MEMBERS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "below": (("amount", "currency"), ()),
    "new-low": (("days", "currency"), ()),
    "returned": ((), ("days",)),
    "index-moved": (("percent", "currency"), ()),
}


class FeedQuery(QueryParameters):
    """One page of a feed."""

    after = WholeNumber(
        0,
        CURSOR_MAX,
        load_default=None,
        metadata=field_doc(
            f"`cursor` of the last event that you have; default: start at the oldest of {KEPT_DAYS} days"
        ),
    )
    limit = WholeNumber(1, 1_000, load_default=100)


class EventsQuery(FeedQuery):
    """One page of the feed of all events."""

    type = fields.List(
        fields.Str(validate=validate.OneOf(list(TYPES))),
        load_default=None,
        validate=validate.Length(max=len(TYPES)),
        metadata=field_doc("Only events of this type; repeat to select several"),
    )


class EventList(ListPage):
    """One page of events, oldest first. `next_cursor` is the `after` of the next page, null if there is none yet."""

    data: list[Event]


class NewWatch(Parameters):
    """Request for a watch."""

    target = fields.Str(required=True, validate=validate.OneOf(TARGETS))
    code = Utf8(
        1, 400, required=True, metadata=field_doc("IID, slug of a brand, or code of a category", example="vitasoy")
    )
    condition = one_of(
        CONDITIONS,
        "; ".join(["Condition of the watch", *(f"`{condition}`: {text}" for condition, text in CONDITIONS.items())]),
        required=True,
    )
    amount = fields.Str(
        load_default=None,
        validate=validate.Regexp(
            r"\A[0-9]{1,12}(\.[0-9]{1,4})?\Z",
            error="must be an amount such as 12.50, with at most 12 digits before the point and 4 after it",
        ),
        metadata={"pattern": r"^(?!0+(\.0+)?$)[0-9]{1,12}(\.[0-9]{1,4})?$", "example": "12.50"},
    )
    currency = CurrencyCode(None)
    days = JsonInteger(
        1,
        3_650,
        load_default=None,
        metadata=field_doc(
            f"For `new-low`: {', '.join(map(str, NEW_LOW_DAYS))}; for `returned`: the length of "
            f"the absence, {ABSENT_DAYS_DEFAULT} by default"
        ),
    )
    percent = JsonNumber(0, 10_000, load_default=None, metadata=field_doc("Percentage, for `index-moved`", example=5))
    kind = fields.Str(load_default="listing", validate=validate.OneOf(["listing", "sale"]))
    label = Utf8(1, 200, load_default=None, metadata=field_doc("Your own name for the watch"))

    @validates_schema
    def fits(self, data: Mapping[str, object], **options: object) -> None:
        """Each condition has its own members, and no others."""
        needed, allowed = MEMBERS[str(data["condition"])]
        faults = {name: f"is required with `condition` {data['condition']}" for name in needed if data[name] is None}
        for name in ("amount", "currency", "days", "percent"):
            if data[name] is not None and name not in (*needed, *allowed):
                faults[name] = f"is not allowed with the condition {data['condition']}"
        if data["condition"] == "new-low" and data["days"] is not None and data["days"] not in NEW_LOW_DAYS:
            faults["days"] = f"must be one of {', '.join(map(str, NEW_LOW_DAYS))}"
        if data["condition"] == "index-moved" and data["target"] == "article":
            faults["target"] = "must be a brand or a category: a single item has no index"
        if not faults and data["amount"] is not None:
            faults |= _amount_faults(str(data["amount"]), str(data["currency"]))
        if faults:
            raise ValidationError(faults)


def _amount_faults(amount: str, currency: str) -> dict[str, str]:
    try:
        minor = to_minor(amount, currency)
    except ValueError as error:
        return {"amount": str(error)}
    return {} if minor else {"amount": "must be above 0"}


class WatchChange(Parameters):
    """Whether the watch is paused."""

    paused = JsonFlag(required=True)


class WatchPath(PathParameters):
    """Path of one watch."""

    id = fields.Str(required=True, metadata=field_doc("Its id", format="uuid"))


class WatchesQuery(QueryParameters):
    """Query of the list of watches."""

    limit = WholeNumber(1, 200, load_default=50)
    cursor = CursorText()


class WatchEventsQuery(FeedQuery):
    """One page of the events of watches."""


class Watch(Struct):
    """A watch. Members that its condition does not use are null."""

    id: str
    label: str | None
    target: Target
    code: str
    condition: Condition
    kind: Literal["listing", "sale"]
    amount: str | None
    currency: str | None
    days: int | None
    percent: float | None
    created_at: Rfc3339
    paused_at: Rfc3339 | None


class WatchList(ListPage):
    """One page of watches, newest first."""

    data: list[Watch]


class NewWebhook(Parameters):
    """A webhook to create."""

    url = fields.Str(
        required=True,
        validate=validate.Length(1, 2_000),
        metadata=field_doc(
            "An https address on the public internet", pattern="^https?://[!-~]+$", example="https://example.org/hook"
        ),
    )
    types = fields.List(
        fields.Str(validate=validate.OneOf(list(TYPES))),
        load_default=None,
        allow_none=True,
        validate=validate.Length(1, len(TYPES)),
        metadata=field_doc("Only events of these types; default: all"),
    )


class Cursor(JsonInteger):
    """A cursor in a JSON body: the text that events have, or the number in it."""

    def __init__(self, description: str) -> None:
        metadata = {"type": ["integer", "string"], "pattern": "^[0-9]{1,15}$", **field_doc(description)}
        super().__init__(0, 10**15, load_default=None, allow_none=True, metadata=metadata)

    def _deserialize(
        self, value: object, attr: str | None, data: Mapping[str, object] | None, **options: object
    ) -> int:
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 15:
            value = int(value)
        return super()._deserialize(value, attr, data, **options)


class Replay(Parameters):
    """The events to send again: one by its ID, or all after a cursor."""

    event = fields.UUID(load_default=None, allow_none=True, metadata=field_doc("ID of one event"))
    after = Cursor("Later than this cursor")
    to = Cursor("Up to and including this cursor; default: all")

    @validates_schema
    def one_way(self, data: Mapping[str, object], **options: object) -> None:
        """Either an event or a range."""
        if (data["event"] is None) == (data["after"] is None):
            raise ValidationError("set either `event` or `after`", "event")


class WebhookPath(PathParameters):
    """Path of one webhook."""

    id = fields.Str(required=True, metadata=field_doc("Its id", format="uuid"))


class AttemptsQuery(QueryParameters):
    """How many attempts."""

    limit = WholeNumber(1, 200, load_default=50, metadata=field_doc("Maximum number of entries, newest first"))


class Webhook(Struct):
    """A webhook. `secret` is shown when it is created or rotated, and otherwise null."""

    id: str
    url: str
    types: list[str] | None
    state: Literal["active", "retrying", "disabled"]
    disabled_reason: str | None
    failures: Annotated[int, Meta(description="Consecutive failures of the next event")]
    next_attempt_at: Rfc3339 | None
    pending: Annotated[int, Meta(description="Pending events, counted up to 1000")]
    cursor: Annotated[str, Meta(description="Events up to this one were accepted")]
    secret: Annotated[str | None, Meta(examples=["whsec_…"])]
    secret_before_ends: Annotated[Rfc3339 | None, Meta(description="Until then, the previous secret also signs")]
    created_at: Rfc3339


class WebhookList(ListPage):
    """All webhooks of the organization."""

    data: list[Webhook]


class DeliveryAttempt(Struct):
    """One attempt to send one event."""

    event_id: str
    cursor: str
    at: Rfc3339
    status: int | None
    outcome: Literal[
        "accepted",
        "refused",
        "redirected",
        "timed-out",
        "unreachable",
        "tls-failed",
        "private-address",
        "answer-too-large",
        "secret-unreadable",
    ]
    answer: Annotated[str, Meta(description="Beginning of the receiver's response")]
    milliseconds: int


class AttemptList(ListPage):
    """Attempts of one webhook, newest first."""

    data: list[DeliveryAttempt]


class Replayed(Struct):
    """How many events will be sent again."""

    events: Annotated[int, Meta(description=f"Number of events, at most {REPLAYED_MAX} in one call")]
