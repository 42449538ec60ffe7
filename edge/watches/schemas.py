"""Parameters and answers of /watches."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from edge.events.schemas import FeedQuery
from edge.http.envelope import ListEnvelope
from edge.http.parameters import (
    CurrencyCode,
    CursorText,
    JsonFlag,
    JsonInteger,
    JsonNumber,
    Parameters,
    Utf8,
    WholeNumber,
)
from shared.money import to_minor
from shared.watches import ABSENT_DAYS_DEFAULT, CONDITIONS, NEW_LOW_DAYS, TARGETS

# The required and the optional fields of each condition.
MEMBERS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "below": (("amount", "currency"), ()),
    "new-low": (("days", "currency"), ()),
    "returned": ((), ("days",)),
    "index-moved": (("percent", "currency"), ()),
}


class NewWatch(Parameters):
    """A watch to create."""

    target = fields.Str(required=True, validate=validate.OneOf(TARGETS))
    code = Utf8(
        1,
        400,
        required=True,
        metadata={"description": "IID, slug of a brand, or code of a category", "example": "vitasoy"},
    )
    condition = fields.Str(
        required=True,
        validate=validate.OneOf(list(CONDITIONS)),
        metadata={
            "description": "; ".join(
                ["Condition of the watch", *(f"`{one}`: {text}" for one, text in CONDITIONS.items())]
            )
        },
    )
    amount = fields.Str(
        load_default=None,
        validate=validate.Regexp(r"\A[0-9]{1,12}(\.[0-9]{1,4})?\Z"),
        metadata={"pattern": r"^(?!0+(\.0+)?$)[0-9]{1,12}(\.[0-9]{1,4})?$", "example": "12.50"},
    )
    currency = CurrencyCode(None)
    days = JsonInteger(
        1,
        3_650,
        load_default=None,
        metadata={
            "description": f"For `new-low` one of {', '.join(map(str, NEW_LOW_DAYS))}; for `returned` the length of "
            f"the absence, {ABSENT_DAYS_DEFAULT} by default"
        },
    )
    percent = JsonNumber(
        0, 10_000, load_default=None, metadata={"description": "Percentage, for `index-moved`", "example": 5}
    )
    kind = fields.Str(load_default="listing", validate=validate.OneOf(["listing", "sale"]))
    label = Utf8(1, 200, load_default=None, metadata={"description": "Your own name for it"})

    @validates_schema
    def fits(self, data: Mapping[str, Any], **options: Any) -> None:
        """Each condition has its own members, and no others."""
        needed, allowed = MEMBERS[data["condition"]]
        faults = {name: f"is needed with `condition` {data['condition']}" for name in needed if data[name] is None}
        for name in ("amount", "currency", "days", "percent"):
            if data[name] is not None and name not in (*needed, *allowed):
                faults[name] = f"is not for the condition {data['condition']}"
        if data["condition"] == "new-low" and data["days"] is not None and data["days"] not in NEW_LOW_DAYS:
            faults["days"] = f"must be one of {', '.join(map(str, NEW_LOW_DAYS))}"
        if data["condition"] == "index-moved" and data["target"] == "article":
            faults["target"] = "must be a brand or a category: one article has no index"
        if not faults and data["amount"] is not None:
            faults |= _amount_faults(data["amount"], data["currency"])
        if faults:
            raise ValidationError(faults)


def _amount_faults(amount: str, currency: str) -> dict[str, str]:
    try:
        minor = to_minor(amount, currency)
    except ValueError as error:
        return {"amount": f"is {error}"}
    return {} if minor else {"amount": "must be above 0"}


class WatchChange(Parameters):
    """Whether the watch is paused."""

    paused = JsonFlag(required=True)


class WatchPath(Parameters):
    """Path of one watch."""

    id = fields.Str(required=True, metadata={"description": "Its id", "format": "uuid"})


class WatchesQuery(Parameters):
    """Query of the list of watches."""

    limit = WholeNumber(1, 200, load_default=50)
    cursor = CursorText()


class WatchEventsQuery(FeedQuery):
    """One page of the events of watches."""


class Watch(Schema):
    """A watch; members that its condition does not use are null."""

    id = fields.Str(required=True)
    label = fields.Str(required=True, allow_none=True)
    target = fields.Str(required=True, validate=validate.OneOf(TARGETS))
    code = fields.Str(required=True)
    condition = fields.Str(required=True, validate=validate.OneOf(list(CONDITIONS)))
    kind = fields.Str(required=True, validate=validate.OneOf(["listing", "sale"]))
    amount = fields.Str(required=True, allow_none=True)
    currency = fields.Str(required=True, allow_none=True)
    days = fields.Int(required=True, allow_none=True)
    percent = fields.Float(required=True, allow_none=True)
    created_at = fields.DateTime(required=True)
    paused_at = fields.DateTime(required=True, allow_none=True)


class WatchList(ListEnvelope):
    """One page of watches, the newest first."""

    data = fields.List(fields.Nested(Watch()), required=True)
