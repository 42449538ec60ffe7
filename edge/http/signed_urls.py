"""Signed addresses of files, for tools that send no header. Pure.

A link is good for one file (by its digest), for one organization, until a moment. It grants what it names and nothing
else, and it is part of the query, which no log keeps.
"""

import base64
import hashlib
import hmac
import re
from typing import NamedTuple

_DOMAIN = b"item-index/file-link/1\0"
_SIGNATURE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


class Link(NamedTuple):
    """What a link says of itself."""

    expires: int
    organization: str
    signature: str


class SignedUrls:
    """Signs and checks under one secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def query(self, sha256: str, organization: str, expires: int) -> str:
        """Return the query that makes a file's address a link."""
        return f"expires={expires}&organization={organization}&signature={self._sign(sha256, organization, expires)}"

    def holds(self, link: Link, sha256: str) -> bool:
        """Tell whether the link was made by us for this file, whether or not it has expired."""
        if not _SIGNATURE.fullmatch(link.signature):
            return False
        return hmac.compare_digest(self._sign(sha256, link.organization, link.expires), link.signature)

    def _sign(self, sha256: str, organization: str, expires: int) -> str:
        text = "\0".join((sha256, organization, str(expires))).encode()
        return base64.urlsafe_b64encode(hmac.digest(self._secret, _DOMAIN + text, hashlib.sha256)).rstrip(b"=").decode()
