"""Parameters and answers of Delta Sharing."""

from datetime import UTC, datetime

from marshmallow import INCLUDE, Schema, ValidationError, fields, validate

from edge.http.parameters import (
    JsonInteger,
    Members,
    Parameters,
    PathParameters,
    QueryParameters,
    Utf8,
    WholeNumber,
    field_doc,
)

_VERSION_MAX = 10**18 - 1


class TimestampField(fields.Field[datetime]):
    """A moment in RFC 3339 with its zone."""

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> datetime:
        try:
            moment = datetime.fromisoformat(str(value))
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):  # a zone may lead out of the years that there are
            raise ValidationError("must be a time in the form 2026-11-21T08:00:00Z") from None


def _moment(sentence: str) -> TimestampField:
    metadata = {"type": "string", "format": "date-time", "description": sentence}
    return TimestampField(load_default=None, metadata=metadata)


def _version(sentence: str) -> WholeNumber:
    return WholeNumber(0, _VERSION_MAX, load_default=None, metadata=field_doc(sentence))


class SharePath(PathParameters):
    """Path of a share."""

    share = Utf8(1, 100, required=True, metadata=field_doc("Share", example="item-index"))


class SchemaPath(SharePath):
    """Path of a schema."""

    schema = Utf8(1, 100, required=True, metadata=field_doc("Schema", example="releases"))


class TablePath(SchemaPath):
    """Path of a table."""

    table = Utf8(1, 100, required=True, metadata=field_doc("Dataset", example="observations"))


class SharingPage(QueryParameters):
    """Query of a list."""

    maxResults = WholeNumber(0, 1_000, load_default=None, metadata=field_doc("Entries per page"))  # noqa: N815
    pageToken = fields.Str(  # noqa: N815
        load_default=None,
        validate=validate.Regexp(r"\A[0-9]{1,4}\Z", error="must be the `nextPageToken` of the previous page"),
        metadata=field_doc("`nextPageToken` of the previous page", pattern="^[0-9]{1,4}$"),
    )


class VersionQuery(QueryParameters):
    """Query of a version."""

    startingTimestamp = _moment("First version published at or after this time")  # noqa: N815


class MetadataQuery(QueryParameters):
    """Query of a table's metadata."""

    version = _version("This version; default: the newest")
    timestamp = _moment("The version that was current at this time")


class ChangesQuery(QueryParameters):
    """Query of changes."""

    startingVersion = _version("The first version whose changes are listed")  # noqa: N815
    endingVersion = _version("The last version; default: the newest")  # noqa: N815
    startingTimestamp = _moment("First version published at or after this time")  # noqa: N815
    endingTimestamp = _moment("The version that was current at this time")  # noqa: N815
    includeHistoricalMetadata = fields.Str(load_default=None, metadata=field_doc("Accepted, but ignored"))  # noqa: N815


class SharingQuery(Parameters):
    """Body of a query. Unknown members are ignored: they are hints from later versions of the protocol."""

    class Meta:
        """Marshmallow's switch for that."""

        unknown = INCLUDE

    predicateHints = fields.List(fields.Str(), load_default=list)  # noqa: N815
    jsonPredicateHints = fields.Str(load_default=None)  # noqa: N815
    limitHint = JsonInteger(0, _VERSION_MAX, load_default=None, allow_none=True)  # noqa: N815
    version = JsonInteger(0, _VERSION_MAX, load_default=None, allow_none=True)
    timestamp = _moment("The version that was current at this time")
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
