"""Compression of answers with gzip."""

from aiohttp import hdrs, web
from isal import igzip

CODING = "gzip"
COMPRESSED_FROM_BYTES = 2_048
"""The same as nginx.conf's gzip_min_length: below it, compression does not pay."""
_LEVEL = 2


def accepts_gzip(request: web.BaseRequest) -> bool:
    """Return whether our nginx says that the caller reads gzip; it passes on nothing else that a caller sent."""
    return request.headers.get(hdrs.ACCEPT_ENCODING) == CODING


def compress(response: web.Response) -> bool:
    """Compress the body of a large JSON answer in place, and weaken its ETag, as nginx would.

    Return whether it was: one with a digest of its bytes, or compressed already, stays as it is.
    """
    body = response.body
    if not isinstance(body, bytes) or len(body) < COMPRESSED_FROM_BYTES:
        return False
    fields = response.headers
    if response.content_type != "application/json" or "Repr-Digest" in fields or hdrs.CONTENT_ENCODING in fields:
        return False
    response.body = igzip.compress(body, _LEVEL, mtime=0)
    response.headers[hdrs.CONTENT_ENCODING] = CODING
    set_validators(response)
    return True


def set_validators(response: web.StreamResponse) -> None:
    """Give a response, also the 304 of a compressed one, the fields that depend on the coding."""
    etag = response.headers.get("ETag", "")
    if etag and not etag.startswith("W/"):
        response.headers["ETag"] = f"W/{etag}"
    response.headers.add(hdrs.VARY, "Accept-Encoding")
