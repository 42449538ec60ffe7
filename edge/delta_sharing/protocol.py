"""Delta Sharing's lines and documents, in the response format `parquet`. Pure.

The protocol: delta-io/delta-sharing, PROTOCOL.md. A table is a dataset, a version a release's data_version, and a file
action one file of its manifest.
"""

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from shared.datasets.schema import DATASETS, ReleaseFile

if TYPE_CHECKING:
    from edge.releases.repository import Release

SHARE, SCHEMA = "item-index", "releases"
NDJSON = "application/x-ndjson"
VERSION_FIELD = "Delta-Table-Version"
_READER_VERSION = 1
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:item-index:delta-sharing")
_ARRAY = "array<string>"


def share() -> dict[str, Any]:
    """Return the one share."""
    return {"name": SHARE, "id": str(uuid.uuid5(_NAMESPACE, SHARE))}


def table(name: str) -> dict[str, Any]:
    """Return a table as lists show it."""
    return {"name": name, "schema": SCHEMA, "share": SHARE, "shareId": share()["id"], "id": _id(name)}


def lines(documents: Iterable[Mapping[str, Any]]) -> bytes:
    """Write documents as lines."""
    return b"".join(msgspec.json.encode(document) + b"\n" for document in documents)


def head(release: "Release", files: int) -> list[dict[str, Any]]:
    """Return the first two lines of each answer: the protocol, and the description of the table."""
    return [
        {"protocol": {"minReaderVersion": _READER_VERSION}},
        {
            "metaData": {
                "id": _id(release.dataset),
                "name": release.dataset,
                "description": DATASETS[release.dataset].title,
                "format": {"provider": "parquet"},
                "schemaString": schema_string(release.columns),
                "partitionColumns": [],
                "configuration": {"enableChangeDataFeed": "true"},
                "version": release.data_version,
                "size": release.bytes,
                "numFiles": files,
            }
        },
    ]


def file_line(file: ReleaseFile, url: str, expires: int, version: int, moment: datetime) -> dict[str, Any]:
    """Return the line of one file of a version."""
    return {"file": {**_action(file, url, expires), "version": version, "timestamp": _milliseconds(moment)}}


def change_line(kind: str, file: ReleaseFile, url: str, expires: int, version: int, moment: datetime) -> dict[str, Any]:
    """Return the line of a file that a version added or removed, as `kind` says."""
    return {kind: {**_action(file, url, expires), "version": version, "timestamp": _milliseconds(moment)}}


def schema_string(columns: list[dict[str, Any]]) -> str:
    """Return a schema as the protocol writes it: JSON in a string."""
    fields = [
        {
            "name": column["name"],
            "type": _type(column["type"]),
            "nullable": column["nullable"],
            "metadata": {"comment": column["description"]},
        }
        for column in columns
    ]
    return msgspec.json.encode({"type": "struct", "fields": fields}).decode()


def enough(files: list[ReleaseFile], limit: int | None) -> list[ReleaseFile]:
    """Return the first files that have so many rows; all of them without a limit."""
    if limit is None:
        return files
    chosen, rows = [], 0
    for file in files:
        if rows >= limit:
            break
        chosen.append(file)
        rows += file.rows
    return chosen


def _action(file: ReleaseFile, url: str, expires: int) -> dict[str, Any]:
    return {
        "url": url,
        "id": file.sha256,
        "partitionValues": {},
        "size": file.bytes,
        "stats": msgspec.json.encode(file.statistics).decode(),
        "expirationTimestamp": expires * 1000,
    }


def _type(text: str) -> Any:
    return {"type": "array", "elementType": "string", "containsNull": False} if text == _ARRAY else text


def _id(name: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, name))


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
