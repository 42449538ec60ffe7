"""GS1 Digital Links, plain and compressed: from the address in a code to the record or list of links of an article."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

import msgspec
from aiohttp import hdrs, web
from marshmallow import EXCLUDE, INCLUDE, Schema, fields, validate

from edge.http.parameters import QUERY, QueryParameters
from edge.http.prefer import best_format
from edge.http.problems import Problem, problem_of
from edge.http.routing import Route, Rule, operation
from edge.index.identifiers import RequestedIdentifier
from edge.index.resolve import Resolver
from shared.errors import InvalidIdentifier, InvalidParameter, ItemIndexError, WrongIdentifier
from shared.gtin import gtin14

# How a compressed Digital Link writes the value of each application identifier (Digital Link Standard: Compression).
# A value is a sequence of parts: `N6` six digits, `N..15` up to fifteen, `X2` two characters, `X..20` up to twenty.


# The standard's table F. `n` is the digit that says where the decimal point is, 0 to 5.
_VALUES = """
N1    4321 4322 4323
N2    20
N3    422 424 426
N4    3940 3941 3942 3943 8111
N6    11 12 13 15 16 17 4326 7006 8005
N6    310n 311n 312n 313n 314n 315n 316n 320n 321n 322n 323n 324n 325n 326n 327n 328n 329n
N6    330n 331n 332n 333n 334n 335n 336n 337n 340n 341n 342n 343n 344n 345n 346n 347n 348n 349n
N6    350n 351n 352n 353n 354n 355n 356n 357n 360n 361n 362n 363n 364n 365n 366n 367n 368n 369n
N6    3950 3951 3952 3953 3954 3955 3956 3957 3958 3959
N10   4324 4325 7003
N13   410 411 412 413 414 415 416 417 7001
N14   01 02 8001
N17   402
N18   00 8006 8017 8018 8026
N20   4309
N..4  7004
N..6  242
N..8  30 37
N..10 8019
N..12 8011
N..15 3900 3901 3902 3903 3904 3905 3906 3907 3908 3909 3920 3921 3922 3923 3924 3925 3926 3927 3928 3929
X2    4307 4317
X..2  7010
X..3  427 7008
X..10 7009
X..12 7005
X..20 10 21 22 243 254 420 4318 7020 7021 7022 710 711 712 713 714 7240 8002 8012
X..24 8007
X..25 8020
X..28 235
X..30 240 241 250 251 400 401 403 4308 4319 7002 7023 8004 8010 8013 90
X..30 7230 7231 7232 7233 7234 7235 7236 7237 7238 7239
X..35 4300 4301 4310 4311 4320
X..50 8009
X..70 4302 4303 4304 4305 4306 4312 4313 4314 4315 4316 8110 8112 8200
X..90 91 92 93 94 95 96 97 98 99
N1+X3     7040
N3+N..12  423 425
N3+N..15  3910 3911 3912 3913 3914 3915 3916 3917 3918 3919 3930 3931 3932 3933 3934 3935 3936 3937 3938 3939
N3+X..9   421
N3+X..27  7030 7031 7032 7033 7034 7035 7036 7037 7038 7039
N6+N..6   7007
N8+N..4   8008
N13+N..12 255
N13+X..17 253
N14+X..16 8003
"""
# The standard's table of sequences that one code of two hexadecimal digits abbreviates.
SEQUENCES = {
    **{f"0{code}": ("01", key) for code, key in zip("ABCDEF", ("22", "10", "21", "17", "7003", "30"), strict=True)},
    "1A": ("01", "10", "21", "17"),
    **{f"1{code}": ("01", key) for code, key in zip("BCDE", ("15", "11", "16", "91"), strict=True)},
    "1F": ("01", "10", "15"),
    **{f"2{code}": ("01", f"310{digit}") for digit, code in enumerate("ABCDEF")},
    **{f"3{code}": ("01", f"320{digit}") for digit, code in enumerate("ABCDEF")},
    "9A": ("8010", "8011"),
    "9B": ("8017", "8019"),
    "9C": ("8018", "8019"),
    "9D": ("414", "254"),
    **{f"A{digit}": ("01", f"392{digit}") for digit in range(10)},
    **{f"C{digit}": ("255", f"390{digit}") for digit in range(10)},
    **{f"C{code}": ("255", f"394{digit}") for digit, code in enumerate("ABCD")},
}
_PART = re.compile(r"([NX])(\.\.)?([0-9]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a value: digits only or characters, exactly or at most `length` of them."""

    digits: bool
    length: int
    exact: bool


def _parts(text: str) -> tuple[Part, ...]:
    return tuple(Part(kind == "N", int(length), not dots) for kind, dots, length in _PART.findall(text))


def _keys(pattern: str) -> list[str]:
    return [pattern.replace("n", digit) for digit in "012345"] if "n" in pattern else [pattern]


FORMATS = {
    key: _parts(line.split()[0])
    for line in _VALUES.strip().splitlines()
    for pattern in line.split()[1:]
    for key in _keys(pattern)
}
# The first two digits of an identifier say how many digits it has.
KEY_LENGTHS = {key[:2]: len(key) for key in FORMATS}


