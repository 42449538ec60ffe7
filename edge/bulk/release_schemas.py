"""Parameters and answers of the datasets, declared once."""

from marshmallow import Schema, fields

from edge.http.envelope import ListEnvelope, SelfLink
from edge.http.parameters import CursorText, Parameters, Utf8, WholeNumber
from edge.http.parameters import LinkQuery as LinkQuery

_TIME = {"description": "RFC 3339, UTC", "format": "date-time"}


class DatasetPath(Parameters):
    """Path of one dataset."""

    name = Utf8(1, 100, required=True, metadata={"description": "Dataset", "example": "observations"})


class ReleasePath(DatasetPath):
    """Path of one release."""

    release = Utf8(1, 100, required=True, metadata={"description": "A data_version, or `latest`", "example": "latest"})


class FilePath(ReleasePath):
    """Path of one file."""

    file = Utf8(1, 300, required=True, metadata={"description": "File's name", "example": "2026-07-0000.parquet"})


class ReleasesQuery(Parameters):
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
    sorted_by = fields.List(fields.Str(), required=True, metadata={"description": "Order of rows in the files"})
    latest = fields.Nested(ReleaseEntry(), required=True, allow_none=True)
    links = fields.Nested(DatasetLinks(), required=True)


class DatasetList(ListEnvelope):
    """All datasets."""

    data = fields.List(fields.Nested(DatasetEntry()), required=True)


class ReleaseList(ListEnvelope):
    """Releases of a dataset."""

    data = fields.List(fields.Nested(ReleaseEntry()), required=True)


class ReleaseFile(Schema):
    """One file of a release. Files are in the order of their keys: first and last key show which file holds a key."""

    name = fields.Str(required=True)
    url = fields.Url(required=True, metadata={"description": "Address for use with your API key"})
    signed_url = fields.Url(
        required=True, metadata={"description": "Address that needs no header; valid until `signed_until`"}
    )
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    sha256 = fields.Str(required=True)
    min_key = fields.Str(required=True)
    max_key = fields.Str(required=True)


class ReleaseManifest(Schema):
    """One release with its files."""

    dataset = fields.Str(required=True)
    schema = fields.List(fields.Nested(DatasetColumn()), required=True)
    data_version = fields.Int(required=True)
    created_at = fields.Str(required=True, metadata=_TIME)
    expires_at = fields.Str(required=True, metadata=_TIME)
    signed_until = fields.Str(required=True, metadata=_TIME)
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    files = fields.List(fields.Nested(ReleaseFile()), required=True)
    links = fields.Nested(SelfLink(), required=True)
