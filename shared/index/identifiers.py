"""Identifiers of articles as sources and callers write them, and the one form in which they are compared. Pure."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from shared.errors import InvalidIdentifier
from shared.gtin import gtin14, gtin_of_isbn, gtin_of_upc, is_shortened
from shared.text import SIGNS, fold

# The schemes of a mapping or a request that identify, and the one under which their values are compared.
SCHEMES = {"gtin": "gtin", "ean": "gtin", "upc": "gtin", "isbn": "gtin", "mpn": "mpn", "sku": "sku", "url": "url"}
LAYOUT = 3
"""Raise it whenever `normal` gives another form to a text that it accepts, or other rows are made of identifiers."""

NUMBER_SCHEMES = ("gtin", "upc", "isbn")
"""The schemes under which a bare number may be one, each with spellings of its own."""
NUMBER_CHARACTERS_MIN = 8
CHARACTERS_MAX = 500
CUT = "a number whose last digits a spreadsheet has cut; export the column again as text"
URL_CHARACTERS_MAX = 2_000
_NO_PART_NUMBER = re.compile(r"[^\w+]|_")
_ABSENT = frozenset(
    {"", "na", "none", "null", "nan", "unknown", "unbranded", "doesnotapply", "notapplicable", "generic"}
)
_COMPANY_FORMS = frozenset(
    "ab ag as bv co company corp corporation gmbh inc incorporated kg limited llc ltd oy plc pty sa sarl spa".split()
)
_WORD = re.compile(r"\w+")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_TRACKING = re.compile(r"utm_\w+|gclid|fbclid|msclkid|dclid|yclid|mc_[ce]id", re.ASCII)
# The characters that RFC 3986 allows unescaped in a path.
_PATH_SAFE = "/-._~!$&'()*+,;=:@%"

_NOT_SLUG = re.compile(rf"[^\w{SIGNS}]+")


class NormalIdentifier(NamedTuple):
    """One identifier in the form in which it is compared. `scheme`: gtin, mpn, sku or url."""

    scheme: str
    value: str


def normal(scheme: str, text: str) -> NormalIdentifier | None:
    """Return an identifier in the form in which it is compared.

    None where the scheme does not identify or the text only says that there is none ("n/a"). Raises
    InvalidIdentifier where the text cannot be an identifier of its scheme.
    """
    if scheme in ("mpn", "sku") and is_cut_number(text):
        raise InvalidIdentifier(f"is {CUT}")
    match scheme:
        case "gtin" | "ean":
            return NormalIdentifier("gtin", gtin14(text))
        case "upc":
            return NormalIdentifier("gtin", gtin_of_upc(text))
        case "isbn":
            return NormalIdentifier("gtin", gtin_of_isbn(text))
        case "mpn":
            value = part_number(text)
        case "sku":
            value = unicodedata.normalize("NFC", text.strip())
        case "url":
            value = address(text)
        case _:
            return None
    if not value.isprintable():
        raise InvalidIdentifier("has characters that cannot be shown")
    if len(value) > (URL_CHARACTERS_MAX if scheme == "url" else CHARACTERS_MAX):
        raise InvalidIdentifier("is too long")
    return NormalIdentifier(scheme, value) if value else None


def gtin_of(scheme: str, text: str) -> str | None:
    """Return a GTIN in 14 digits; None of a scheme without one, and of a text that cannot be one."""
    try:
        identifier = normal(scheme, text)
    except InvalidIdentifier:
        return None
    return identifier.value if identifier is not None and identifier.scheme == "gtin" else None


def is_cut_number(text: str) -> bool:
    """Return whether a text is a number whose last digits a spreadsheet has cut, such as 4.01E+12.

    Many numbers are shown so. Without the plus sign it may be a number of a maker's own, such as 3E5.
    """
    return "+" in text and is_shortened(text.strip())


def part_number(text: str) -> str:
    """Return a maker's part number as it is compared: upper case, without separators; empty where there is none."""
    value = _NO_PART_NUMBER.sub("", unicodedata.normalize("NFKC", text)).upper()
    return "" if value.lower() in _ABSENT or not value.strip("0") else value


def brand_key(text: str) -> str:
    """Return a brand's name as it is compared: folded words without the form of the company; empty where it is none."""
    words = _WORD.findall(fold(text.replace("_", " ")))
    if "".join(words) in _ABSENT:
        return ""
    while len(words) > 1 and words[-1] in _COMPANY_FORMS:
        words.pop()
    return " ".join(words)


def address(text: str) -> str:
    """Return a web address as it is compared: without scheme, fragment, marks of campaigns and the last slash.

    Raises InvalidIdentifier where the text is no absolute http or https address.
    """
    stripped = text.strip()
    try:
        parts = urlsplit(stripped)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        raise InvalidIdentifier("must be an absolute http or https address") from None
    if parts.scheme not in _DEFAULT_PORTS or not host or parts.username is not None or not stripped.isprintable():
        raise InvalidIdentifier("must be an absolute http or https address")
    kept = [(name, value) for name, value in _members(parts.query) if not _TRACKING.fullmatch(name)]
    query = f"?{urlencode(sorted(kept))}" if kept else ""
    shown_port = "" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}"
    return f"{host}{shown_port}{quote(parts.path, safe=_PATH_SAFE).rstrip('/')}{query}"


def _members(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True)


@lru_cache(maxsize=65_536)
def slug(text: str) -> str:
    """Return a text as part of an address: folded, words joined by hyphens; scripts without case keep their letters."""
    return beginning_of_slug(text) or "other"


def beginning_of_slug(text: str) -> str:
    """Return how the slug of a name begins whose beginning is this text; empty where the text has no letter."""
    return _NOT_SLUG.sub("-", fold(text)).strip("-_")
