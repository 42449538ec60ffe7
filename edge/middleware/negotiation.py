"""Wishes at the door that decide whether there is an answer: `Accept` (RFC 9110, section 12), `Expect` (10.1.1)."""

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from edge.http.catalogue import CATALOGUE
from edge.http.prefer import best_format
from edge.http.problems import Problem
from edge.http.routing import CONTINUE, rule_of


@web.middleware
async def negotiation(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse an `Accept` that excludes all that the route gives; a problem document is sent whatever it says.

    Routes that offer nothing here decide for themselves: by a parameter, or by always answering.
    """
    if request.headers.get(hdrs.EXPECT, CONTINUE).lower() != CONTINUE:
        raise Problem("expectation-failed", CATALOGUE["expectation-failed"].remedy)
    asked = request.headers.get(hdrs.ACCEPT)
    offers = rule_of(request).offers
    if asked and asked != "*/*" and offers and best_format(asked, {kind: kind for kind in offers}) is None:
        raise Problem("not-acceptable", f"This call gives {', '.join(offers)}.", extra={"offered": list(offers)})
    return await handler(request)
