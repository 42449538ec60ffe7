"""The releases as tables of a read-only Iceberg REST catalogue, in format version 2 of Iceberg's specification.

A table is a dataset, and each kept release one of its snapshots, whose id is the data_version. Metadata is made from
the rows that name releases, and always alike: a client may get a manifest and its list from two processes.
"""

import hashlib
import json
import struct
import uuid
import zlib
from collections.abc import Callable
from datetime import date, datetime
from functools import partial
from io import BytesIO
from typing import Any

import fastavro
from aiohttp import hdrs, web

from edge.bulk import schemas
from edge.bulk.data_credentials import BUCKET, REGION, DataCredentialService
from edge.bulk.release_repository import Release, ReleaseRepository, dataset_of
from edge.http.context import principal_of
from edge.http.json import NO_STORE, unstored_json
from edge.http.parameters import PATH
from edge.http.problems import Problem
from edge.http.representation import MadeByKey
from edge.http.routing import API_PATH, operation
from shared.bulk.schema import LIST, RELEASED, ReleaseFile

PREFIX, NAMESPACE = "iceberg", "releases"
MANIFEST, MANIFEST_LIST, TABLE = "manifest.avro", "snapshot.avro", "table.metadata.json"
_UUIDS = uuid.uuid5(uuid.NAMESPACE_URL, "urn:item-index:iceberg")
_TYPES = {"timestamp": "timestamptz", "integer": "int", "decimal(20,4)": "decimal(20, 4)"}
_KEPT_MAX = 256
_SYNC_MARKER = hashlib.sha256(b"item-index").digest()[:16]
_operation = partial(operation, "iceberg")


def field_id(name: str) -> int:
    """Return a column's id: a function of its name, so that it is the same in every release and every process."""
    return zlib.crc32(name.encode()) & 0x3FFFFFFF


def schema_of_release(columns: list[dict[str, Any]], number: int) -> dict[str, Any]:
    """Return a release's schema as Iceberg writes it."""
    fields = [
        {
            "id": field_id(column["name"]),
            "name": column["name"],
            "required": not column["nullable"],
            "type": _type(column),
            "doc": column["description"],
        }
        for column in columns
    ]
    return {"type": "struct", "schema-id": number, "fields": fields}


def _type(column: dict[str, Any]) -> Any:
    if column["type"] == LIST:
        element = field_id(f"{column['name']}.element")
        return {"type": "list", "element-id": element, "element": "string", "element-required": True}
    return _TYPES.get(column["type"], column["type"])


def table_metadata(dataset: str, releases: list[Release]) -> dict[str, Any]:
    """Return a table's metadata; `releases` are those that are kept, the oldest first."""
    layouts: list[list[dict[str, Any]]] = []
    snapshots: list[dict[str, Any]] = []
    for release in releases:
        if release.columns not in layouts:
            layouts.append(release.columns)
        snapshot = {
            "snapshot-id": release.data_version,
            "sequence-number": release.data_version,
            "timestamp-ms": _milliseconds(release.created_at),
            "manifest-list": address(dataset, release.data_version, MANIFEST_LIST),
            "schema-id": layouts.index(release.columns),
            "summary": {"operation": "overwrite", "total-records": str(release.rows)},
        }
        if snapshots:
            snapshot["parent-snapshot-id"] = snapshots[-1]["snapshot-id"]
        snapshots.append(snapshot)
    schemas_of = [schema_of_release(columns, number) for number, columns in enumerate(layouts)]
    names = {column["name"]: column for columns in layouts for column in columns}
    newest = releases[-1]
    updated = _milliseconds(newest.created_at)
    return {
        "format-version": 2,
        "table-uuid": str(uuid.uuid5(_UUIDS, dataset)),
        "location": f"s3://{BUCKET}/{dataset}",
        "last-sequence-number": newest.data_version,
        "last-updated-ms": updated,
        "last-column-id": max(max(field_id(name), field_id(f"{name}.element")) for name in names),
        "schemas": schemas_of,
        "current-schema-id": layouts.index(newest.columns),
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0,
        "last-partition-id": 999,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        # Files have no field ids: their columns are found by name.
        "properties": {
            "comment": RELEASED[dataset].title,
            "schema.name-mapping.default": json.dumps([_mapped(column) for column in names.values()]),
        },
        "snapshots": snapshots,
        "current-snapshot-id": newest.data_version,
        "refs": {"main": {"snapshot-id": newest.data_version, "type": "branch"}},
        "snapshot-log": [{"snapshot-id": one["snapshot-id"], "timestamp-ms": one["timestamp-ms"]} for one in snapshots],
        "metadata-log": [],
    }


