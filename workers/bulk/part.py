"""One part of an export, as its worker has claimed it. Pure."""

from typing import NamedTuple

from shared.bulk.request import Request
from shared.objects.directory import ObjectReader

RELEASE = "release"
"""Stands in a part's row instead of a snapshot's name: the part's range is then one of places in the release."""

CHANGED = "changes"
"""Stands there where a part's rows are changes: from the release at which its range begins to the one at its end."""


class ExportPart(NamedTuple):
    """The content of a part: a range of a snapshot's items or of a release's files, as the export's request narrows it.

    It is a job of its own, under whose id and attempt its file is stored.
    """

    job_id: str
    attempt: int
    data_version: int
    request: Request
    number: int
    content: str
    snapshot: str
    id_from: int
    id_to: int


class StoredCopy(NamedTuple):
    """A stored file that already is what the part must hold, byte for byte; keys are its least and greatest."""

    key: str
    sha256: str
    bytes: int
    rows: int
    min_key: str
    max_key: str
    reader: ObjectReader
