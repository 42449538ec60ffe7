"""The keys of a result's objects, and its manifest. Pure.

A result is written under its job's attempt, so two attempts never write to one place; only the manifest that a fenced
UPDATE put into the job's row makes it a result.
"""

from typing import Any

import msgspec

TAIL = b',"meta":'
MEDIA_TYPES: dict[str, str] = {
    "json": "application/json",
    "csv": "text/csv",
    "ndjson": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
"""The formats of an answer, each the suffix of its file too."""


class ResultManifest(msgspec.Struct, frozen=True, kw_only=True):
    """A published result: the key of its object and a description of its bytes.

    `tail_bytes` of a JSON answer are its end, from the meta on; the edge writes that anew where `cached` and
    `cost_units` differ for a caller. Everything before it is the same for every caller. `meta` is kept as JSON text:
    PostgreSQL would give its members another order, and the end other bytes. `paged` answers are a page of a list;
    the next one begins after the position `after`, and there is none where that is None.
    """

    key: str
    format: str
    media_type: str
    rows: int
    bytes: int
    sha256: str
    result_sha256: str
    data_version: int
    meta: str
    tail_bytes: int = 0
    paged: bool = False
    after: list[Any] | None = None

    @property
    def filename(self) -> str:
        """The name under which a browser keeps it."""
        return self.key.rsplit("/", 1)[-1]


def key_of(job_id: str, attempt: int, kind: str, format: str) -> str:
    """Return where an attempt writes its result."""
    return f"{job_id}/{attempt}/{kind}.{format}"


def tail(meta: dict[str, Any]) -> bytes:
    """Return the end of a JSON answer: its meta and the closing brace."""
    return TAIL + msgspec.json.encode(meta) + b"}"


def manifest_from(document: Any) -> ResultManifest:
    """Read a manifest from a job's row. Raises msgspec.ValidationError where it is none."""
    return msgspec.convert(document, ResultManifest)
