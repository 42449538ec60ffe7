"""The address of a GS1 Digital Link for a GTIN: what its path names (Digital Link Standard: URI Syntax, 4). Pure."""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from shared.errors import InvalidIdentifier, WrongIdentifier
from shared.identifiers import gtin14

PRIMARY_KEY = "01"
# What may follow a GTIN, in this order: the variant of the consumer's article, the lot, the serial number.
_QUALIFIERS = ("22", "10", "21")
# GS1's character set 82 (General Specifications, 7.11).
_QUALIFIER_VALUE = re.compile(r"[!\"%&'()*+,\-./0-9:;<=>?A-Z_a-z]{1,20}", re.ASCII)


@dataclass(frozen=True, slots=True)
class DigitalLink:
    """An article by its GTIN of 14 digits, and the qualifiers with their values, as the path has them."""

    gtin: str
    qualifiers: tuple[tuple[str, str], ...] = ()

    @property
    def path(self) -> str:
        """The path in its canonical form, with everything that the address names."""
        named = ((PRIMARY_KEY, self.gtin), *self.qualifiers)
        return "".join(f"/{key}/{quote(value, safe='')}" for key, value in named)

    @property
    def primary_path(self) -> str:
        """The path of the article alone, at which its links are kept."""
        return f"/{PRIMARY_KEY}/{self.gtin}"


def read_path(path: str) -> DigitalLink:
    """Read an escaped path that begins with /01/; a slash at its end makes no difference.

    Raises WrongIdentifier where the path breaks the syntax or the GTIN's check digit does not fit.
    """
    parts = path.removesuffix("/").split("/")[2:]
    if not parts or len(parts) % 2 == 0:
        raise _wrong("needs pairs of an application identifier and a value after the GTIN")
    try:
        gtin = gtin14(parts[0])
    except InvalidIdentifier as error:
        raise WrongIdentifier("gtin", error.detail, error.expected, error.suggestion) from None
    return DigitalLink(gtin, tuple(_qualifiers(parts[1::2], parts[2::2])))


def _qualifiers(keys: list[str], values: list[str]) -> list[tuple[str, str]]:
    if [key for key in _QUALIFIERS if key in keys] != keys:
        raise _wrong(f"takes the qualifiers {', '.join(_QUALIFIERS)} after a GTIN, in this order, each once")
    read = [(key, unquote(value)) for key, value in zip(keys, values, strict=True)]
    if not all(_QUALIFIER_VALUE.fullmatch(value) for _, value in read):
        raise _wrong("takes qualifiers of 1 to 20 letters, digits and signs of GS1's character set")
    return read


def _wrong(detail: str) -> WrongIdentifier:
    return WrongIdentifier("path", detail, None, None)
