"""The routes of GS1 Digital Links, each with its rule."""

from edge.digital_link.handlers import DigitalLinks
from edge.http.routing import Route, Rule
from edge.index.resolve import Resolver

_RULE = Rule(
    name="digital-link",
    any_origin=True,
    problems=("invalid-identifier", "identifier-not-found", "link-type-not-found"),
)
# Whatever follows the GTIN comes to the same handler, which refuses what breaks the syntax.
_PATHS = ("/01/{gtin}", "/01/{gtin}/{rest:.*}")
# A compressed link is one segment; that of a GTIN alone has 10 characters. nginx.conf repeats these bounds.
_COMPRESSED = "/{compressed:[A-Za-z0-9_-]{10,1000}}{slash:/?}"


def routes(resolver: Resolver, base_url: str, origin: str) -> tuple[Route, ...]:
    """Return the routes of Digital Links for GTINs, and of the file that describes the resolver."""
    links = DigitalLinks(resolver, base_url, origin)
    described = Rule(name="resolver-description", any_origin=True)
    return (
        Route("GET", _PATHS[0], links.show, _RULE),
        *(Route("GET", path, links.show, _RULE, documented=False) for path in (_PATHS[1], _COMPRESSED)),
        *(Route("OPTIONS", path, links.options, _RULE, documented=False) for path in (*_PATHS, _COMPRESSED)),
        Route("GET", "/.well-known/gs1resolver", links.describe, described),
    )
