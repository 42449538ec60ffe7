"""The path of a GS1 Digital Link: a GTIN and its qualifiers, plain or compressed."""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode

from edge.index.compressed_digital_link import decompress, first_key
from shared.errors import InvalidIdentifier, WrongIdentifier
from shared.gtin import gtin14

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
    def uncompressed_path(self) -> str:
        """The uncompressed path and query of a compressed path."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


def read_path(path: str) -> DigitalLink | None:
    """Read an escaped path: /01/{gtin}…, or one of which the last segment is compressed; a slash at its end is ignored.

    None where it is no link of a GTIN. Raises WrongIdentifier where the path begins like one and breaks the syntax, or
    where the GTIN's check digit does not fit.
    """
    first, *rest = path.removesuffix("/").split("/")[1:]
    return _read_uncompressed(rest) if first == PRIMARY_KEY else _read_compressed(first)


def _read_uncompressed(parts: list[str]) -> DigitalLink:
    if not parts or (len(parts) % 2 == 0 and len(parts) > 2):
        raise _wrong("needs pairs of an application identifier and a value after the GTIN")
    gtin = _gtin(parts[0])
    if len(parts) == 2:
        return _read_partly_compressed(gtin, parts[1])
    return DigitalLink(gtin, _qualifiers(parts[1::2], [unquote(value) for value in parts[2::2]]))


def _read_partly_compressed(gtin: str, segment: str) -> DigitalLink:
    try:
        held = decompress(segment)
    except InvalidIdentifier:
        raise _wrong(
            "needs pairs of an application identifier and a value, or one compressed segment, after the GTIN"
        ) from None
    if PRIMARY_KEY in held:
        raise _wrong("has two GTINs")
    return _link_of_keys(gtin, held)


def _read_compressed(segment: str) -> DigitalLink | None:
    try:
        held = decompress(segment)
    except InvalidIdentifier as error:
        if first_key(segment) != PRIMARY_KEY:
            return None
        raise _wrong(error.detail) from None
    gtin = held.pop(PRIMARY_KEY, None)
    return None if gtin is None else _link_of_keys(_gtin(gtin), held)


def _link_of_keys(gtin: str, held: dict[str, str]) -> DigitalLink:
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
