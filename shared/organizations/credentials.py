"""The form of public tokens and API keys: prefix, 10 characters of id, 32 of secret, 6 of check. Pure.

The check is a CRC-32 in base 62, so that garbage is refused without a lookup and secret scanners can be sure.
"""

import binascii
import hashlib
import hmac
import re
import secrets
from typing import NamedTuple

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ANONYMOUS_PREFIX = "iixp_anon_"
FREE_PREFIX = "iixp_free_"
KEY_PREFIX = "iixk_live_"
PATH_PREFIX = "iixr_path_"
BEGINNING = r"(?i:iix[kpr]_)"
"""A pattern of the beginning of each kind, in any case: what has it is not written to logs."""
ID_CHARACTERS, SECRET_CHARACTERS, CHECK_CHARACTERS = 10, 32, 6
ID = slice(len(KEY_PREFIX), len(KEY_PREFIX) + ID_CHARACTERS)
"""Where the id is in the text of a credential, whose prefixes are all as long."""
_FORM = re.compile(r"(?P<prefix>iixp_anon_|iixp_free_|iixk_live_)(?P<id>[0-9A-Za-z]{10})[0-9A-Za-z]{38}", re.ASCII)


class Credential(NamedTuple):
    """A well-formed credential: what kind it is and under which id it is stored. The secret stays in the text."""

    prefix: str
    credential_id: str


def mint(prefix: str) -> str:
    """Make a new credential with 190 bits of secret."""
    drawn = "".join(secrets.choice(BASE62) for _ in range(ID_CHARACTERS + SECRET_CHARACTERS))
    return f"{prefix}{drawn}{checksum(prefix + drawn)}"


def parse(text: str) -> Credential | None:
    """Return the parts of a credential, or None when its form or its check is wrong."""
    form = _FORM.fullmatch(text)
    if form is None or checksum(text[:-CHECK_CHARACTERS]) != text[-CHECK_CHARACTERS:]:
        return None
    return Credential(form["prefix"], form["id"])


def checksum(body: str) -> str:
    """Return the six check characters of a credential's body: its CRC-32 in base 62."""
    number = binascii.crc32(body.encode("ascii"))
    digits = []
    for _ in range(CHECK_CHARACTERS):
        number, digit = divmod(number, 62)
        digits.append(BASE62[digit])
    return "".join(reversed(digits))


def keyed_hash(text: str, pepper: str) -> bytes:
    """Return what is stored instead of the credential: HMAC-SHA-256 under the pepper, 32 bytes."""
    return hmac.digest(pepper.encode(), text.encode(), hashlib.sha256)
