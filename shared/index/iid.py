"""Identifiers: the grammar of IIDs, how we mint them, their integer key that both tiers derive; and UUIDs.

Pure. Alphabet and check character idea: Crockford, "Base 32 Encoding".
"""

import hashlib
import re
from typing import NamedTuple
from uuid import UUID

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
IID_CHARACTERS_MAX = 80
_IID = re.compile(r"IID(-[0-9A-Z]{1,16}){1,8}", re.ASCII)
_IID_PREFIX = re.compile(r"IID-([0-9A-Z]{1,16}-){0,7}[0-9A-Z]{0,16}", re.ASCII)
_MINTED = re.compile(rf"IID(-[{CROCKFORD}]{{5}}){{3}}", re.ASCII)
_UUID = re.compile(r"[0-9A-Fa-f-]{32,36}")
MINTED_DIGITS = 14
_VALUES = {character: value for value, character in enumerate(CROCKFORD)}
# Odd, hence invertible modulo 32: every single wrong character changes the sum.
CHECK_WEIGHTS = range(1, 2 * MINTED_DIGITS, 2)


class ItemId(NamedTuple):
    """An IID and the key under which PostgreSQL keeps the item: a 63-bit integer derived from the IID alone."""

    iid: str
    key: int


def canonical_iid(text: str) -> str | None:
    """Return the IID in upper case, or None when the text is not an IID."""
    if len(text) > IID_CHARACTERS_MAX or not text.isascii():
        return None
    upper = text.upper()
    return upper if _IID.fullmatch(upper) else None


def canonical_iid_prefix(text: str) -> str | None:
    """Return the beginning of an IID in upper case, or None when no IID can begin so."""
    if len(text) > IID_CHARACTERS_MAX or not text.isascii():
        return None
    upper = text.upper()
    return upper if _IID_PREFIX.fullmatch(upper) else None


def item_key(iid: str) -> int:
    """Derive the item's integer key from its canonical IID.

    A hash, so that a load needs no lookup and no sequence; a collision (likely only near 3 billion items)
    breaks the unique key of `items` and is kept as a reject, never merged in silence.
    """
    return int.from_bytes(hashlib.blake2b(iid.encode(), digest_size=8).digest()) >> 1


def mint(source: str, source_id: str) -> ItemId:
    """Mint the IID of a source's item: the same source and id give the same IID, for ever.

    The first 70 bits of the hash are fourteen digits; a fifteenth checks them.
    """
    digest = hashlib.blake2b(source.encode() + b"\0" + source_id.encode(), digest_size=9).digest()
    number = int.from_bytes(digest) >> 2
    digits = "".join(CROCKFORD[number >> 5 * position & 31] for position in reversed(range(MINTED_DIGITS)))
    body = digits + _check_character(digits)
    iid = f"IID-{body[:5]}-{body[5:10]}-{body[10:]}"
    return ItemId(iid, item_key(iid))


def is_mistyped(iid: str) -> bool:
    """Return whether a canonical IID has the form of those that we mint and a wrong check character."""
    return _MINTED.fullmatch(iid) is not None and _check_character(iid[4:-1].replace("-", "")) != iid[-1]


def canonical_uuid(text: str) -> str | None:
    """Return a UUID as PostgreSQL writes it, or None if the text is not one, with or without hyphens."""
    if not _UUID.fullmatch(text):  # Python's own reading takes braces, white space and more
        return None
    try:
        return str(UUID(text))
    except ValueError:
        return None


def require_uuid(text: str, missing: Exception) -> str:
    """Return a UUID as PostgreSQL writes it. Raises `missing` if the text is not one."""
    uuid = canonical_uuid(text)
    if uuid is None:
        raise missing
    return uuid


def _check_character(digits: str) -> str:
    return CROCKFORD[sum(weight * _VALUES[c] for weight, c in zip(CHECK_WEIGHTS, digits, strict=True)) % 32]