def _mapped(column: dict[str, Any]) -> dict[str, Any]:
    name = column["name"]
    mapped: dict[str, Any] = {"field-id": field_id(name), "names": [name]}
    if column["type"] == LIST:
        mapped["fields"] = [{"field-id": field_id(f"{name}.element"), "names": ["element"]}]
    return mapped


def address(dataset: str, version: int, name: str) -> str:
    """Return where a file of metadata is in the bucket."""
    return f"s3://{BUCKET}/{dataset}/{version}/metadata/{name}"


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


# Manifests and their lists, in Avro with the field ids of the specification.


def _optional(name: str, kind: Any, number: int) -> dict[str, Any]:
    return {"name": name, "type": ["null", kind], "default": None, "field-id": number}


def _by_field(name: str, number: int, kind: str, key: int, value: int) -> dict[str, Any]:
    entry = {
        "type": "record",
        "name": f"k{key}_v{value}",
        "fields": [
            {"name": "key", "type": "int", "field-id": key},
            {"name": "value", "type": kind, "field-id": value},
        ],
    }
    return _optional(name, {"type": "array", "items": entry, "logicalType": "map"}, number)


_DATA_FILE = {
    "type": "record",
    "name": "r2",
    "fields": [
        {"name": "content", "type": "int", "field-id": 134},
        {"name": "file_path", "type": "string", "field-id": 100},
        {"name": "file_format", "type": "string", "field-id": 101},
        {"name": "partition", "type": {"type": "record", "name": "r102", "fields": []}, "field-id": 102},
        {"name": "record_count", "type": "long", "field-id": 103},
        {"name": "file_size_in_bytes", "type": "long", "field-id": 104},
        # Always empty. pyiceberg takes its absence for a fault.
        _by_field("column_sizes", 108, "long", 117, 118),
        _by_field("value_counts", 109, "long", 119, 120),
        _by_field("null_value_counts", 110, "long", 121, 122),
        _by_field("lower_bounds", 125, "bytes", 126, 127),
        _by_field("upper_bounds", 128, "bytes", 129, 130),
    ],
}
_ENTRY = {
    "type": "record",
    "name": "manifest_entry",
    "fields": [
        {"name": "status", "type": "int", "field-id": 0},
        _optional("snapshot_id", "long", 1),
        _optional("sequence_number", "long", 3),
        _optional("file_sequence_number", "long", 4),
        {"name": "data_file", "type": _DATA_FILE, "field-id": 2},
    ],
}
_COUNTS = {
    "partition_spec_id": 502,
    "content": 517,
    "added_files_count": 504,
    "existing_files_count": 505,
    "deleted_files_count": 506,
}
_LONG_COUNTS = {
    "manifest_length": 501,
    "sequence_number": 515,
    "min_sequence_number": 516,
    "added_snapshot_id": 503,
    "added_rows_count": 512,
    "existing_rows_count": 513,
    "deleted_rows_count": 514,
}
_MANIFEST_FILE = {
    "type": "record",
    "name": "manifest_file",
    "fields": [
        {"name": "manifest_path", "type": "string", "field-id": 500},
        *({"name": name, "type": "long", "field-id": number} for name, number in _LONG_COUNTS.items()),
        *({"name": name, "type": "int", "field-id": number} for name, number in _COUNTS.items()),
    ],
}
_ADDED = 1


def manifest(release: Release, files: list[ReleaseFile]) -> bytes:
    """Return the manifest that names all files of a release."""
    types = {column["name"]: column["type"] for column in release.columns}
    entries = [
        {"status": _ADDED, "snapshot_id": release.data_version, "data_file": _data_file(release, file, types)}
        for file in files
    ]
    metadata = {
        "schema": json.dumps(schema_of_release(release.columns, 0)),
        "schema-id": "0",
        "partition-spec": "[]",
        "partition-spec-id": "0",
        "format-version": "2",
        "content": "data",
    }
    return _avro(_ENTRY, entries, metadata)


