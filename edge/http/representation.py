"""Conditional requests (RFC 9110, section 13)."""

import asyncio
import gzip
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from aiohttp import web

from edge.http.answer_cache import PUBLIC, UNTIL_THE_DATA_CHANGES, Offer
from edge.http.context import CONTEXT


def none_match(field: str | None, etag: str) -> bool:
    """Return whether `If-None-Match` names this ETag, by weak comparison; the response is then 304.

    A malformed list matches nothing: the caller then simply gets the whole answer.
    """
    if not field:
        return False
    if field.strip() == "*":
        return True
    opaque = etag.removeprefix("W/")
    return any(tag.strip().removeprefix("W/") == opaque for tag in field.split(","))


def match(field: str | None, etag: str) -> bool:
    """Return whether `If-Match` allows the request: absent, `*`, or naming this ETag by strong comparison."""
    if field is None or field.strip() == "*":
        return True
    return any(tag.strip() == etag for tag in field.split(","))


# A document that is made once and sent many times: its bytes, compressed once, and their ETag.


_CACHE_SECONDS = 300
_COMPRESSED_FROM_BYTES = 1_024
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Representation:
    """One form of a document. `compressed` is empty where compression would not pay."""

    body: bytes
    compressed: bytes
    content_type: str
    etag: str

    @classmethod
    def of(cls, content: str | bytes, content_type: str) -> "Representation":
        """Make a representation; for a large document call it in a thread, because compressing takes a while."""
        body = content.encode() if isinstance(content, str) else content
        compressed = gzip.compress(body, 9, mtime=0) if len(body) >= _COMPRESSED_FROM_BYTES else b""
        return cls(body, compressed, content_type, f'W/"{hashlib.sha256(body).hexdigest()[:32]}"')

    def respond(
        self, request: web.Request, headers: Mapping[str, str] | None = None, *, until: float = UNTIL_THE_DATA_CHANGES
    ) -> web.Response:
        """Answer a GET: 304 where the caller has it already, compressed where the caller can read that.

        The answer is kept for the fast path, and no longer than `until`, in seconds since 1970.
        """
        given = {
            "ETag": self.etag,
            "Cache-Control": f"public, max-age={_CACHE_SECONDS}",
            "Vary": "Accept, Accept-Encoding",
            **(headers or {}),
        }
        content = {"Content-Type": self.content_type}
        body = self.body
        if self.compressed and accepts_gzip(request):
            body, content["Content-Encoding"] = self.compressed, "gzip"
        whole = web.Response(body=body, headers={**given, **content})
        request[CONTEXT].offer = Offer(whole, 0, for_today=False, organization_id=PUBLIC, until=until)
        if none_match(request.headers.get("If-None-Match"), self.etag):
            return web.Response(status=304, headers=given)
        return whole


class MadeOnce(Generic[T]):
    """A value that a thread makes when it is first requested; concurrent requests wait for the same one.

    Made for each request, or on the event loop, a document would keep the other callers of the process waiting.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._task: asyncio.Task[T] | None = None

    async def get(self) -> T:
        """Return the value. A caller that disconnects does not stop the thread; one that failed is begun anew."""
        if self._task is None or (self._task.done() and self._task.exception() is not None):
            self._task = asyncio.create_task(asyncio.to_thread(self._make))
        return await asyncio.shield(self._task)


def accepts_gzip(request: web.Request) -> bool:
    """Return whether the caller can read gzip."""
    return "gzip" in request.headers.get("Accept-Encoding", "")
