"""Content negotiation at the door (RFC 9110, section 12): who takes no JSON is told so before anything is charged."""

from aiohttp import web
from aiohttp.typedefs import Handler

from edge.http.prefer import best_format
from edge.http.problems import Problem
from edge.http.routing import rule_of


@web.middleware
async def negotiation(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse an `Accept` that excludes all that the route gives; a problem document is sent whatever it says.

    Routes that offer nothing here decide for themselves: by a parameter, or by always answering.
    """
    asked = request.headers.get("Accept")
    offers = rule_of(request).offers
    if asked and asked != "*/*" and offers and best_format(asked, {kind: kind for kind in offers}) is None:
        raise Problem("not-acceptable", f"This call gives {', '.join(offers)}.", extra={"offered": list(offers)})
    return await handler(request)
