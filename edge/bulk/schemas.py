"""The requests and answers of exports, releases and Delta Sharing."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from marshmallow import INCLUDE, Schema, ValidationError, fields, validate, validates_schema

from edge.analytics.envelope import Day
from edge.bulk.descriptions import FORMS
from edge.http.lists import SelfLink, list_of
from edge.http.parameters import (
    CursorText,
    Flag,
    JsonInteger,
    Parameters,
    PathParameters,
    QueryParameters,
    Utf8,
    WholeNumber,
    described,
    one_of,
)
from edge.jobs.schemas import STATES, Job
from shared.bulk.request import FORMATS, SHAPES
from shared.bulk.schema import CHANGES, RELEASED

FILE_ANSWERS = {200: "File", 206: "The requested range of the file", 304: "Your copy is current."}
_TIME = {"description": "RFC 3339, UTC", "format": "date-time"}


class DatasetPath(PathParameters):
    """Path of one dataset."""

    name = Utf8(1, 100, required=True, metadata=described("Dataset", example="observations"))


class ReleasePath(DatasetPath):
    """Path of one release."""

    release = Utf8(1, 100, required=True, metadata=described("A data_version, or `latest`", example="latest"))


class DescriptionPath(ReleasePath):
    """Path of one description."""

    form = one_of(FORMS, "Vocabulary of the description", required=True)


class ReleaseFilePath(ReleasePath):
    """Path of one file."""

    file = Utf8(1, 300, required=True, metadata=described("File's name", example="2026-07-0000.parquet"))


class ReleasesQuery(QueryParameters):
    """Query of the list of releases."""

    limit = WholeNumber(1, 200, load_default=50)
    cursor = CursorText()


class DatasetColumn(Schema):
    """One column."""

    name = fields.Str(required=True)
    type = fields.Str(required=True, metadata={"example": "decimal(20,4)"})
    nullable = fields.Bool(required=True)
    description = fields.Str(required=True)


class ReleaseEntry(Schema):
    """A release in a list."""

    data_version = fields.Int(required=True)
    created_at = fields.Str(required=True, metadata=_TIME)
    expires_at = fields.Str(required=True, metadata=_TIME)
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    files = fields.Int(required=True)
    links = fields.Nested(SelfLink(), required=True)


class DatasetLinks(Schema):
    """Addresses of related calls."""

    releases = fields.Url(required=True)
    latest = fields.Url(required=True)


class DatasetEntry(Schema):
    """A dataset in the list."""

    name = fields.Str(required=True)
    title = fields.Str(required=True)
    schema = fields.List(fields.Nested(DatasetColumn()), required=True)
    sorted_by = fields.List(fields.Str(), required=True, metadata=described("Order of rows in the files"))
    latest = fields.Nested(ReleaseEntry(), required=True, allow_none=True)
    links = fields.Nested(DatasetLinks(), required=True)


class SchemaChange(Schema):
    """A column that a release added, changed or removed."""

    data_version = fields.Int(required=True, metadata=described("The first release that has the change"))
    change = one_of(("added", "changed", "removed"), "What happened to the column", required=True)
    name = fields.Str(required=True)
    type = fields.Str(required=True, metadata={"example": "decimal(20,4)"})
    nullable = fields.Bool(required=True)


class ReleaseFile(Schema):
    """One file of a release. Files are sorted by key: the first and last key show which file contains a key."""

    name = fields.Str(required=True)
    url = fields.Url(required=True, metadata=described("URL for use with your API key"))
    signed_url = fields.Url(
        required=True, metadata=described("Signed URL that needs no header; valid until `signed_until`")
    )
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    sha256 = fields.Str(required=True)
    min_key = fields.Str(required=True)
    max_key = fields.Str(required=True)


class ManifestSignature(Schema):
    """Signature of a manifest: Ed25519 over its members that never change, as canonical JSON (RFC 8785)."""

    algorithm = fields.Str(required=True, metadata=described("Signature scheme (RFC 8032)", example="Ed25519"))
    key_id = fields.Str(required=True, metadata=described("`kid` of the key at `links.keys`"))
    value = fields.Str(required=True, metadata=described("base64url"))


class ManifestLinks(SelfLink):
    """Addresses of related calls."""

    keys = fields.Url(required=True, metadata=described("Address of the public keys that verify the signature"))
    croissant = fields.Url(required=True)
    schema_org = fields.Url(required=True)
    dcat = fields.Url(required=True)


class ReleaseManifest(Schema):
    """One release with its files."""

    dataset = fields.Str(required=True)
    schema = fields.List(fields.Nested(DatasetColumn()), required=True)
    data_version = fields.Int(required=True)
    since = fields.Int(
        metadata=described("For datasets of changes: they lead from this data_version or a later one to `data_version`")
    )
    created_at = fields.Str(required=True, metadata=_TIME)
    expires_at = fields.Str(required=True, metadata=_TIME)
    signed_until = fields.Str(required=True, metadata=_TIME)
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    files = fields.List(fields.Nested(ReleaseFile()), required=True)
    signature = fields.Nested(
        ManifestSignature(),
        required=True,
        allow_none=True,
        metadata=described("null if the release was published unsigned"),
    )
    links = fields.Nested(ManifestLinks(), required=True)


# Parameters and answers of /index/exports, declared once.


_NAMES_MAX = 100
_COMPRESSIONS = sorted({name for names in FORMATS.values() for name in names})


class Names(fields.List[Any]):
    """A name, or a list of names."""

    def __init__(self, field: fields.Field[Any], sentence: str) -> None:
        super().__init__(field, validate=validate.Length(1, _NAMES_MAX), metadata=described(sentence))

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> Any:
        return super()._deserialize([value] if isinstance(value, str) else value, attr, data, **options)


class ExportFilter(Parameters):
    """Row filters; if a filter has several values, any of them may match."""

    brand = Names(Utf8(1, 200), "Brands (slugs)")
    category = Names(Utf8(1, 400), "Categories (codes), including their subcategories")
    channel = Names(Utf8(1, 200), "Channels; only observations have them")
    from_ = Day(data_key="from", metadata=described("First day; only observations have days"))
    to = Day(metadata=described("Last day, inclusive"))

    @validates_schema
    def in_order(self, data: Mapping[str, Any], **options: Any) -> None:
        """The first day must not come after the last."""
        if "from_" in data and "to" in data and data["from_"] > data["to"]:
            raise ValidationError("must not be before `from`", "to")


class NewExport(Parameters):
    """Request for an export."""

    dataset = fields.Str(required=True, validate=validate.OneOf(list(SHAPES)), metadata={"example": "observations"})
    columns = fields.List(
        fields.Str(),
        load_default=None,
        allow_none=True,
        validate=validate.Length(1, 50),
        metadata=described("Columns, in the order of the file; default: all columns"),
    )
    filter = fields.Nested(ExportFilter(), load_default=dict)
    since = JsonInteger(
        1,
        2**63 - 1,
        load_default=None,
        allow_none=True,
        metadata=described("Only rows that changed after this data_version, with a file of removed items"),
    )
    until = JsonInteger(
        1,
        2**63 - 1,
        load_default=None,
        allow_none=True,
        metadata=described("For datasets of changes: the release that they lead to; default: the newest"),
    )
    format = fields.Str(load_default="parquet", validate=validate.OneOf(list(FORMATS)))
    compression = fields.Str(
        load_default=None,
        allow_none=True,
        validate=validate.OneOf(_COMPRESSIONS),
        metadata=described("Compression of the files; default: zstd inside Parquet, none for the others"),
    )

    @validates_schema
    def fits(self, data: Mapping[str, Any], **options: Any) -> None:
        """Columns, filters, `since` and compression must be those of the dataset and the format."""
        dataset, shape = RELEASED[data["dataset"]], SHAPES[data["dataset"]]
        faults: dict[str, Any] = {}
        known = [column.name for column in dataset.columns]
        columns = data["columns"] or []
        if set(columns) - set(known):
            faults["columns"] = f"contains a column that {dataset.name} does not have; allowed: {', '.join(known)}"
        elif len(set(columns)) < len(columns):
            faults["columns"] = "contains a column twice"
        requested = {"from" if name == "from_" else name for name in data["filter"]}
        for name in sorted(requested - shape.filters):
            allowed = ", ".join(sorted(shape.filters)) or "none"
            faults[f"filter.{name}"] = f"is not a filter of {dataset.name}; allowed: {allowed}"
        if data["since"] is not None and not shape.since:
            datasets = ", ".join(name for name, other in SHAPES.items() if other.since)
            faults["since"] = f"is accepted only for {datasets}; export {dataset.name} as a whole"
        if dataset.name in CHANGES and data["since"] is None:
            faults["since"] = f"is required for {dataset.name}: the release from which changes are listed"
        if data["until"] is not None and dataset.name not in CHANGES:
            faults["until"] = f"is accepted only for {', '.join(CHANGES)}"
        if data["compression"] and data["compression"] not in FORMATS[data["format"]]:
            faults["compression"] = (
                f"is not a compression for {data['format']}; allowed: {', '.join(FORMATS[data['format']])}"
            )
        if faults:
            raise ValidationError(faults)


class NewExportQuery(QueryParameters):
    """How the order is meant."""

    dry_run = Flag(load_default=False, metadata=described("Return the cost and the estimated content without charging"))
    preview = Flag(load_default=False, metadata=described("Like `dry_run`, with the first ten rows"))


class ExportsQuery(QueryParameters):
    """Query of the list of exports."""

    state = one_of(STATES, "Only this state")
    limit = WholeNumber(1, 200, load_default=50)
    cursor = CursorText()


class ExportPath(PathParameters):
    """Path of one export."""

    id = fields.Str(
        required=True, metadata=described("Its id", format="uuid", example="019aa2b4-5c10-7f7e-8a55-0a5f3b1c9d21")
    )


class FilePath(ExportPath):
    """Path of one file."""

    file = fields.Str(required=True, metadata=described("Its name", example="items-00001.parquet"))


class ExportFile(Schema):
    """One file. `content` is `rows`, or `gone`: items whose rows must be deleted from an earlier copy."""

    name = fields.Str(required=True)
    url = fields.Url(required=True)
    signed_url = fields.Url(
        required=True, metadata=described("Signed URL that needs no header; valid until `signed_until`")
    )
    content = fields.Str(required=True, validate=validate.OneOf(["rows", "gone"]))
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    sha256 = fields.Str(required=True)
    min_key = fields.Str(required=True, allow_none=True)
    max_key = fields.Str(required=True, allow_none=True)


class ExportManifest(Schema):
    """Contents of an export. With `since`, rows replace those of the same items (observations: in `months`, or all)."""

    dataset = fields.Str(required=True)
    schema = fields.List(fields.Nested(DatasetColumn()), required=True)
    format = fields.Str(required=True)
    compression = fields.Str(required=True)
    media_type = fields.Str(required=True)
    data_version = fields.Int(required=True)
    since = fields.Int(required=True, allow_none=True)
    months = fields.List(
        fields.Date(), required=True, metadata=described("Months with changes; empty if nothing has changed")
    )
    all_months = fields.Bool(
        required=True, metadata=described("Whether rows replace those of all months; then `months` is empty")
    )
    formula_prefix = fields.Str(
        required=True,
        allow_none=True,
        metadata=described(
            "Prefix of CSV texts that a spreadsheet would run as formulas: those that begin with =, +, "
            "-, @, a tab or a line break, also after apostrophes, and are not negative numbers. Remove one to get "
            "the text. Null in other formats."
        ),
    )
    created_at = fields.DateTime(required=True)
    expires_at = fields.DateTime(required=True)
    signed_until = fields.DateTime(required=True)
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    files = fields.List(fields.Nested(ExportFile()), required=True)


class ListedExport(Job):
    """One export: its job and its request."""

    request = fields.Dict(required=True, metadata=described("The request in canonical form"))


class Export(ListedExport):
    """One export, with its files once it is complete."""

    manifest = fields.Nested(ExportManifest(), required=True, allow_none=True)


class ExportEstimate(Schema):
    """Cost and size of an export. `rows_relation` is `about` for an estimate, and `gte` if counting stopped early."""

    cost_units = fields.Int(required=True)
    rows = fields.Int(required=True)
    rows_relation = fields.Str(required=True, validate=validate.OneOf(["eq", "gte", "about"]))
    data_version = fields.Int(required=True)
    schema = fields.List(fields.Nested(DatasetColumn()), required=True)
    request = fields.Dict(required=True)
    preview = fields.List(fields.Dict(), required=True, allow_none=True)


_VERSION_MAX = 10**18 - 1


class Moment(fields.Field[datetime]):
    """A moment in RFC 3339 with its zone."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> datetime:
        try:
            moment = datetime.fromisoformat(str(value))
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):  # a zone may lead out of the years that there are
            raise ValidationError("must be a time in the form 2026-11-21T08:00:00Z") from None


