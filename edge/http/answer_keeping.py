"""Compresses an answer that is kept, so that it is done once and not each time that it is sent."""

from time import time
from typing import Any

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler
from isal import igzip

from edge.http.answer_cache import PUBLIC, UNTIL_THE_DATA_CHANGES, AnswerCache, Key, Offer, answer_of, representation_of
from edge.http.context import CONTEXT
from edge.http.routing import rule_of

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


# Keeps the answers that handlers offer, so that the next caller with the same question gets the same bytes.


def offer(
    request: web.Request,
    response: web.Response,
    *,
    units: int | None = None,
    for_today: bool = False,
    organization_id: str | None = None,
    until: float = UNTIL_THE_DATA_CHANGES,
) -> None:
    """Offer the whole answer to a question, before a 304 is made of it.

    It must depend on nothing but the target, `Accept` and the loaded data; with `for_today` also on the UTC day, with
    `organization_id` also on that. It costs the rule's units where none are named. `until` is when it or its price may
    change by itself, in seconds since 1970.
    """
    cost = rule_of(request).units if units is None else units
    request[CONTEXT].offer = Offer(response, cost, for_today, organization_id, until)


def answer_keeping(answers: AnswerCache) -> Any:
    """Return the aiohttp middleware. Its place is outside everything that may still refuse the request."""

    @web.middleware
    async def keep(request: web.Request, handler: Handler) -> web.StreamResponse:
        generation, began = answers.generation, time()
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
