"""Parameters and answers of Delta Sharing, spelled as the protocol spells them."""

from datetime import UTC, datetime
from typing import Any

from marshmallow import INCLUDE, Schema, ValidationError, fields, validate

from edge.http.parameters import JsonInteger, Parameters, Utf8, WholeNumber

_VERSION_MAX = 10**18 - 1


class Moment(fields.Field[datetime]):
    """A moment in RFC 3339 with its zone."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> datetime:
        try:
            moment = datetime.fromisoformat(str(value))
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):  # a zone may lead out of the years that there are
            raise ValidationError("must be a moment as 2026-11-21T08:00:00Z") from None


def _moment(sentence: str) -> Moment:
    metadata = {"type": "string", "format": "date-time", "description": sentence}
    return Moment(load_default=None, metadata=metadata)


def _version(sentence: str) -> WholeNumber:
    return WholeNumber(0, _VERSION_MAX, load_default=None, metadata={"description": sentence})


class SharePath(Parameters):
    """Path of a share."""

    share = Utf8(1, 100, required=True, metadata={"description": "Share", "example": "item-index"})


class SchemaPath(SharePath):
    """Path of a schema."""

    schema = Utf8(1, 100, required=True, metadata={"description": "Schema", "example": "releases"})


class TablePath(SchemaPath):
    """Path of a table."""

    table = Utf8(1, 100, required=True, metadata={"description": "Dataset", "example": "observations"})


class Page(Parameters):
    """Query of a list."""

    maxResults = WholeNumber(0, 1_000, load_default=None, metadata={"description": "Entries on a page"})  # noqa: N815
    pageToken = fields.Str(  # noqa: N815
        load_default=None,
        validate=validate.Regexp(r"\A[0-9]{1,4}\Z", error="must be the `nextPageToken` of the page before"),
        metadata={"description": "`nextPageToken` of the page before", "pattern": "^[0-9]{1,4}$"},
    )


class VersionQuery(Parameters):
    """Query of a version."""

    startingTimestamp = _moment("The first version at this moment or after it")  # noqa: N815


class MetadataQuery(Parameters):
    """Query of a table's metadata."""

    version = _version("This version; default: the newest")
    timestamp = _moment("The version that was the newest at this time")


class ChangesQuery(Parameters):
    """Query of changes."""

    startingVersion = _version("The first version whose changes are listed")  # noqa: N815
    endingVersion = _version("The last one; default: the newest")  # noqa: N815
    startingTimestamp = _moment("The first version at this moment or after it")  # noqa: N815
    endingTimestamp = _moment("The version that was the newest at this time")  # noqa: N815
    includeHistoricalMetadata = fields.Str(load_default=None, metadata={"description": "Accepted and ignored"})  # noqa: N815


class SharingQuery(Parameters):
    """Body of a query. The protocol grows: members that are not known here are hints of its later versions."""

    class Meta:
        """Marshmallow's switch for that."""

        unknown = INCLUDE

    predicateHints = fields.List(fields.Str(), load_default=list)  # noqa: N815
    jsonPredicateHints = fields.Str(load_default=None)  # noqa: N815
    limitHint = JsonInteger(0, _VERSION_MAX, load_default=None, allow_none=True)  # noqa: N815
    version = JsonInteger(0, _VERSION_MAX, load_default=None, allow_none=True)
    timestamp = _moment("The version that was the newest at this time")
    startingVersion = JsonInteger(0, _VERSION_MAX, load_default=None, allow_none=True)  # noqa: N815
    endingVersion = JsonInteger(0, _VERSION_MAX, load_default=None, allow_none=True)  # noqa: N815


class SharingObject(Schema):
    """A share, a schema or a table."""

    name = fields.Str(required=True)
    share = fields.Str()
    schema = fields.Str()
    id = fields.Str()
    shareId = fields.Str()  # noqa: N815


class SharingList(Schema):
    """A list."""

    items = fields.List(fields.Nested(SharingObject()), required=True)
    nextPageToken = fields.Str()  # noqa: N815


class SharingProfile(Schema):
    """A profile file, as the protocol defines it."""

    shareCredentialsVersion = fields.Int(required=True)  # noqa: N815
    endpoint = fields.Url(required=True, require_tld=False)
    bearerToken = fields.Str(required=True)  # noqa: N815


class SharingShare(Schema):
    """One share."""

    share = fields.Nested(SharingObject(), required=True)
