"""A trailing slash redirects to the path without it (308), so that both spellings of a path work."""

from aiohttp import web
from aiohttp.typedefs import Handler


@web.middleware
async def trailing_slash(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Redirect only where the path without the slash exists; the target is relative, so it cannot leave this host."""
    missing = isinstance(request.match_info.http_exception, web.HTTPNotFound)
    path = request.rel_url.raw_path
    if missing and path.endswith("/") and not path.startswith("//"):
        bare = request.rel_url.with_path(path.rstrip("/"), encoded=True, keep_query=True)
        match = await request.app.router.resolve(request.clone(rel_url=bare))
        if match.http_exception is None:
            raise web.HTTPPermanentRedirect(bare)
    return await handler(request)
