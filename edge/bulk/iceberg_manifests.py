"""Iceberg's manifests and their lists, in Avro with the field ids of the specification."""

import hashlib
import json
import struct
from datetime import date
from io import BytesIO

import fastavro

from edge.bulk.data_credentials import BUCKET
from edge.bulk.iceberg_tables import MANIFEST, address, field_id, schema_of_release
from edge.bulk.release_repository import Release
from shared.bulk.schema import KeptReleaseFile, StatisticValue

_SYNC_MARKER = hashlib.sha256(b"item-index").digest()[:16]

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
_MANIFEST_FILE: dict[str, object] = {
    "type": "record",
    "name": "manifest_file",
    "fields": [
        {"name": "manifest_path", "type": "string", "field-id": 500},
        *({"name": name, "type": "long", "field-id": number} for name, number in _LONG_COUNTS.items()),
        *({"name": name, "type": "int", "field-id": number} for name, number in _COUNTS.items()),
    ],
}
_ADDED = 1


def _optional(name: str, kind: object, number: int) -> dict[str, object]:
    return {"name": name, "type": ["null", kind], "default": None, "field-id": number}


def _by_field(name: str, number: int, kind: str, key: int, value: int) -> dict[str, object]:
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
_ENTRY: dict[str, object] = {
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


def manifest(release: Release, files: list[KeptReleaseFile]) -> bytes:
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


def _data_file(release: Release, file: KeptReleaseFile, types: dict[str, str]) -> dict[str, object]:
    kept = file.statistics
    nulls, least, most = kept.get("nullCount", {}), kept.get("minValues", {}), kept.get("maxValues", {})
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


def _bound(kind: str, value: StatisticValue) -> bytes:
    """Return a value as bytes, by the specification's single-value serialization."""
    match kind:
        case "date":
            return struct.pack("<i", date.fromisoformat(str(value)).toordinal() - date(1970, 1, 1).toordinal())
        case "integer":
            return struct.pack("<i", value)
        case "long":
            return struct.pack("<q", value)
        case _:
            return str(value).encode()


def _avro(schema: dict[str, object], rows: list[dict[str, object]], metadata: dict[str, str]) -> bytes:
    file = BytesIO()
    fastavro.writer(file, schema, rows, metadata=metadata, sync_marker=_SYNC_MARKER)
    return file.getvalue()
