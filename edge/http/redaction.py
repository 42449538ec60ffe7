"""Credentials that callers put where none belongs: found however they are spelled, so that nobody writes them down."""

import re
from urllib.parse import unquote

from shared.organizations.credentials import BEGINNING

_CREDENTIAL = re.compile(r"((?i:iix[a-z]_[a-z]{1,8}_))[0-9A-Za-z]+|eyJ[0-9A-Za-z_.-]{20,}", re.ASCII)
_BEGINNING = re.compile(rf"{BEGINNING}|eyJ", re.ASCII)
# A text that was encoded more often is none of ours, and none that a program makes by mistake.
_DECODINGS_MAX = 5


def without_credentials(path: str) -> str:
    """Return a path without the secrets in it, whose form stays visible; any other path as it is."""
    plain = _decode(path)
    replaced = _CREDENTIAL.sub(lambda found: f"{found[1] or 'eyJ'}…", plain)
    return replaced if replaced != plain else path


def has_credential(text: str) -> bool:
    """Return whether a text contains what may be the beginning of a key or of an ID token."""
    return _BEGINNING.search(_decode(text)) is not None


def _decode(text: str) -> str:
    """Return a text without percent-encoding, also where that was applied repeatedly."""
    for _ in range(_DECODINGS_MAX):
        if "%" not in text or (decoded := unquote(text)) == text:
            break
        text = decoded
    return text
