"""Parameters and answers of datasets and their releases."""

from marshmallow import Schema, fields

from edge.bulk.descriptions import FORMS
from edge.http.lists import SelfLink, list_of
from edge.http.parameters import CursorText, PathParameters, QueryParameters, Utf8, WholeNumber, field_doc, one_of

FILE_ANSWERS = {200: "File", 206: "The requested range of the file", 304: "Your copy is current."}
_TIME = {"description": "RFC 3339, UTC", "format": "date-time"}


class DatasetPath(PathParameters):
    """Path of one dataset."""

    name = Utf8(1, 100, required=True, metadata=field_doc("Dataset", example="observations"))


class ReleasePath(DatasetPath):
    """Path of one release."""

    release = Utf8(1, 100, required=True, metadata=field_doc("A data_version, or `latest`", example="latest"))


class DescriptionPath(ReleasePath):
    """Path of one description."""

    form = one_of(FORMS, "Vocabulary of the description", required=True)


class ReleaseFilePath(ReleasePath):
    """Path of one file."""

    file = Utf8(1, 300, required=True, metadata=field_doc("File's name", example="2026-07-0000.parquet"))


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
    sorted_by = fields.List(fields.Str(), required=True, metadata=field_doc("Order of rows in the files"))
    latest = fields.Nested(ReleaseEntry(), required=True, allow_none=True)
    links = fields.Nested(DatasetLinks(), required=True)


class SchemaChange(Schema):
    """A column that a release added, changed or removed."""

    data_version = fields.Int(required=True, metadata=field_doc("The first release that has the change"))
    change = one_of(("added", "changed", "removed"), "What happened to the column", required=True)
    name = fields.Str(required=True)
    type = fields.Str(required=True, metadata={"example": "decimal(20,4)"})
    nullable = fields.Bool(required=True)


class ReleaseFile(Schema):
    """One file of a release. Files are sorted by key: the first and last key show which file contains a key."""

    name = fields.Str(required=True)
    url = fields.Url(required=True, metadata=field_doc("URL for use with your API key"))
    signed_url = fields.Url(
        required=True, metadata=field_doc("Signed URL that needs no header; valid until `signed_until`")
    )
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    sha256 = fields.Str(required=True)
    min_key = fields.Str(required=True)
    max_key = fields.Str(required=True)


class ManifestSignature(Schema):
    """Signature of a manifest: Ed25519 over its members that never change, as canonical JSON (RFC 8785)."""

    algorithm = fields.Str(required=True, metadata=field_doc("Signature scheme (RFC 8032)", example="Ed25519"))
    key_id = fields.Str(required=True, metadata=field_doc("`kid` of the key at `links.keys`"))
    value = fields.Str(required=True, metadata=field_doc("base64url"))


class ManifestLinks(SelfLink):
    """Addresses of related calls."""

    keys = fields.Url(required=True, metadata=field_doc("Address of the public keys that verify the signature"))
    croissant = fields.Url(required=True)
    schema_org = fields.Url(required=True)
    dcat = fields.Url(required=True)


class ReleaseManifest(Schema):
    """One release with its files."""

    dataset = fields.Str(required=True)
    schema = fields.List(fields.Nested(DatasetColumn()), required=True)
    data_version = fields.Int(required=True)
    since = fields.Int(
        metadata=field_doc("For datasets of changes: they lead from this data_version or a later one to `data_version`")
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
        metadata=field_doc("null if the release was published unsigned"),
    )
    links = fields.Nested(ManifestLinks(), required=True)


class DataCredentials(Schema):
    """S3 credentials, and the bucket that they can read."""

    access_key_id = fields.Str(required=True, metadata=field_doc("ID of the credentials"))
    secret_access_key = fields.Str(required=True, metadata=field_doc("Key that signs requests"))
    session_token = fields.Str(required=True, metadata=field_doc("Token to be sent with each request"))
    expires_at = fields.DateTime(required=True, metadata=field_doc("When they expire; earlier if the API key does"))
    endpoint = fields.Url(required=True, require_tld=False, metadata=field_doc("Endpoint for S3 clients"))
    region = fields.Str(required=True, metadata=field_doc("Region for signatures"))
    bucket = fields.Str(required=True, metadata=field_doc("Bucket of the releases"))


DatasetList = list_of(DatasetEntry, "DatasetList", "All datasets.")
SchemaChangeList = list_of(SchemaChange, "SchemaChangeList", "Changes of a dataset's schema.")
ReleaseList = list_of(ReleaseEntry, "ReleaseList", "Releases of a dataset.")
