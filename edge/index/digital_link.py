"""GS1 Digital Links: from the address in a code to the article's record or list of links."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec
from aiohttp import hdrs, web
from marshmallow import EXCLUDE, INCLUDE, Schema, fields, validate

from edge.http.parameters import QUERY, QueryParameters
from edge.http.prefer import best_format
from edge.http.problems import Problem, problem_of
from edge.http.routing import Route, Rule, operation
from edge.index.digital_link_uri import PRIMARY_KEY, DigitalLink, read_path
from edge.index.identifiers import RequestedIdentifier
from edge.index.resolve import Resolver
from shared.errors import InvalidParameter, ItemIndexError


class DigitalLinkQuery(QueryParameters):
    """Query of a Digital Link: attributes of the article, or anything else, which a link may take over."""

    class Meta:
        """Marshmallow's option: names that this schema does not declare are accepted."""

        unknown = EXCLUDE

    linkType = fields.Str(  # noqa: N815 - GS1's name
        validate=validate.Length(1, 200),
        metadata={
            "description": "`linkset` (or `all`) for all links, or a type of GS1's vocabulary",
            "example": "gs1:sustainabilityInfo",
        },
    )


class LinkObject(Schema):
    """One link of an article."""

    href = fields.Url(required=True)
    title = fields.Str(required=True)
    type = fields.Str(required=True)
    fwqs = fields.Bool(required=True, metadata={"description": "Whether the query of the request is passed on"})


class LinkContext(Schema):
    """The links of one anchor; each further member is a link type with its links."""

    anchor = fields.Url(required=True)
    itemDescription = fields.Str(required=True)  # noqa: N815 - GS1's name

    class Meta:
        """The members that are named by link types."""

        unknown = INCLUDE


class DigitalLinkset(Schema):
    """The links of an article (RFC 9264)."""

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


VOCABULARY = "https://ref.gs1.org/voc/"
PREFIX = "gs1:"
CONTEXT = "https://ref.gs1.org/standards/resolver/linkset-context"
MEDIA_TYPE = "application/linkset+json"
DEFAULT = "defaultLink"
# The namespace had this address before; codes that were printed then still ask by it.
_NAMESPACES = (PREFIX, VOCABULARY, "https://gs1.org/voc/", "http://gs1.org/voc/", "https://www.gs1.org/voc/")
_LINKSET_TYPES = frozenset({"linkset", "all"})
_REDIRECT, _LINKSET, _JSON = "redirect", MEDIA_TYPE, "application/json"


@dataclass(frozen=True, slots=True)
class Link:
    """One link of an article.

    `type`: a term of GS1's vocabulary; `media_type`: of what is at `href`; `passes_query`: whether the query of
    the request is appended to `href`. The API refuses parameters that it does not know, so its own addresses take none.
    """

    type: str
    href: str
    title: str
    media_type: str
    passes_query: bool = False

    def shown(self) -> dict[str, Any]:
        """Return the link as a linkset shows it."""
        return {"href": self.href, "title": self.title, "type": self.media_type, "fwqs": self.passes_query}


def links_of(iid: str, name: str, base_url: str, origin: str) -> list[Link]:
    """Return the links of an item; the first one is the default."""
    record = f"{base_url}/index/lookup/{iid}"
    footprint = f"{base_url}/index/sustainability/{iid}"
    return [
        Link(DEFAULT, record, name, "application/json"),
        Link("pip", record, f"Record of {name}", "application/json"),
        Link("pip", f"{origin}/dashboard/explorer/{iid}", f"Page of {name}", "text/html", passes_query=True),
        Link("sustainabilityInfo", footprint, f"Footprint of {name}", "application/json"),
    ]


def linkset(anchor: str, description: str, links: Sequence[Link]) -> dict[str, Any]:
    """Return the linkset of one anchor."""
    by_type: dict[str, list[dict[str, Any]]] = {}
    for link in links:
        by_type.setdefault(VOCABULARY + link.type, []).append(link.shown())
    return {"linkset": [{"anchor": anchor, "itemDescription": description, **by_type}]}


def wants_linkset(link_type: str | None, accept: str | None) -> str | None:
    """Return the media type in which a request wants the linkset; None where it wants to be led to a link."""
    listed = {kind: kind for kind in (_LINKSET, _JSON)}
    if link_type in _LINKSET_TYPES:
        return best_format(accept, listed) or _LINKSET
    if link_type is not None:
        return None
    # A browser that takes HTML, and a program that takes anything, are led on.
    liked = best_format(accept, {_REDIRECT: "text/html", **listed})
    return None if liked == _REDIRECT else liked


def chosen(links: Sequence[Link], link_type: str | None, accept: str | None) -> Link | None:
    """Return the link that fits a request best, the first of equals; None where there is none of the type."""
    if link_type is None:
        return links[0]
    term = next((link_type.removeprefix(one) for one in _NAMESPACES if link_type.startswith(one)), None)
    typed = {link.media_type: link for link in reversed(links) if link.type == term}
    liked = best_format(accept, {kind: kind for kind in reversed(typed)}) if typed else None
    return typed.get(liked or "") or next(reversed(typed.values()), None)


CACHE_CONTROL = "public, max-age=60"
_METHODS = "GET, HEAD, OPTIONS"
_OWN_PARAMETERS = frozenset({"linkType", "context"})
# nginx takes 8 kB of head from the edge; escaped anew, a query of that size may be three times as long.
_LOCATION_MAX = 4_000
_DECODER = msgspec.json.Decoder()
_ENCODER = msgspec.json.Encoder()

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
            200: (DigitalLinkset, "The links of the article"),
            300: "`candidates` lists the items that have it.",
            307: "Location is the record, or the link of the requested type.",
        },
        produces=[MEDIA_TYPE, "application/json"],
    )
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Follow a GS1 Digital Link to the record of its article.

        Redirects to the record. `/22/…`, `/10/…`, `/21/…` may follow the GTIN. The query is passed on to links whose
        `fwqs` is true. A compressed address is answered like the address that it encodes, which `Link` names as
        `owl:sameAs`. With `linkType=linkset`, or if `Accept` prefers application/linkset+json or application/json, the
        answer is the article's links. Another `linkType`, such as `gs1:sustainabilityInfo`, redirects to the link of
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

    @_operation("describeResolver", answers={200: (ResolverDescription, "The resolver's description")})
    async def describe(self, request: web.Request) -> web.StreamResponse:
        """Describe the resolver of GS1 Digital Links.

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
