"""Downloads of stored files: how they are sent, how many bytes of them an organization may have in a UTC day, and their
signed addresses, for tools that send no header.

A signed address is good for one file (by its digest), for one organization, until a moment. It grants what it names and
nothing else, and it is part of the query, which no log keeps.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import NamedTuple

from aiohttp import hdrs, web

from edge.http import stream
from edge.http.context import CONTEXT
from edge.http.json import CACHE_CONTROL
from edge.http.problems import Problem
from edge.http.stream import ResultBody, Slice, opened
from edge.quota.limiter import Decision, RateLimiter
from edge.quota.open_downloads import OpenDownloads
from edge.storage.database import Database
from shared.clock import rfc3339, utc_now
from shared.db.queries import load_queries
from shared.objects.directory import ResultStore
from shared.organizations.accounts import INSTITUTIONAL, Plan
from shared.printable import base64url
from shared.settings.settings import Settings

SQL = load_queries(__file__, "downloads.sql")
# Bytes of files that an organization may download in a UTC day, counted exactly: what an answer sends, ranges too.


class DownloadAllowance:
    """Consumes bytes before they are sent. During an outage of the state store downloads continue, as paid calls do."""

    def __init__(self, limiter: RateLimiter, settings: Settings) -> None:
        self._limiter = limiter
        self._plan = Plan(
            name="downloads",
            title="bytes of downloads",
            rank=0,
            counted_by="organization",
            daily_units=settings.download_bytes_per_day,
            burst_units=settings.download_bytes_per_day,
        )

    async def consume(self, organization: str, length: int, charge_id: str) -> None:
        """Count the bytes of one answer. Raises the problem `rate-limited` where they would exceed the day's."""
        decision = await self._limiter.consume(f"bytes:{organization}", self._plan, length, charge_id)
        if not decision.allowed:
            raise _refusal(decision)


def _refusal(decision: Decision) -> Problem:
    limit, seconds, resets_at = decision.plan.daily_units, decision.retry_after_seconds, rfc3339(decision.resets_at)
    detail = (
        f"Your organization may download {limit} bytes a day; {decision.remaining_day} are left, and this answer has "
        f"{decision.units}. Ask for a smaller `Range`, or continue after the reset at {resets_at}."
    )
    extra = {
        "retry_after": seconds,
        "policy": decision.plan.daily_policy,
        "limit": limit,
        "resets_at": resets_at,
        "counted_as": decision.account,
        "lifted_by": "Ask us for a larger allowance.",
    }
    return Problem("rate-limited", detail, extra=extra, fields={"Retry-After": str(seconds)})


# A stored file as a download: sent by nginx where that can reach it, so that Python copies no bytes; else streamed.


class StoredFile(NamedTuple):
    """A file that is whole and will never change, as a manifest names it. `filename` is of our making: plain ASCII."""

    key: str
    bytes: int
    sha256: str
    media_type: str
    filename: str


