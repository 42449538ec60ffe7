"""An answer's representation: its ETag, its compressed form, conditional requests, and the cache of answers."""

import asyncio
import gzip
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler
from isal import igzip

from edge.http.answer_cache import PUBLIC, UNTIL_THE_DATA_CHANGES, AnswerCache, Key, Offer, answer_of, representation_of
from edge.http.context import CONTEXT
from edge.http.routing import rule_of


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


class MadeByKey(Generic[T]):
    """Values that threads make, each when its key is first requested; the `kept_max` requested last are kept."""

    def __init__(self, kept_max: int) -> None:
        self._kept_max = kept_max
        self._kept: OrderedDict[Hashable, MadeOnce[T]] = OrderedDict()

    async def get(self, key: Hashable, prepare: Callable[[], Awaitable[Callable[[], T]]]) -> T:
        """Return the value of a key; where it is not kept, `prepare` reads what it is made of and returns its maker."""
        if key not in self._kept:
            self._kept.setdefault(key, MadeOnce(await prepare()))  # a concurrent request may have been faster
            if len(self._kept) > self._kept_max:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return await self._kept[key].get()


def accepts_gzip(request: web.Request) -> bool:
    """Return whether the caller can read gzip."""
    return "gzip" in request.headers.get("Accept-Encoding", "")


CODING = "gzip"
COMPRESSED_FROM_BYTES = 2_048
"""The same as nginx.conf's gzip_min_length: below it, compression does not pay."""
_LEVEL = 2


def takes_gzip(request: web.BaseRequest) -> bool:
    """Return whether our nginx says that the caller reads gzip; it passes on nothing else that a caller sent."""
    return request.headers.get(hdrs.ACCEPT_ENCODING) == CODING


def compress(response: web.Response) -> bool:
    """Compress the body of a large JSON answer in place, and weaken its ETag, as nginx would.

    Return whether it was: one with a digest of its bytes, or compressed already, stays as it is.
    """
    body = response.body
    if not isinstance(body, bytes) or len(body) < COMPRESSED_FROM_BYTES:
        return False
    fields = response.headers
    if response.content_type != "application/json" or "Repr-Digest" in fields or hdrs.CONTENT_ENCODING in fields:
        return False
    response.body = igzip.compress(body, _LEVEL, mtime=0)
    response.headers[hdrs.CONTENT_ENCODING] = CODING
    set_validators(response)
    return True


def set_validators(response: web.StreamResponse) -> None:
    """Give a response, also the 304 of a compressed one, the fields that depend on the coding."""
    etag = response.headers.get("ETag", "")
    if etag and not etag.startswith("W/"):
        response.headers["ETag"] = f"W/{etag}"
    response.headers.add(hdrs.VARY, "Accept-Encoding")


def cacheable(
    request: web.Request,
    response: web.Response,
    *,
    units: int | None = None,
    organization_id: str | None = None,
    until: float = UNTIL_THE_DATA_CHANGES,
) -> None:
    """Offer the whole answer to a question, before a 304 is made of it.

    It must depend on nothing but the target, `Accept` and the loaded data, with `organization_id` also on that. It
    costs the rule's units where none are named. `until` is when it or its price may change by itself, in seconds since
    1970.
    """
    cost = rule_of(request).units if units is None else units
    request[CONTEXT].offer = Offer(response, cost, for_today=False, organization_id=organization_id, until=until)


def answer_keeping(answers: AnswerCache) -> Any:
    """Return the aiohttp middleware. Its place is outside everything that may still refuse the request."""

    @web.middleware
    async def keep(request: web.Request, handler: Handler) -> web.StreamResponse:
        generation, began = answers.generation, time.time()
        response = await handler(request)
        offered = request[CONTEXT].offer
        # An error after the offer was no answer.
        if offered is None or request.method != hdrs.METH_GET or response.status not in (200, 206, 304):
            return response
        if takes_gzip(request):
            response = _compressed(response, offered.response)
        key = _key(request, offered)
        if key is not None:
            answers.keep(key, answer_of(rule_of(request), offered, began), generation)
        return response

    return keep


def _key(request: web.Request, offered: Offer) -> Key | None:
    """Return what the answer is found by; None where the fast path recognizes no such request."""
    if not request.raw_path.isascii() or request.headers.get(hdrs.ACCEPT_ENCODING, CODING) != CODING:
        return None
    accept = request.headers.get(hdrs.ACCEPT)
    # Documents have other types than reports have: each text may select another one.
    selected = accept or "" if offered.organization_id == PUBLIC else representation_of(accept)
    return Key(request.raw_path.encode(), selected, offered.organization_id, takes_gzip(request))


def _compressed(response: web.StreamResponse, whole: web.Response) -> web.StreamResponse:
    """Compress the whole answer where that pays, and return what the caller gets instead of `response`."""
    done = compress(whole)
    if response.status == 200:
        return whole
    if response.status == 304 and done:
        set_validators(response)
    return response
