"""Parameters and answers of /webhooks."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from edge.http.envelope import ListEnvelope
from edge.http.parameters import JsonInteger, Parameters, WholeNumber
from shared.events import TYPES
from shared.webhooks import REPLAYED_MAX

OUTCOMES = (
    "accepted",
    "refused",
    "redirected",
    "timed-out",
    "unreachable",
    "tls-failed",
    "private-address",
    "answer-too-large",
    "secret-unreadable",
)


class NewWebhook(Parameters):
    """A webhook to create."""

    url = fields.Str(
        required=True,
        validate=validate.Length(1, 2_000),
        metadata={
            "description": "An https address on the public internet",
            "pattern": "^https?://[!-~]+$",
            "example": "https://example.org/hook",
        },
    )
    types = fields.List(
        fields.Str(validate=validate.OneOf(list(TYPES))),
        load_default=None,
        allow_none=True,
        validate=validate.Length(1, len(TYPES)),
        metadata={"description": "Only events of these types; every type if absent"},
    )


class Replay(Parameters):
    """The events to send again: one by its id, or those after a cursor."""

    event = fields.UUID(load_default=None, allow_none=True, metadata={"description": "Id of one event"})
    after = JsonInteger(
        0, 10**15, load_default=None, allow_none=True, metadata={"description": "Later than this cursor"}
    )
    to = JsonInteger(
        0, 10**15, load_default=None, allow_none=True, metadata={"description": "Up to this cursor; all if absent"}
    )

    @validates_schema
    def one_way(self, data: Mapping[str, Any], **options: Any) -> None:
        """Either an event or a range."""
        if (data["event"] is None) == (data["after"] is None):
            raise ValidationError("name either `event` or `after`", "event")


class WebhookPath(Parameters):
    """Path of one webhook."""

    id = fields.Str(required=True, metadata={"description": "Its id", "format": "uuid"})


class AttemptsQuery(Parameters):
    """How many attempts."""

    limit = WholeNumber(1, 200, load_default=50, metadata={"description": "Entries at most, newest first"})


class Webhook(Schema):
    """A webhook. `secret` is shown when it is created or rotated, else it is null."""

    id = fields.Str(required=True)
    url = fields.Str(required=True)
    types = fields.List(fields.Str(), required=True, allow_none=True)
    state = fields.Str(required=True, validate=validate.OneOf(["active", "retrying", "disabled"]))
    disabled_reason = fields.Str(required=True, allow_none=True)
    failures = fields.Int(required=True, metadata={"description": "Consecutive failures of the next event"})
    next_attempt_at = fields.DateTime(required=True, allow_none=True)
    pending = fields.Int(required=True, metadata={"description": "Events not accepted yet; counted up to 1000"})
    cursor = fields.Str(required=True, metadata={"description": "Events up to this one were accepted"})
    secret = fields.Str(required=True, allow_none=True, metadata={"example": "whsec_…"})
    secret_before_ends = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "Until then the previous secret signs as well"}
    )
    created_at = fields.DateTime(required=True)


class WebhookList(ListEnvelope):
    """All webhooks of the organization."""

    data = fields.List(fields.Nested(Webhook()), required=True)


class DeliveryAttempt(Schema):
    """One attempt to send one event."""

    event_id = fields.Str(required=True)
    cursor = fields.Str(required=True)
    at = fields.DateTime(required=True)
    status = fields.Int(required=True, allow_none=True)
    outcome = fields.Str(required=True, validate=validate.OneOf(OUTCOMES))
    answer = fields.Str(required=True, metadata={"description": "Beginning of the receiver's answer"})
    milliseconds = fields.Int(required=True)


class AttemptList(ListEnvelope):
    """Attempts of one webhook, the newest first."""

    data = fields.List(fields.Nested(DeliveryAttempt()), required=True)


class Replayed(Schema):
    """The number of events that will be sent again."""

    events = fields.Int(
        required=True, metadata={"description": f"Number of events, at most {REPLAYED_MAX} in one call"}
    )
