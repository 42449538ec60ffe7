"""The resolver of GS1 Digital Links: handlers and routes that redirect from the address in a code to an item."""

from datetime import date
from functools import partial
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode

import msgspec
from aiohttp import hdrs, web
from marshmallow import INCLUDE, Schema, ValidationError, fields, validate

from edge.http.parameters import OpenQueryParameters
from edge.http.problem_details import problem_of
from edge.http.problems import Problem
from edge.http.routing import Route, Rule, operation
from edge.http.validation import QUERY
from edge.index.digital_link_path import PRIMARY_KEY, DigitalLink, read_path
from edge.index.digital_link_targets import (
    CONTEXT,
    MEDIA_TYPE,
    PREFIX,
    VOCABULARY,
    ItemLink,
    choose_link,
    links_of,
    linkset,
    wants_linkset,
)
from edge.index.identifiers import RequestedIdentifier
from edge.index.resolve import Resolver
from edge.index.resolve_schemas import as_of_field
from shared.errors import InvalidParameter, ItemIndexError

T = TypeVar("T")

CACHE_CONTROL = "public, max-age=60"
_METHODS = "GET, HEAD, OPTIONS"
_OWN_PARAMETERS = frozenset({"linkType", "context", "as_of"})
# nginx takes 8 kB of head from the edge; escaped anew, a query of that size may be three times as long.
_LOCATION_MAX = 4_000
_DECODER = msgspec.json.Decoder()
_ENCODER = msgspec.json.Encoder()
AS_OF = as_of_field()
_RULE = Rule(
    name="digital-link",
    any_origin=True,
    problems=("invalid-identifier", "identifier-not-found", "link-type-not-found"),
)
# Whatever follows the GTIN comes to the same handler, which refuses what breaks the syntax.
_PATHS = ("/01/{gtin}", "/01/{gtin}/{rest:.*}")
# A compressed link is one segment; that of a GTIN alone has 10 characters. nginx.conf repeats these bounds.
_COMPRESSED = "/{compressed:[A-Za-z0-9_-]{10,1000}}{slash:/?}"


class DigitalLinkQuery(OpenQueryParameters):
    """Query of a Digital Link: attributes of the article, or anything else, which a link may take over."""

    linkType = fields.Str(  # noqa: N815 - GS1's name
        validate=validate.Length(1, 200),
        metadata={
            "description": "`linkset` (or `all`) for all links, or a type of GS1's vocabulary",
            "example": "gs1:sustainabilityInfo",
        },
    )
    as_of = AS_OF


class LinkContext(Schema):
    """The links of one anchor; each further member is a link type with its links."""

    anchor = fields.Url(required=True)
    itemDescription = fields.Str(required=True)  # noqa: N815 - GS1's name

    class Meta:
        """The members that are named by link types."""

        unknown = INCLUDE


class DigitalLinkset(Schema):
    """The links of an item (RFC 9264)."""

    linkset = fields.List(fields.Nested(LinkContext()), required=True)


class LinkNamespace(Schema):
    """A vocabulary of link types."""

    namespace = fields.Url(required=True)
    prefix = fields.Str(required=True)


class ResolverDescription(Schema):
    """The description file of a GS1-conformant resolver."""

    name = fields.Str(required=True)
    resolverRoot = fields.Url(required=True)  # noqa: N815 - GS1's names
    supportedPrimaryKeys = fields.List(fields.Str(), required=True)  # noqa: N815
    supportedLinkType = fields.List(fields.Nested(LinkNamespace()), required=True)  # noqa: N815
    linkTypeDefaultCanBeLinkset = fields.Bool(required=True)  # noqa: N815
    jsonLdContextLocation = fields.Url(required=True)  # noqa: N815


_operation = partial(operation, "index")


