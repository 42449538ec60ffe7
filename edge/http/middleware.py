"""The small middlewares: dot segments, chunked framing, origins, trailing slashes, `Accept` and `Expect`."""

import re
from urllib.parse import unquote

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from edge.http.catalogue import CATALOGUE
from edge.http.prefer import best_format
from edge.http.problems import Problem
from edge.http.routing import CONTINUE, RULE, rule_of

# nginx.conf sends it with a chunked request only: bytes of the whole request, then bytes of its headers.
LENGTHS_FIELD = "X-Chunked-Length"
_LENGTHS = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
# A chunk of one byte is six bytes on the wire: no client needs more for each byte of its body.
_WIRE_BYTES_PER_BYTE_MAX = 6
# The last chunk, a few trailers, and short extensions such as signatures of large chunks.
_FRAMING_BYTES_FREE = 4096


_ALLOWED_FIELDS = "Authorization, If-None-Match, X-Request-Id, X-Service-Public-Token"
_MAX_AGE_SECONDS = "86400"


@web.middleware
async def dot_segments(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse a path with `.` or `..` as a segment.

    nginx resolves them before it chooses what a request may do, and forwards them as they came.
    """
    path = request.raw_path.partition("?")[0]
    if ("." in path or "%" in path) and not {".", ".."}.isdisjoint(unquote(path).split("/")):
        raise Problem("not-found", "No path has `.` or `..` as a segment.")
    return await handler(request)


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


@web.middleware
async def preflight(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Respond to OPTIONS of an existing path with its methods, and for free endpoints with the allowed origin."""
    if request.method != hdrs.METH_OPTIONS or request.match_info.http_exception is None:
        return await handler(request)
    error = request.match_info.http_exception
    if not isinstance(error, web.HTTPMethodNotAllowed):
        return await handler(request)
    methods = ", ".join(sorted(error.allowed_methods | {hdrs.METH_OPTIONS}))
    fields = {"Allow": methods}
    if await _any_origin(request):
        fields |= {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": methods,
            "Access-Control-Allow-Headers": _ALLOWED_FIELDS,
            "Access-Control-Max-Age": _MAX_AGE_SECONDS,
        }
    return web.Response(status=204, headers=fields)


async def _any_origin(request: web.Request) -> bool:
    """Return the `any_origin` of the path's GET rule; OPTIONS has no rule of its own."""
    match = await request.app.router.resolve(request.clone(method=hdrs.METH_GET))
    rule = request.app[RULE].get(match.handler)
    return rule is not None and rule.any_origin


@web.middleware
async def trailing_slash(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Redirect only where the path without the slash exists; the target is relative, so it cannot leave this host."""
    missing = isinstance(request.match_info.http_exception, web.HTTPNotFound)
    path = request.rel_url.raw_path
    if missing and path.endswith("/") and not path.startswith("//"):
        bare = request.rel_url.with_path(path.rstrip("/"), encoded=True, keep_query=True)
        match = await request.app.router.resolve(request.clone(rel_url=bare))
        # Also for a method that it does not allow: what is refused there is another answer than that nothing is there.
        if not isinstance(match.http_exception, web.HTTPNotFound):
            raise web.HTTPPermanentRedirect(bare)
    return await handler(request)


@web.middleware
async def negotiation(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse an `Accept` that excludes every media type of the route. Problem documents are sent regardless of it.

    Routes that offer nothing here decide for themselves: by a parameter, or by always answering.
    """
    if request.headers.get(hdrs.EXPECT, CONTINUE).lower() != CONTINUE:
        raise Problem("expectation-failed", CATALOGUE["expectation-failed"].remedy)
    requested = request.headers.get(hdrs.ACCEPT)
    offers = rule_of(request).offers
    if requested and requested != "*/*" and offers and best_format(requested, {kind: kind for kind in offers}) is None:
        raise Problem("not-acceptable", f"This call returns {', '.join(offers)}.", extra={"offered": list(offers)})
    return await handler(request)