def manifest_list(release: Release, manifest_bytes: int, files: int) -> bytes:
    """Return the list of a snapshot, which has the one manifest; its sequence number is the data_version too."""
    number = release.data_version
    entry = {
        **dict.fromkeys((*_LONG_COUNTS, *_COUNTS), 0),
        "manifest_path": address(release.dataset, release.data_version, MANIFEST),
        "manifest_length": manifest_bytes,
        "sequence_number": number,
        "min_sequence_number": number,
        "added_snapshot_id": release.data_version,
        "added_files_count": files,
        "added_rows_count": release.rows,
    }
    metadata = {
        "snapshot-id": str(release.data_version),
        "parent-snapshot-id": "null",
        "sequence-number": str(number),
        "format-version": "2",
    }
    return _avro(_MANIFEST_FILE, [entry] if files else [], metadata)


def _data_file(release: Release, file: ReleaseFile, types: dict[str, str]) -> dict[str, Any]:
    nulls, least, most = (file.statistics.get(name, {}) for name in ("nullCount", "minValues", "maxValues"))
    return {
        "content": 0,
        "file_path": f"s3://{BUCKET}/{release.dataset}/{release.data_version}/{file.name}",
        "file_format": "PARQUET",
        "partition": {},
        "record_count": file.rows,
        "file_size_in_bytes": file.bytes,
        "column_sizes": [],
        "value_counts": [{"key": field_id(name), "value": file.rows} for name in nulls],
        "null_value_counts": [{"key": field_id(name), "value": count} for name, count in nulls.items()],
        "lower_bounds": [{"key": field_id(n), "value": _bound(types[n], v)} for n, v in least.items() if n in types],
        "upper_bounds": [{"key": field_id(n), "value": _bound(types[n], v)} for n, v in most.items() if n in types],
    }


def _bound(kind: str, value: Any) -> bytes:
    """Return a value as bytes, by the specification's single-value serialization."""
    match kind:
        case "date":
            return struct.pack("<i", date.fromisoformat(value).toordinal() - date(1970, 1, 1).toordinal())
        case "integer":
            return struct.pack("<i", value)
        case "long":
            return struct.pack("<q", value)
        case _:
            return str(value).encode()


def _avro(schema: dict[str, Any], rows: list[dict[str, Any]], metadata: dict[str, str]) -> bytes:
    file = BytesIO()
    fastavro.writer(file, schema, rows, metadata=metadata, sync_marker=_SYNC_MARKER)
    return file.getvalue()


# What the bucket and the catalogue show of it.


class IcebergMetadata:
    """Makes metadata from the rows of releases. What a release says of itself never changes, so it is kept."""

    def __init__(self, repository: ReleaseRepository, kept_max: int = _KEPT_MAX) -> None:
        self._repository = repository
        self._kept = MadeByKey[bytes](kept_max)

    async def table(self, dataset: str) -> dict[str, Any]:
        """Return a table's metadata. Raises `dataset-not-found` where it has no release yet."""
        releases = await self._repository.kept(dataset_of(dataset).name)
        if not releases:
            raise Problem("dataset-not-found", "There is no release of this dataset yet.")
        return table_metadata(dataset, releases)

    async def file(self, release: Release, name: str) -> tuple[bytes, str]:
        """Return one file of a release's metadata, with its media type."""
        if name == TABLE:
            content = json.dumps(await self.table(release.dataset)).encode()
        elif name in (MANIFEST, MANIFEST_LIST):
            content = await self._avro_file(release, name)
        else:
            raise Problem(
                "dataset-not-found", f"The metadata of a release are {MANIFEST}, {MANIFEST_LIST} and {TABLE}."
            )
        return content, "application/json" if name == TABLE else "application/vnd.apache.avro+binary"

    async def _avro_file(self, release: Release, name: str) -> bytes:
        async def prepare() -> Callable[[], bytes]:
            files = await self._repository.files(release.dataset, release.data_version)
            return partial(_avro_content, release, name, files)

        return await self._kept.get((*release.identity, name), prepare)


def _avro_content(release: Release, name: str, files: list[ReleaseFile]) -> bytes:
    content = manifest(release, files)
    return content if name == MANIFEST else manifest_list(release, len(content), len(files))


_ENDPOINTS = (
    "GET /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}",
    "HEAD /v1/{prefix}/namespaces/{namespace}",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials",
)
_ERRORS = {
    404: "NotFoundException",
    401: "NotAuthorizedException",
    403: "ForbiddenException",
    400: "BadRequestException",
    405: "UnsupportedOperationException",
    429: "SlowDownException",
    503: "SlowDownException",
}