# Compressed GS1 Digital Links: one segment of a path holds identifiers and values as bits. Pure. Digital Link
# Standard: Compression. Each character stands for six bits. They are a sequence of codes of eight or more bits, each
# with its value or values; zeros fill the last character.


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_BITS = {character: f"{index:06b}" for index, character in enumerate(_ALPHABET)}
_SEGMENT = re.compile(r"[A-Za-z0-9_-]{1,1000}", re.ASCII)
# After the flag for a parameter that is none of GS1's: the bits that say how long its name and its value are.
_PARAMETER_FLAG = "F"
_LENGTH_BITS = 7
# Encoding of characters by its three bits: how many bits each character has, and what they stand for.
_DIGITS = 0
_CHARACTERS = {1: (4, "0123456789abcdef"), 2: (4, "0123456789ABCDEF"), 3: (6, _ALPHABET), 4: (7, None)}
# Fewer bits than any code and its value have: the rest of the last character, or of the last byte for some encoders.
_FILLING_MAX = 8


class _Bits:
    """The bits of a segment, read from left to right."""

    def __init__(self, segment: str) -> None:
        self._bits = "".join(_BITS[character] for character in segment)
        self._at = 0

    def are_filling(self) -> bool:
        """Return whether only zeros are left, too few for a code with a value."""
        left = self._bits[self._at :]
        return len(left) <= _FILLING_MAX and "1" not in left

    def number(self, count: int) -> int:
        """Read an unsigned number of so many bits. Raises InvalidIdentifier where fewer are left."""
        read = self._bits[self._at : self._at + count]
        if len(read) < count:
            raise InvalidIdentifier("ends within a value")
        self._at += count
        return int(read, 2) if read else 0

    def hexadecimal(self, count: int) -> str:
        """Read so many hexadecimal digits, in upper case."""
        return f"{self.number(4 * count):0{count}X}"

    def digits(self, count: int) -> str:
        """Read a decimal number of so many digits, with its leading zeros."""
        text = str(self.number(math.ceil(count * math.log2(10) + 0.01))).zfill(count)
        if len(text) > max(count, 1):
            raise InvalidIdentifier("has a number with more digits than it says")
        return text if count else ""

    def characters(self, encoding: int, count: int) -> str:
        """Read so many characters of one of the standard's encodings. Raises InvalidIdentifier for any other."""
        if encoding == _DIGITS:
            return self.digits(count)
        if encoding not in _CHARACTERS:
            raise InvalidIdentifier("has a value of an unknown encoding")
        width, alphabet = _CHARACTERS[encoding]
        codes = [self.number(width) for _ in range(count)]
        text = "".join(alphabet[code] if alphabet else chr(code) for code in codes)
        if not (text.isprintable() and text.isascii()):
            raise InvalidIdentifier("has a value with characters that cannot be shown")
        return text


def first_key(segment: str) -> str | None:
    """Return the application identifier with which a text begins if it is a compressed link; None where it is none."""
    if len(segment) < 2 or not _SEGMENT.fullmatch(segment):
        return None
    code = _Bits(segment).hexadecimal(2)
    return SEQUENCES[code][0] if code in SEQUENCES else code


def decompressed(segment: str) -> dict[str, str]:
    """Return the value of each application identifier and each other parameter of a segment, in its order.

    Raises InvalidIdentifier, which says why, where the text does not hold such a sequence.
    """
    if not _SEGMENT.fullmatch(segment):
        raise InvalidIdentifier("is not a compressed Digital Link")
    bits = _Bits(segment)
    identifiers: dict[str, str] = {}
    while not bits.are_filling():
        for key, value in _coded(bits):
            if key in identifiers:
                raise InvalidIdentifier("repeats an application identifier or a parameter")
            identifiers[key] = value
    return identifiers


def _coded(bits: _Bits) -> Iterator[tuple[str, str]]:
    """Read one code, and yield each of its identifiers with its value."""
    first = bits.hexadecimal(1)
    if first == _PARAMETER_FLAG:
        name = bits.characters(3, bits.number(_LENGTH_BITS))
        encoding = bits.number(3)
        yield name, bits.characters(encoding, bits.number(_LENGTH_BITS))
        return
    code = first + bits.hexadecimal(1)
    for key in SEQUENCES.get(code) or (_key(code, bits),):
        yield key, "".join(_part(part, bits) for part in FORMATS[key])


def _key(code: str, bits: _Bits) -> str:
    more = KEY_LENGTHS.get(code, 2) - 2
    key = code + bits.hexadecimal(more) if more else code
    if key not in FORMATS:
        raise InvalidIdentifier("names an application identifier that the standard's compression does not know")
    return key


def _part(part: Part, bits: _Bits) -> str:
    """Read one part of a value."""
    encoding = _DIGITS if part.digits else bits.number(3)
    length = part.length if part.exact else bits.number(part.length.bit_length())
    if length > part.length:
        raise InvalidIdentifier("has a value that is longer than its application identifier allows")
    return bits.characters(encoding, length)


