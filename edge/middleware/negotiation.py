"""Headers that decide before the handler whether a response is possible: `Accept` and `Expect` (RFC 9110)."""

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from edge.http.catalogue import CATALOGUE
from edge.http.prefer import best_format
from edge.http.problems import Problem
from edge.http.routing import CONTINUE, rule_of


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
        raise Problem("not-acceptable", f"This call gives {', '.join(offers)}.", extra={"offered": list(offers)})
    return await handler(request)