def error_members(problem: Problem, request: web.Request) -> dict[str, object]:
    """Return the member `error` that Iceberg's clients read."""
    status = problem.type.status
    kind = _ERRORS.get(status, "ServiceFailureException" if status >= 500 else "BadRequestException")
    if problem.type.slug == "dataset-not-found":
        kind = "NoSuchTableException" if "table" in request.match_info else "NoSuchNamespaceException"
    return {"error": {"message": problem.detail, "type": kind, "code": status}}


class Iceberg:
    """The handlers."""

    def __init__(
        self, repository: ReleaseRepository, metadata: IcebergMetadata, service: DataCredentialService, origin: str
    ) -> None:
        self._repository = repository
        self._metadata = metadata
        self._service = service
        self._origin = origin

    @_operation("icebergConfig", schemas.IcebergConfigQuery)
    async def config(self, request: web.Request) -> web.StreamResponse:
        """Configuration of the Iceberg catalogue."""
        document = {"defaults": {}, "overrides": {"prefix": PREFIX}, "endpoints": _ENDPOINTS}
        return unstored_json(document)

    async def token(self, request: web.Request) -> web.StreamResponse:
        """Refuse to exchange credentials for a token, which clients try that are configured with `credential`."""
        raise Problem("invalid-request", "The catalogue issues no tokens. Configure your API key as the `token`.")

    @_operation("icebergNamespaces", schemas.IcebergPage)
    async def namespaces(self, request: web.Request) -> web.StreamResponse:
        """List namespaces."""
        return unstored_json({"namespaces": [] if request.query.get("parent") else [[NAMESPACE]]})

    @_operation("icebergNamespace", schemas.IcebergNamespacePath)
    async def namespace(self, request: web.Request) -> web.StreamResponse:
        """Read a namespace."""
        _check_namespace(request)
        if request.method == hdrs.METH_HEAD:
            return web.Response(status=204, headers=NO_STORE)
        return unstored_json({"namespace": [NAMESPACE], "properties": {}})

    @_operation("icebergTables", schemas.IcebergNamespacePath, schemas.IcebergPage)
    async def tables(self, request: web.Request) -> web.StreamResponse:
        """List a namespace's tables."""
        _check_namespace(request)
        newest = await self._repository.newest()
        return unstored_json({"identifiers": [{"namespace": [NAMESPACE], "name": n} for n in RELEASED if n in newest]})

    @_operation("icebergTable", schemas.IcebergTablePath, schemas.IcebergTableQuery)
    async def table(self, request: web.Request) -> web.StreamResponse:
        """Load a table."""
        _check_namespace(request)
        name = request[PATH]["table"]
        metadata = await self._metadata.table(name)
        if request.method == hdrs.METH_HEAD:
            return web.Response(status=204, headers=NO_STORE)
        newest = metadata["current-snapshot-id"]
        credentials = self._credentials(request, name)
        document = {
            "metadata-location": address(name, newest, TABLE),
            "metadata": metadata,
            "config": credentials["config"],
            "storage-credentials": [credentials],
        }
        return unstored_json(document)

    @_operation("icebergCredentials", schemas.IcebergTablePath)
    async def credentials(self, request: web.Request) -> web.StreamResponse:
        """Create new credentials for a table's files."""
        _check_namespace(request)
        return unstored_json(
            {"storage-credentials": [self._credentials(request, dataset_of(request[PATH]["table"]).name)]}
        )

    def _credentials(self, request: web.Request, table: str) -> dict[str, Any]:
        made = self._service.issue(principal_of(request).credential_id)
        tables = f"{self._origin}{API_PATH}/{PREFIX}/namespaces/{NAMESPACE}/tables"
        config = {
            "s3.endpoint": self._origin,
            "s3.path-style-access": "true",
            "s3.region": REGION,
            "client.region": REGION,
            "s3.access-key-id": made.access_key_id,
            "s3.secret-access-key": made.secret_access_key,
            "s3.session-token": made.session_token,
            "s3.session-token-expires-at-ms": str(_milliseconds(made.expires_at)),
            # Where a client that reads for longer than the hour gets the next ones.
            "client.refresh-credentials-endpoint": f"{tables}/{table}/credentials",
        }
        return {"prefix": f"s3://{BUCKET}/{table}", "config": config}


def _check_namespace(request: web.Request) -> None:
    if request[PATH]["namespace"] != NAMESPACE:
        raise Problem("dataset-not-found", f"The namespace is `{NAMESPACE}`.")
