"""Browsers of any origin may use the free endpoints (Fetch standard, CORS protocol); a pre-flight is never counted."""

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from edge.http.routing import RULE

_ALLOWED_FIELDS = "Authorization, If-None-Match, X-Request-Id, X-Service-Public-Token"
_MAX_AGE_SECONDS = "86400"


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
