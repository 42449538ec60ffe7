"""The requests and answers of /org."""

from collections.abc import Mapping

from marshmallow import Schema, ValidationError, fields, validate

from edge.http.lists import list_of
from edge.http.parameters import (
    CursorText,
    Day,
    Parameters,
    PathParameters,
    QueryParameters,
    Utf8,
    WholeNumber,
    field_doc,
)
from shared.organizations.roles import GRACE_SECONDS, INVITABLE, ROLES


class OrganizationQuery(QueryParameters):
    """Which organization, for people who are in several."""

    organization = fields.UUID(
        load_default=None, metadata=field_doc("ID of one of your organizations; default: the first that you joined")
    )


class UsageQuery(OrganizationQuery):
    """The days asked for."""

    first = Day(data_key="from", load_default=None, metadata=field_doc("First day; default: 30 days before `to`"))
    last = Day(data_key="to", load_default=None, metadata=field_doc("Last day, inclusive; default: today"))
    format = fields.Str(load_default="json", validate=validate.OneOf(["json", "csv"]))


class AuditQuery(OrganizationQuery):
    """One page of the audit log."""

    limit = WholeNumber(1, 200, load_default=50)
    cursor = CursorText(least=0)


class PersonPath(PathParameters):
    """Path of one member."""

    person = fields.Str(required=True, metadata=field_doc("ID of the person", format="uuid"))


class InvitationPath(PathParameters):
    """Path of one invitation."""

    invitation = fields.Str(required=True, metadata=field_doc("ID of the invitation", format="uuid"))


class Rotation(Parameters):
    """Options of a key rotation."""

    grace = fields.Str(
        load_default="none",
        validate=validate.OneOf(list(GRACE_SECONDS)),
        metadata=field_doc("How long the old key remains valid", example="1h"),
    )


class LeakedKey(Parameters):
    """The key to revoke."""

    key = fields.Str(required=True, validate=validate.Length(max=100))


class RoleChange(Parameters):
    """A role."""

    role = fields.Str(required=True, validate=validate.OneOf(list(ROLES)))


class NewInvitation(Parameters):
    """The person to invite, and the role."""

    email = fields.Email(required=True, validate=validate.Length(max=254))
    role = fields.Str(required=True, validate=validate.OneOf(list(INVITABLE)))


class OrganizationName(Utf8):
    """A name that is printable: it is shown in tables, pages and terminals."""

    def _deserialize(
        self, value: object, attr: str | None, data: Mapping[str, object] | None, **options: object
    ) -> str:
        text = super()._deserialize(value, attr, data, **options)
        if not text.isprintable():
            raise ValidationError("must have no control, format or line-breaking characters")
        return text


class NewOrganization(Parameters):
    """A new organization."""

    name = OrganizationName(1, 200, required=True)
    plan = fields.Str(
        load_default="brand",
        validate=validate.Regexp(r"\A[a-z0-9-]{1,32}\Z"),
        metadata={
            "pattern": "^[a-z0-9-]{1,32}$",
            "description": "Plan to request; every organization starts on the free plan",
        },
    )


class PlanRequest(Parameters):
    """Request for a plan."""

    plan = fields.Str(
        required=True,
        validate=validate.Regexp(r"\A[a-z0-9-]{1,32}\Z"),
        metadata={"pattern": "^[a-z0-9-]{1,32}$", "example": "brand"},
    )


class KeyState(Schema):
    """A valid key; `expires_at` is the end of its grace period, null for the current key."""

    key_id = fields.Str(required=True)
    created_at = fields.DateTime(required=True)
    expires_at = fields.DateTime(required=True, allow_none=True)
    last_used_at = fields.DateTime(required=True, allow_none=True)
    last_used_network = fields.Str(required=True, allow_none=True)


class Organization(Schema):
    """An organization, as shown to its members."""

    id = fields.Str(required=True)
    name = fields.Str(required=True)
    plan = fields.Str(required=True)
    requested_plan = fields.Str(
        required=True, allow_none=True, metadata=field_doc("Plan that is awaiting an operator's approval")
    )
    state = fields.Str(required=True, validate=validate.OneOf(["active", "suspended"]))
    role = fields.Str(required=True, validate=validate.OneOf(list(ROLES)))
    keys = fields.List(fields.Nested(KeyState()), required=True)


class CreatedOrganization(Schema):
    """The organization, its plan, and the plan that is awaiting approval (null if none)."""

    id = fields.Str(required=True)
    plan = fields.Str(required=True, metadata={"example": "free"})
    requested_plan = fields.Str(required=True, allow_none=True, metadata={"example": "brand"})


class IssuedKey(Schema):
    """A new key. It is shown only once; the service stores only a keyed hash."""

    key = fields.Str(required=True, metadata={"example": "iixk_live_…"})
    key_id = fields.Str(required=True)
    keys = fields.List(
        fields.Nested(KeyState()), required=True, metadata=field_doc("All keys that are valid now, the new one first")
    )


class Member(Schema):
    """One person of the organization."""

    id = fields.Str(required=True)
    name = fields.Str(required=True)
    email = fields.Str(required=True, allow_none=True)
    role = fields.Str(required=True, validate=validate.OneOf(list(ROLES)))
    joined_at = fields.DateTime(required=True)


class Invitation(Schema):
    """An invitation that can still be accepted."""

    id = fields.Str(required=True)
    email = fields.Str(required=True)
    role = fields.Str(required=True)
    created_at = fields.DateTime(required=True)
    expires_at = fields.DateTime(required=True)


class IssuedInvitation(Schema):
    """A new invitation. Its link is shown only once: send it to the invited person."""

    id = fields.Str(required=True)
    link = fields.Url(required=True)
    expires_at = fields.DateTime(required=True)


class UsageRow(Schema):
    """Calls of one day to one endpoint, with one outcome, by one credential."""

    day = fields.Date(required=True)
    endpoint = fields.Str(required=True)
    outcome = fields.Str(required=True)
    credential = fields.Str(required=True)
    calls = fields.Int(required=True)
    units = fields.Int(required=True)


class AuditEntry(Schema):
    """One entry of the audit log."""

    id = fields.Str(required=True)
    at = fields.DateTime(required=True)
    actor = fields.Str(required=True)
    act = fields.Str(required=True, metadata={"example": "key.rotated"})
    subject = fields.Str(required=True)


MemberList = list_of(Member, "MemberList", "The people of the organization.")
InvitationList = list_of(Invitation, "InvitationList", "The open invitations.")
UsageList = list_of(UsageRow, "UsageList", "Usage statistics, at most a minute old.")
AuditList = list_of(AuditEntry, "AuditList", "One page of the audit log, newest first.")