def _moment(sentence: str) -> Moment:
    metadata = {"type": "string", "format": "date-time", "description": sentence}
    return Moment(load_default=None, metadata=metadata)


def _version(sentence: str) -> WholeNumber:
    return WholeNumber(0, _VERSION_MAX, load_default=None, metadata=described(sentence))


class SharePath(PathParameters):
    """Path of a share."""

    share = Utf8(1, 100, required=True, metadata=described("Share", example="item-index"))


class SchemaPath(SharePath):
    """Path of a schema."""

    schema = Utf8(1, 100, required=True, metadata=described("Schema", example="releases"))


class TablePath(SchemaPath):
    """Path of a table."""

    table = Utf8(1, 100, required=True, metadata=described("Dataset", example="observations"))


class Page(QueryParameters):
    """Query of a list."""

    maxResults = WholeNumber(0, 1_000, load_default=None, metadata=described("Entries per page"))  # noqa: N815
    pageToken = fields.Str(  # noqa: N815
        load_default=None,
        validate=validate.Regexp(r"\A[0-9]{1,4}\Z", error="must be the `nextPageToken` of the previous page"),
        metadata=described("`nextPageToken` of the previous page", pattern="^[0-9]{1,4}$"),
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
    includeHistoricalMetadata = fields.Str(load_default=None, metadata=described("Accepted, but ignored"))  # noqa: N815


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


class DataCredentials(Schema):
    """S3 credentials, and the bucket that they can read."""

    access_key_id = fields.Str(required=True, metadata=described("ID of the credentials"))
    secret_access_key = fields.Str(required=True, metadata=described("Key that signs requests"))
    session_token = fields.Str(required=True, metadata=described("Token to be sent with each request"))
    expires_at = fields.DateTime(required=True, metadata=described("When they expire; earlier if the API key does"))
    endpoint = fields.Url(required=True, require_tld=False, metadata=described("Endpoint for S3 clients"))
    region = fields.Str(required=True, metadata=described("Region for signatures"))
    bucket = fields.Str(required=True, metadata=described("Bucket of the releases"))


class IcebergConfigQuery(QueryParameters):
    """Query of the configuration."""

    warehouse = fields.Str(metadata=described("Any name; there is only one warehouse"))


class IcebergPage(QueryParameters):
    """Query of lists, which are short: one page has them all."""

    parent = fields.Str(metadata=described("Parent namespace; namespaces are not nested"))
    pageToken = fields.Str(metadata=described("Not used"))  # noqa: N815
    pageSize = fields.Int(metadata=described("Not used"))  # noqa: N815


class IcebergNamespacePath(PathParameters):
    """A namespace of the catalogue."""

    namespace = fields.Str(required=True, metadata=described("`releases`"))


class IcebergTablePath(IcebergNamespacePath):
    """A table of the catalogue."""

    table = fields.Str(required=True, metadata=described("A dataset"))


class IcebergTableQuery(QueryParameters):
    """Query of a table."""

    snapshots = fields.Str(metadata=described("`all` or `refs`; the response is the same"))


class SharingProfile(Schema):
    """A profile file, as the protocol defines it."""

    shareCredentialsVersion = fields.Int(required=True)  # noqa: N815
    endpoint = fields.Url(required=True, require_tld=False)
    bearerToken = fields.Str(required=True)  # noqa: N815


class SharingShare(Schema):
    """One share."""

    share = fields.Nested(SharingObject(), required=True)


DatasetList = list_of(DatasetEntry, "DatasetList", "All datasets.")
SchemaChangeList = list_of(SchemaChange, "SchemaChangeList", "Changes of a dataset's schema.")
ReleaseList = list_of(ReleaseEntry, "ReleaseList", "Releases of a dataset.")
ExportList = list_of(ListedExport, "ExportList", "One page of exports, newest first.")
