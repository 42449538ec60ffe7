"""The published form of an export: its files, and their content. Pure."""

import msgspec

from shared.bulk.request import FORMATS, ROWS, Request
from shared.bulk.schema import RELEASED, ColumnDocument, Dataset, schema_of

_SUFFIXES = {"parquet": "parquet", "csv": "csv", "ndjson": "ndjson", "arrow": "arrows"}
_PACKED = {"gzip": ("gz", "application/gzip"), "zstd": ("zst", "application/zstd")}
_MEDIA_TYPES = {
    "parquet": "application/vnd.apache.parquet",
    "csv": "text/csv",
    "ndjson": "application/x-ndjson",
    "arrow": "application/vnd.apache.arrow.stream",
}


class File(msgspec.Struct, frozen=True, kw_only=True):
    """One file, whole. `content` is `rows`, or `gone` for what a copy made before must drop."""

    name: str
    key: str
    content: str
    rows: int
    bytes: int
    sha256: str
    min_key: str | None
    max_key: str | None


class StoredExportManifest(msgspec.Struct, frozen=True, kw_only=True):
    """All files of an export, published by one UPDATE.

    `months` are those that `since` was narrowed to, unless it could not be: then `all_months` holds. It is None in
    manifests that were published before it existed, whose `months` are empty if all count.
    """

    dataset: str
    schema: list[ColumnDocument]
    format: str
    compression: str
    media_type: str
    data_version: int
    since: int | None
    months: list[str]
    all_months: bool | None = None
    created_at: str
    rows: int
    bytes: int
    files: list[File]

    def file(self, name: str) -> File | None:
        """Return the file of this name, None if there is none."""
        return next((file for file in self.files if file.name == name), None)


def is_compressed(format: str, compression: str) -> bool:
    """Return whether the file as a whole is compressed; Parquet and Arrow compress inside."""
    return format in ("csv", "ndjson") and compression != "none"


def file_name(dataset: str, content: str, number: int, format: str, compression: str) -> str:
    """Return the name of a part's file: `items-00001.csv.gz`."""
    ending = f".{_PACKED[compression][0]}" if is_compressed(format, compression) else ""
    return f"{dataset}{'' if content == 'rows' else '-gone'}-{number:05d}.{_SUFFIXES[format]}{ending}"


def media_type(format: str, compression: str) -> str:
    """Return what the files are served as."""
    return _PACKED[compression][1] if is_compressed(format, compression) else _MEDIA_TYPES[format]


def usual_compression(format: str) -> str:
    """Return the default compression of a format."""
    return FORMATS[format][0]


def described_columns(dataset: Dataset, columns: list[str]) -> list[ColumnDocument]:
    """Return the schema of the chosen columns as manifests show it."""
    by_name = {column["name"]: column for column in schema_of(dataset)}
    return [by_name[name] for name in columns]


def manifest_of(
    request: Request, data_version: int, months: list[str] | None, files: list[File], created_at: str
) -> StoredExportManifest:
    """Return the manifest of an export's files, in their order. `months` as in the manifest, None: all.

    A file without rows is not listed; if none has rows, the first one is, because it shows the schema.
    """
    listed = [file for file in files if file.rows] or files[:1]
    return StoredExportManifest(
        dataset=request.dataset,
        schema=described_columns(RELEASED[request.dataset], request.columns),
        format=request.format,
        compression=request.compression,
        media_type=media_type(request.format, request.compression),
        data_version=data_version,
        since=request.since,
        months=months or [],
        all_months=months is None,
        created_at=created_at,
        rows=sum(file.rows for file in listed if file.content == ROWS),
        bytes=sum(file.bytes for file in listed),
        files=listed,
    )


def export_manifest_from(document: object) -> StoredExportManifest:
    """Read a manifest from a job's row. Raises msgspec.ValidationError if it is none."""
    return msgspec.convert(document, StoredExportManifest)