PRIMARY_KEY = "01"
# Qualifiers that may follow a GTIN, in this order: the variant of the consumer's article, the lot, the serial number.
_QUALIFIERS = ("22", "10", "21")
# 235 is a qualifier too, of tobacco only. It is none that we take, in either form of an address.
_IN_THE_PATH = (*_QUALIFIERS, "235")
# GS1's character set 82 (General Specifications, 7.11).
_QUALIFIER_VALUE = re.compile(r"[!\"%&'()*+,\-./0-9:;<=>?A-Z_a-z]{1,20}", re.ASCII)


@dataclass(frozen=True, slots=True)
class DigitalLink:
    """An article by its GTIN of 14 digits, and the qualifiers with their values, as the path has them.

    `query`: further elements of a compressed path, which an uncompressed address has in its query.
    """

    gtin: str
    qualifiers: tuple[tuple[str, str], ...] = ()
    query: tuple[tuple[str, str], ...] = ()
    was_compressed: bool = False

    @property
    def path(self) -> str:
        """The path in its canonical form, with everything that the address names."""
        named = ((PRIMARY_KEY, self.gtin), *self.qualifiers)
        return "".join(f"/{key}/{quote(value, safe='')}" for key, value in named)

    @property
    def primary_path(self) -> str:
        """The path of the article alone, at which its links are kept."""
        return f"/{PRIMARY_KEY}/{self.gtin}"

    @property
    def uncompressed(self) -> str:
        """The uncompressed path and query of a compressed path."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


def read_path(path: str) -> DigitalLink | None:
    """Read an escaped path: /01/{gtin}…, or one of which the last segment is compressed; a slash at its end is ignored.

    None where it is no link of a GTIN. Raises WrongIdentifier where the path begins like one and breaks the syntax, or
    where the GTIN's check digit does not fit.
    """
    first, *rest = path.removesuffix("/").split("/")[1:]
    return _uncompressed(rest) if first == PRIMARY_KEY else _compressed(first)


def _uncompressed(parts: list[str]) -> DigitalLink:
    if not parts or (len(parts) % 2 == 0 and len(parts) > 2):
        raise _wrong("needs pairs of an application identifier and a value after the GTIN")
    gtin = _gtin(parts[0])
    if len(parts) == 2:
        return _partly_compressed(gtin, parts[1])
    return DigitalLink(gtin, _qualifiers(parts[1::2], [unquote(value) for value in parts[2::2]]))


def _partly_compressed(gtin: str, segment: str) -> DigitalLink:
    try:
        held = decompressed(segment)
    except InvalidIdentifier:
        raise _wrong(
            "needs pairs of an application identifier and a value, or one compressed segment, after the GTIN"
        ) from None
    if PRIMARY_KEY in held:
        raise _wrong("has two GTINs")
    return _of_compressed(gtin, held)


def _compressed(segment: str) -> DigitalLink | None:
    try:
        held = decompressed(segment)
    except InvalidIdentifier as error:
        if first_key(segment) != PRIMARY_KEY:
            return None
        raise _wrong(error.detail) from None
    gtin = held.pop(PRIMARY_KEY, None)
    return None if gtin is None else _of_compressed(_gtin(gtin), held)


def _of_compressed(gtin: str, held: dict[str, str]) -> DigitalLink:
    keys = [key for key in _IN_THE_PATH if key in held]
    qualifiers = _qualifiers(keys, [held.pop(key) for key in keys])
    return DigitalLink(gtin, qualifiers, tuple(held.items()), was_compressed=True)


def _gtin(text: str) -> str:
    try:
        return gtin14(text)
    except InvalidIdentifier as error:
        raise WrongIdentifier("gtin", error.detail, text, error.expected, error.suggestion) from None


def _qualifiers(keys: list[str], values: list[str]) -> tuple[tuple[str, str], ...]:
    if [key for key in _QUALIFIERS if key in keys] != keys:
        raise _wrong(f"takes the qualifiers {', '.join(_QUALIFIERS)} after a GTIN, in this order, each once")
    if not all(_QUALIFIER_VALUE.fullmatch(value) for value in values):
        raise _wrong("takes qualifiers of 1 to 20 letters, digits and signs of GS1's character set")
    return tuple(zip(keys, values, strict=True))


def _wrong(detail: str) -> WrongIdentifier:
    return WrongIdentifier("path", detail, None, None, None)


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
    term = next(
        (link_type.removeprefix(namespace) for namespace in _NAMESPACES if link_type.startswith(namespace)), None
    )
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
        iid, record = await self._resolver.find(RequestedIdentifier("gtin", digital_link.gtin))
        name = str(_DECODER.decode(record.body)["name"])
        links = links_of(iid, name, self._base_url, self._origin)
        media_type = wants_linkset(link_type, accept)
        if media_type is not None:
            return self._linkset(digital_link, name, links, media_type)
        link = chosen(links, link_type, accept)
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
        raise InvalidParameter("linkType", "is repeated; send it once")
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
