"""What a request for an object asks for, as S3 reads it: which part, under which conditions, with which header fields.

Source: GetObject and HeadObject in the reference of the API of S3.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from aiohttp import web

from edge.bulk.s3_errors import S3Problem
from edge.http.byte_ranges import Slice
from edge.http.problems import Problem
from edge.http.stream import UNCHANGED, part_of

_PART_NUMBER, _VERSION = "partNumber", "versionId"
_OVERRIDES = {
    "response-cache-control": "Cache-Control",
    "response-content-disposition": "Content-Disposition",
    "response-content-encoding": "Content-Encoding",
    "response-content-language": "Content-Language",
    "response-content-type": "Content-Type",
    "response-expires": "Expires",
}
# Objects hold text of strangers. With a type of the caller's choice a browser must not run it as a page of ours.
_SANDBOX = {"Content-Security-Policy": "sandbox"}


def object_etag(sha256: str) -> str:
    """Return an object's ETag: hexadecimal as S3's, with `-1` as after an upload in parts.

    Without that ending, clients hold it against the MD5 of the bytes and discard a good download.
    """
    return f'"{sha256}-1"'


def names_of(request: web.Request) -> set[str]:
    """Return the names of a query without those of the signature, and of what SDKs put beside it, in any case."""
    return {name for name in request.query if not name.lower().startswith("x-amz-")} - {"x-id"}


def check_names(request: web.Request) -> None:
    """Raise a problem if the query asks for something else than the object, or for a version of it."""
    if names_of(request) - _OVERRIDES.keys() - {_PART_NUMBER, _VERSION}:
        raise Problem("not-implemented", "An object supports only GetObject and HeadObject.")
    if request.query.get(_VERSION, "null") != "null":
        raise S3Problem("NoSuchVersion", "The bucket has no versions. A release is a part of the object's key.")


def fields_of(request: web.Request) -> dict[str, str]:
    """Return the header fields that the answer must have by the parameters `response-…`. Raises a problem."""
    fields = {field: request.query[name] for name, field in _OVERRIDES.items() if name in request.query}
    for field, value in fields.items():
        if not (value.isascii() and value.isprintable()):
            raise S3Problem("InvalidArgument", f"The value for {field} must be printable ASCII.")
    return {**fields, **_SANDBOX} if fields else {}


def part_of_object(request: web.Request, etag: str, length: int, modified: datetime) -> Slice | None:
    """Return the part that is asked for, None for the whole, UNCHANGED for 304; raises the problems 412 and 416.

    Other than our own files, objects have a date that conditions may name, and a HEAD with a range describes the part.
    """
    requested = request.headers
    since, until = (_moment(requested.get(f"If-{kind}-Since")) for kind in ("Modified", "Unmodified"))
    written = modified.astimezone(UTC).replace(microsecond=0)
    if until is not None and "If-Match" not in requested and written > until:
        raise Problem("precondition-failed", "The object was modified after `If-Unmodified-Since`.")
    if since is not None and "If-None-Match" not in requested and written <= since:
        return UNCHANGED
    number = request.query.get(_PART_NUMBER)
    if number is None:
        return part_of(request, etag, length, head_has_parts=True)
    if "Range" in requested:
        raise S3Problem("InvalidRequest", "A request has a Range or a part number, not both.")
    if number != "1":
        raise S3Problem("InvalidPartNumber", "Each object has one part, number 1.")
    return part_of(request, etag, length) or Slice(0, length)


def _moment(field: str | None) -> datetime | None:
    """Return the moment of a date field; None where there is none, or no date: such a condition does not exist."""
    if field is None:
        return None
    try:
        moment = parsedate_to_datetime(field)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
