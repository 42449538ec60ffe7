"""Signed addresses of files, for tools that send no header.

A signed address is good for one file (by its digest), for one organization, until a moment. It grants what it names and
nothing else, and it is part of the query, which no log keeps.
"""

import re
from typing import NamedTuple

from edge.auth.text_signer import TextSigner
from edge.http.problems import Problem
from edge.storage.database import Database
from shared.clock import utc_now
from shared.db.queries import load_queries
from shared.organizations.accounts import INSTITUTIONAL
from shared.printable import base64url

SQL = load_queries(__file__, "signed_urls.sql")


_DOMAIN = b"item-index/file-link/1\0"
_SIGNATURE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


class SignedLink(NamedTuple):
    """The query of a signed URL."""

    expires: int
    organization: str
    signature: str


class SignedUrls:
    """Signs with the first of the secrets; accepts signatures of every one."""

    def __init__(self, *secrets: str) -> None:
        self._signer = TextSigner(_DOMAIN, base64url, *secrets)

    def query(self, sha256: str, organization: str, expires: int) -> str:
        """Return the query that signs a file's URL."""
        signature = self._signer.sign(_signed_text(sha256, organization, expires))
        return f"expires={expires}&organization={organization}&signature={signature}"

    def holds(self, link: SignedLink, sha256: str) -> bool:
        """Return whether this service signed the link for this file, whether or not it has expired."""
        if not _SIGNATURE.fullmatch(link.signature):
            return False
        return self._signer.has_signed(_signed_text(sha256, link.organization, link.expires), link.signature)


def _signed_text(sha256: str, organization: str, expires: int) -> str:
    return "\0".join((sha256, organization, str(expires)))


class LinkChecker:
    """Checks the signed URLs by which files are read without a credential."""

    def __init__(self, links: SignedUrls, database: Database) -> None:
        self._links = links
        self._database = database

    async def require(self, link: SignedLink, signed: str, anew: str) -> None:
        """Raise the problem `invalid-signature` or `expired-signature` unless the link is good for what was signed.

        `anew` is the sentence that says where a valid URL comes from. The organization's plan is read when the link is
        used: a link must not outlive the contract.
        """
        if not self._links.holds(link, signed):
            raise Problem("invalid-signature", f"This signed URL was modified or is for another file. {anew}")
        if link.expires <= utc_now().timestamp():
            raise Problem("expired-signature", f"This signed URL has expired. {anew}")
        row = await self._database.fetch_row(SQL.reader_rank, link.organization)
        if row is None or row["rank"] < INSTITUTIONAL:
            raise Problem("invalid-signature", "The organization of this signed URL can no longer read the file.")
