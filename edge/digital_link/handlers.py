"""GET /01/{gtin}… or its compressed form: from the address in a code to the article's record or list of links."""

from urllib.parse import parse_qsl, urlencode

import msgspec
from aiohttp import hdrs, web
from aiohttp_apispec import docs, querystring_schema, response_schema

from edge.digital_link import schemas
from edge.digital_link.address import PRIMARY_KEY, DigitalLink, read_path
from edge.digital_link.linkset import (
    CONTEXT,
    MEDIA_TYPE,
    PREFIX,
    VOCABULARY,
    Link,
    chosen,
    links_of,
    linkset,
    wants_linkset,
)
from edge.http.parameters import QUERY
from edge.http.problems import Problem, problem_of
from edge.index.identifiers import RequestedIdentifier
from edge.index.resolve import Resolver
from shared.errors import InvalidParameter, ItemIndexError

CACHE_CONTROL = "public, max-age=60"
_METHODS = "GET, HEAD, OPTIONS"
_OWN_PARAMETERS = frozenset({"linkType", "context"})
# nginx takes 8 kB of head from the edge; escaped anew, a query of that size may be three times as long.
_LOCATION_MAX = 4_000
_DECODER = msgspec.json.Decoder()
_ENCODER = msgspec.json.Encoder()


class DigitalLinks:
    """The handlers. They need no credential, because a scanner has none."""

    def __init__(self, resolver: Resolver, base_url: str, origin: str) -> None:
        self._resolver = resolver
        self._base_url = base_url
        self._origin = origin

    @docs(
        operationId="followDigitalLink",
        summary="Follow a GS1 Digital Link to the record of its article",
        description="Redirects to the record. `/22/…`, `/10/…`, `/21/…` may follow the GTIN. The query is passed on "
        "to links whose `fwqs` is true. A compressed address is answered like the address that it encodes, which "
        "`Link` names as `owl:sameAs`. With `linkType=linkset`, or if `Accept` prefers application/linkset+json or "
        "application/json, the answer is the article's links. Another `linkType`, such as `gs1:sustainabilityInfo`, "
        "redirects to the link of that type.",
        tags=["index"],
        produces=[MEDIA_TYPE, "application/json"],
        responses={
            "300": {"description": "`candidates` lists the items that have it."},
            "307": {"description": "Location is the record, or the link of the requested type."},
        },
    )
    @querystring_schema(schemas.DigitalLinkQuery())
    @response_schema(schemas.DigitalLinkset(), 200, description="The links of the article")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Lead to a link of the article, or answer with all of them."""
        digital_link = _digital_link_of(request)
        try:
            return await self._answer(request, digital_link)
        except (ItemIndexError, Problem) as error:
            problem = problem_of(error)
            if problem is None or not digital_link.was_compressed:
                raise
            problem.fields.setdefault("Link", self._same_as(digital_link))
            raise problem from None

    async def _answer(self, request: web.Request, digital_link: DigitalLink) -> web.StreamResponse:
        link_type = _link_type(request, digital_link)
        accept = request.headers.get(hdrs.ACCEPT)
        iid, record = await self._resolver.find(RequestedIdentifier("gtin", digital_link.gtin))
        name = str(_DECODER.decode(record.body)["name"])
        links = links_of(iid, name, self._base_url, self._origin)
        media_type = wants_linkset(link_type, accept)
        if media_type is not None:
            return self._linkset(digital_link, name, links, media_type)
        link = chosen(links, link_type, accept)
        if link is None:
            raise Problem("link-type-not-found", "The article has no link of this type; `linkType=linkset` lists them.")
        raise self._redirect(digital_link, link, request.rel_url.raw_query_string)

    async def options(self, request: web.Request) -> web.StreamResponse:
        """Say how a Digital Link may be asked, and where its links are listed."""
        fields = {
            "Allow": _METHODS,
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": "Accept",
            "Access-Control-Max-Age": "86400",
        }
        return web.Response(status=204, headers={**fields, "Link": self._links(_digital_link_of(request))})

    @docs(
        operationId="describeResolver",
        summary="Describe the resolver of GS1 Digital Links",
        description="The description file of the GS1-Conformant Resolver Standard.",
        tags=["index"],
    )
    @response_schema(schemas.ResolverDescription(), 200, description="The resolver's description")
    async def describe(self, request: web.Request) -> web.StreamResponse:
        """Answer with the description file."""
        description = {
            "name": "Item Index",
            "resolverRoot": self._origin,
            "supportedPrimaryKeys": [PRIMARY_KEY],
            "supportedLinkType": [{"namespace": VOCABULARY, "prefix": PREFIX}],
            "linkTypeDefaultCanBeLinkset": False,
            "jsonLdContextLocation": CONTEXT,
        }
        return web.json_response(description, headers={"Cache-Control": CACHE_CONTROL})

    def _linkset(self, digital_link: DigitalLink, name: str, links: list[Link], media_type: str) -> web.Response:
        context = f'<{CONTEXT}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"'
        fields = {"Cache-Control": CACHE_CONTROL, "Vary": "Accept", "Link": f"{self._links(digital_link)}, {context}"}
        body = _ENCODER.encode(linkset(self._origin + digital_link.primary_path, name, links))
        return web.Response(body=body, content_type=media_type, headers=fields)

    def _redirect(self, digital_link: DigitalLink, link: Link, query: str) -> Problem:
        kept = [
            pair
            for pair in (*digital_link.query, *parse_qsl(query, keep_blank_values=True))
            if pair[0] not in _OWN_PARAMETERS
        ]
        location = f"{link.href}?{urlencode(kept)}" if kept and link.passes_query else link.href
        if len(location) > _LOCATION_MAX:
            return Problem("uri-too-long", f"With this query the address of the link is longer than {_LOCATION_MAX:,}.")
        fields = {
            "Location": location,
            "Link": self._links(digital_link),
            "Vary": "Accept",
            "Cache-Control": CACHE_CONTROL,
        }
        return Problem("temporary-redirect", f"{link.title}: follow `Location`.", fields=fields)

    def _links(self, digital_link: DigitalLink) -> str:
        """Return the head's links: where the linkset is, and the address for which a compressed one stands."""
        address = f"{self._origin}{digital_link.path}?linkType=linkset"
        listed = f'<{address}>; rel="linkset"; type="{MEDIA_TYPE}"'
        return f"{listed}, {self._same_as(digital_link)}" if digital_link.was_compressed else listed

    def _same_as(self, digital_link: DigitalLink) -> str:
        return f'<{self._origin}{digital_link.uncompressed}>; rel="owl:sameAs"'


def _digital_link_of(request: web.Request) -> DigitalLink:
    digital_link = read_path(request.rel_url.raw_path)
    if digital_link is None:
        raise web.HTTPNotFound
    return digital_link


def _link_type(request: web.Request, digital_link: DigitalLink) -> str | None:
    """Return the link type of the query, or of what a compressed address holds of its query."""
    given = [value for name, value in digital_link.query if name == "linkType"]
    if request[QUERY].get("linkType") is not None:
        given.append(request[QUERY]["linkType"])
    if len(given) > 1:
        raise InvalidParameter("linkType", "comes more than once; send it once")
    return given[0] if given else None
