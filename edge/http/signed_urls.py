"""Signed addresses of files, for tools that send no header. Pure.

A link is good for one file (by its digest), for one organization, until a moment. It grants what it names and nothing
else, and it is part of the query, which no log keeps.
"""

import hashlib
import hmac
import re
from typing import NamedTuple

from shared.printable import base64url

_DOMAIN = b"item-index/file-link/1\0"
_SIGNATURE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


class Link(NamedTuple):
    """The query of a signed URL."""

    expires: int
    organization: str
    signature: str


class SignedUrls:
    """Signs with one secret; while it is rotated, accepts signatures of the previous one."""

    def __init__(self, secret: str, previous: str = "") -> None:
        self._secret = secret.encode()
        self._accepted = (self._secret, previous.encode()) if previous else (self._secret,)

    def query(self, sha256: str, organization: str, expires: int) -> str:
        """Return the query that signs a file's URL."""
        signature = self._sign(self._secret, sha256, organization, expires)
        return f"expires={expires}&organization={organization}&signature={signature}"

    def holds(self, link: Link, sha256: str) -> bool:
        """Return whether this service signed the link for this file, whether or not it has expired."""
        if not _SIGNATURE.fullmatch(link.signature):
            return False
        signatures = [self._sign(secret, sha256, link.organization, link.expires) for secret in self._accepted]
        return any(hmac.compare_digest(signature, link.signature) for signature in signatures)

    def _sign(self, secret: bytes, sha256: str, organization: str, expires: int) -> str:
        text = "\0".join((sha256, organization, str(expires))).encode()
        return base64url(hmac.digest(secret, _DOMAIN + text, hashlib.sha256))
