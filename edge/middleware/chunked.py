"""A bound on chunked framing: extensions and trailers must stay in proportion to the body."""

import re

from aiohttp import web
from aiohttp.typedefs import Handler

from edge.http.problems import Problem

# nginx.conf sends it with a chunked request only: bytes of the whole request, then bytes of its headers.
LENGTHS_FIELD = "X-Chunked-Length"
_LENGTHS = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
# A chunk of one byte is six bytes on the wire: no client needs more for each byte of its body.
_WIRE_BYTES_PER_BYTE_MAX = 6
# The last chunk, a few trailers, and short extensions such as signatures of large chunks.
_FRAMING_BYTES_FREE = 4096


@web.middleware
async def chunked_framing(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse a chunked request with 413 when its framing outweighs its body."""
    lengths = _LENGTHS.fullmatch(request.headers.get(LENGTHS_FIELD, ""))
    if lengths is not None:
        on_the_wire = int(lengths[1]) - int(lengths[2])
        if framing_is_excessive(on_the_wire, request.content_length or 0):
            raise Problem("content-too-large", "The chunk extensions or trailers are out of proportion to the body.")
    return await handler(request)


def framing_is_excessive(wire_bytes: int, body_bytes: int) -> bool:
    """Return whether a chunked body of `body_bytes` took more bytes on the wire than any ordinary client sends."""
    return wire_bytes > _WIRE_BYTES_PER_BYTE_MAX * body_bytes + _FRAMING_BYTES_FREE
