"""A dataset as a table of Iceberg, in format version 2 of its specification.

Each kept release is a snapshot, whose id is the data_version. Metadata is made from the rows that name releases, and
always alike: a client may get a manifest and its list from two processes.
"""

import json
import uuid
import zlib
from datetime import datetime

from edge.bulk.data_credentials import BUCKET
from edge.bulk.release_repository import Release
from shared.bulk.schema import LIST, MONEY, RELEASED, UNIT_PRICE, ColumnDocument

PREFIX, NAMESPACE = "iceberg", "releases"
MANIFEST, MANIFEST_LIST, TABLE = "manifest.avro", "snapshot.avro", "table.metadata.json"
_UUIDS = uuid.uuid5(uuid.NAMESPACE_URL, "urn:item-index:iceberg")
_TYPES = {"timestamp": "timestamptz", "integer": "int", MONEY: "decimal(20, 4)", UNIT_PRICE: "decimal(38, 6)"}


def field_id(name: str) -> int:
    """Return a column's id: a function of its name, so that it is the same in every release and every process."""
    return zlib.crc32(name.encode()) & 0x3FFFFFFF


def schema_of_release(columns: list[ColumnDocument], number: int) -> dict[str, object]:
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


def _type(column: ColumnDocument) -> object:
    if column["type"] == LIST:
        element = field_id(f"{column['name']}.element")
        return {"type": "list", "element-id": element, "element": "string", "element-required": True}
    return _TYPES.get(column["type"], column["type"])


def table_metadata(dataset: str, releases: list[Release]) -> dict[str, object]:
    """Return a table's metadata; `releases` are those that are kept, the oldest first."""
    layouts: list[list[ColumnDocument]] = []
    snapshots: list[dict[str, object]] = []
    for release in releases:
        if release.columns not in layouts:
            layouts.append(release.columns)
        snapshot = {
            "snapshot-id": release.data_version,
            "sequence-number": release.data_version,
            "timestamp-ms": milliseconds(release.created_at),
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
    updated = milliseconds(newest.created_at)
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
            "schema.name-mapping.default": json.dumps([_name_mapping(column) for column in names.values()]),
        },
        "snapshots": snapshots,
        "current-snapshot-id": newest.data_version,
        "refs": {"main": {"snapshot-id": newest.data_version, "type": "branch"}},
        "snapshot-log": [{name: snapshot[name] for name in ("snapshot-id", "timestamp-ms")} for snapshot in snapshots],
        "metadata-log": [],
    }


def _name_mapping(column: ColumnDocument) -> dict[str, object]:
    name = column["name"]
    mapped: dict[str, object] = {"field-id": field_id(name), "names": [name]}
    if column["type"] == LIST:
        mapped["fields"] = [{"field-id": field_id(f"{name}.element"), "names": ["element"]}]
    return mapped


def address(dataset: str, version: int, name: str) -> str:
    """Return where a file of metadata is in the bucket."""
    return f"s3://{BUCKET}/{dataset}/{version}/metadata/{name}"


def milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