class DigitalLinks:
    """The handlers. They need no credential, because a scanner has none."""

    def __init__(self, resolver: Resolver, base_url: str, origin: str) -> None:
        self._resolver = resolver
        self._base_url = base_url
        self._origin = origin

    @_operation(
        "followDigitalLink",
        DigitalLinkQuery,
        answers={
            200: (DigitalLinkset, "The item's links"),
            300: "`candidates` lists the items with this identifier.",
            307: "Location is the record, or the link of the requested type.",
        },
        produces=[MEDIA_TYPE, "application/json"],
    )
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Follow a GS1 Digital Link to the item's record.

        Redirects to the record. `/22/…`, `/10/…`, `/21/…` may follow the GTIN. The query is passed on to links whose
        `fwqs` is true. A compressed link is treated like the link that it encodes, which `Link` states as
        `owl:sameAs`. With `linkType=linkset`, or if `Accept` prefers application/linkset+json or application/json, the
        response is the item's links. Another `linkType`, such as `gs1:sustainabilityInfo`, redirects to the link of
        that type.
        """
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
        as_of = _day(request, digital_link)
        iid, record = await self._resolver.find(RequestedIdentifier("gtin", digital_link.gtin, as_of=as_of))
        name = str(_DECODER.decode(record.body)["name"])
        links = links_of(iid, name, self._base_url, self._origin)
        media_type = wants_linkset(link_type, accept)
        if media_type is not None:
            return self._linkset(digital_link, name, links, media_type)
        link = choose_link(links, link_type, accept)
        if link is None:
            raise Problem(
                "link-type-not-found", "The item has no link of this type; `linkType=linkset` lists its links."
            )
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

    @_operation("describeResolver", answers={200: (ResolverDescription, "The resolver's description")})
    async def describe(self, request: web.Request) -> web.StreamResponse:
        """Describe the GS1 Digital Link resolver.

        The description file of the GS1-Conformant Resolver Standard.
        """
        description = {
            "name": "Item Index",
            "resolverRoot": self._origin,
            "supportedPrimaryKeys": [PRIMARY_KEY],
            "supportedLinkType": [{"namespace": VOCABULARY, "prefix": PREFIX}],
            "linkTypeDefaultCanBeLinkset": False,
            "jsonLdContextLocation": CONTEXT,
        }
        return web.json_response(description, headers={"Cache-Control": CACHE_CONTROL})

    def _linkset(self, digital_link: DigitalLink, name: str, links: list[ItemLink], media_type: str) -> web.Response:
        context = f'<{CONTEXT}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"'
        fields = {"Cache-Control": CACHE_CONTROL, "Vary": "Accept", "Link": f"{self._links(digital_link)}, {context}"}
        body = _ENCODER.encode(linkset(self._origin + digital_link.primary_path, name, links))
        return web.Response(body=body, content_type=media_type, headers=fields)

    def _redirect(self, digital_link: DigitalLink, link: ItemLink, query: str) -> Problem:
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
        return f'<{self._origin}{digital_link.uncompressed_path}>; rel="owl:sameAs"'


def _digital_link_of(request: web.Request) -> DigitalLink:
    digital_link = read_path(request.rel_url.raw_path)
    if digital_link is None:
        raise web.HTTPNotFound
    return digital_link


def _link_type(request: web.Request, digital_link: DigitalLink) -> str | None:
    """Return the link type of the query, or of what a compressed address holds of its query."""
    asked: str | None = request[QUERY].get("linkType")
    return _only("linkType", [*_compressed_values(digital_link, "linkType"), *([] if asked is None else [asked])])


def _day(request: web.Request, digital_link: DigitalLink) -> str:
    """Return the day for which the number is asked, likewise; empty without one."""
    asked: date | None = request[QUERY].get("as_of")
    try:
        days = [AS_OF.deserialize(value) for value in _compressed_values(digital_link, "as_of")]
    except ValidationError as error:
        raise InvalidParameter("as_of", str(error.messages[0])) from None
    day = _only("as_of", [*days, *([] if asked is None else [asked])])
    return "" if day is None else day.isoformat()


def _compressed_values(digital_link: DigitalLink, name: str) -> list[str]:
    return [value for given, value in digital_link.query if given == name]


def _only(name: str, given: list[T]) -> T | None:
    if len(given) > 1:
        raise InvalidParameter(name, "is repeated; send it once")
    return given[0] if given else None


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
