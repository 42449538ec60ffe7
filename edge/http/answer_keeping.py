"""The middleware that keeps answers in the cache of answers, from where the fast path sends them again."""

import time

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from edge.http.answer_cache import (
    PUBLIC,
    UNTIL_THE_DATA_CHANGES,
    AnswerCache,
    AnswerKey,
    AnswerOffer,
    answer_of,
    representation_of,
)
from edge.http.compression import CODING, accepts_gzip, compress, set_validators
from edge.http.context import CONTEXT
from edge.http.routing import rule_of


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
    request[CONTEXT].offer = AnswerOffer(response, cost, for_today=False, organization_id=organization_id, until=until)


def answer_keeping(answers: AnswerCache) -> Middleware:
    """Return the aiohttp middleware. Its place is outside everything that may still refuse the request."""

    @web.middleware
    async def keep(request: web.Request, handler: Handler) -> web.StreamResponse:
        generation, began = answers.generation, time.time()
        response = await handler(request)
        offered = request[CONTEXT].offer
        # An error after the offer was no answer.
        if offered is None or request.method != hdrs.METH_GET or response.status not in (200, 206, 304):
            return response
        if accepts_gzip(request):
            response = _compress_answer(response, offered.response)
        key = _key(request, offered)
        if key is not None:
            answers.keep(key, answer_of(rule_of(request), offered, began), generation)
        return response

    return keep


def _key(request: web.Request, offered: AnswerOffer) -> AnswerKey | None:
    """Return what the answer is found by; None where the fast path recognizes no such request."""
    if not request.raw_path.isascii() or request.headers.get(hdrs.ACCEPT_ENCODING, CODING) != CODING:
        return None
    accept = request.headers.get(hdrs.ACCEPT)
    # Documents have other types than reports have: each text may select another one.
    selected = accept or "" if offered.organization_id == PUBLIC else representation_of(accept)
    return AnswerKey(request.raw_path.encode(), selected, offered.organization_id, accepts_gzip(request))


def _compress_answer(response: web.StreamResponse, whole: web.Response) -> web.StreamResponse:
    """Compress the whole answer where that pays, and return what the caller gets instead of `response`."""
    done = compress(whole)
    if response.status == 200:
        return whole
    if response.status == 304 and done:
        set_validators(response)
    return response