class FileResponder:
    """Answers downloads. `x_accel_location` is nginx's internal location for the store's directory."""

    def __init__(
        self, store: ResultStore, x_accel_location: str, allowance: DownloadAllowance, under_way: OpenDownloads
    ) -> None:
        self._store = store
        self._under_way = under_way
        self._accel_location = x_accel_location
        self._allowance = allowance

    async def respond(self, request: web.Request, file: StoredFile, organization: str | None) -> web.StreamResponse:
        """Answer 200, 206 or 304 with ETag, Repr-Digest and Content-Length; raises the problems 412, 416 and 429.

        The bytes are counted against the organization's allowance.
        Raises ResultGone where the store has lost the file or has another one in its place.
        """
        etag = stream.etag_of(file.sha256)
        return await self.send(request, file, organization, stream.part_of(request, etag, file.bytes), {"ETag": etag})

    async def send(
        self,
        request: web.Request,
        file: StoredFile,
        organization: str | None,
        part: Slice | None,
        fields: Mapping[str, str],
        *,
        accelerate: bool = True,
    ) -> web.StreamResponse:
        """Answer with a part of a file, with the whole where it is None, or 304 where it is UNCHANGED.

        `fields` have its ETag, and replace what we would say of it. Raises as `respond` does.
        """
        etag = fields["ETag"]
        if part is stream.UNCHANGED:
            return stream.unchanged(etag)
        fields = {
            "Content-Type": stream.content_type(file.media_type),
            "Repr-Digest": stream.repr_digest(file.sha256),
            "Content-Disposition": f'attachment; filename="{file.filename}"',
            **fields,
        }
        # Opened before its bytes are counted: what cannot be sent costs nothing.
        body = ResultBody(await opened(self._store, file.key, file.bytes), file.bytes, b"", etag)
        is_accelerated = accelerate and bool(self._accel_location) and _can_accelerate(request, part)
        if not is_accelerated:
            self._under_way.hold(body, organization)
        try:
            if organization is not None and request.method == hdrs.METH_GET:
                length = file.bytes if part is None else part.stop - part.start
                await self._allowance.consume(organization, length, request[CONTEXT].charge_id)
        except BaseException:  # refused, or the caller has gone
            body.close()
            raise
        if is_accelerated:
            body.close()
            there = {"Cache-Control": CACHE_CONTROL, "X-Accel-Redirect": self._accel_location + file.key}
            return web.Response(headers={**there, **fields})
        return stream.sending(body, part, fields)

    async def respond_made(
        self, request: web.Request, content: bytes, organization: str, part: Slice | None, fields: Mapping[str, str]
    ) -> web.StreamResponse:
        """Answer with a part of bytes that were made for the request, counted as those of a file, as `send` does."""
        answer = stream.portion(web.Response(body=content, headers={"Cache-Control": CACHE_CONTROL, **fields}), part)
        if request.method == hdrs.METH_GET and isinstance(answer.body, bytes):
            await self._allowance.consume(organization, len(answer.body), request[CONTEXT].charge_id)
        return answer


def _can_accelerate(request: web.Request, part: Slice | None) -> bool:
    """Return whether nginx would decide as this code does.

    It knows our ETag too late for `If-Match`, answers 416 to some ranges that mean nothing, where the whole is right,
    and 206 to a HEAD with a range. Of a part that no range names it knows nothing. It holds `If-Unmodified-Since`
    against the date of its file, which we never send.
    """
    requested = request.headers
    if (
        (request.method != hdrs.METH_GET and "Range" in requested)
        or "If-Match" in requested
        or "If-Unmodified-Since" in requested
    ):
        return False
    return (part is not None) == ("Range" in requested)


_DOMAIN = b"item-index/file-link/1\0"
_SIGNATURE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


class Link(NamedTuple):
    """The query of a signed URL."""

    expires: int
    organization: str
    signature: str


class SignedUrls:
    """Signs with the first of the secrets; accepts signatures of every one."""

    def __init__(self, *secrets: str) -> None:
        self._secrets = [secret.encode() for secret in secrets]

    def query(self, sha256: str, organization: str, expires: int) -> str:
        """Return the query that signs a file's URL."""
        signature = self._sign(self._secrets[0], sha256, organization, expires)
        return f"expires={expires}&organization={organization}&signature={signature}"

    def holds(self, link: Link, sha256: str) -> bool:
        """Return whether this service signed the link for this file, whether or not it has expired."""
        if not _SIGNATURE.fullmatch(link.signature):
            return False
        signatures = [self._sign(secret, sha256, link.organization, link.expires) for secret in self._secrets]
        return any(hmac.compare_digest(signature, link.signature) for signature in signatures)

    def _sign(self, secret: bytes, sha256: str, organization: str, expires: int) -> str:
        text = "\0".join((sha256, organization, str(expires))).encode()
        return base64url(hmac.digest(secret, _DOMAIN + text, hashlib.sha256))


class LinkChecker:
    """Checks the signed URLs by which files are read without a credential."""

    def __init__(self, links: SignedUrls, database: Database) -> None:
        self._links = links
        self._database = database

    async def require(self, link: Link, signed: str, anew: str) -> None:
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
