"""Answers that were given before, each with its bytes, until the data changes. The fast path sends them again.

A handler offers an answer that depends on the question and on the loaded data alone (`offer`); the middleware
edge/http/answer_keeping.py keeps it when the request is over. An answer is found only by the same target, the
same selection of its representation, and, where it belongs to one organization, by a key of that organization. Whether
the caller may have it, and what it costs, is decided for each request anew: an answer carries its rule and its units.
"""

import math
import time
from functools import lru_cache
from typing import NamedTuple

import msgspec
from aiohttp import web

from edge.http.prefer import best_format
from edge.http.routing import JSON, Rule
from shared.analytics.manifest import MEDIA_TYPES

UNTIL_THE_DATA_CHANGES = math.inf
DO_NOT_CACHE = 0.0
"""How long an answer is kept that a store would change that was unavailable while it was made."""
JSON_SELECTED = "+json"
"""How the name of a selection ends that takes JSON."""
_ENTRY_OVERHEAD_BYTES = 700
_DAY_SECONDS = 86_400
# One answer of more takes the place of hundreds that are asked more often, and its bytes cost more than its making.
BODY_BYTES_MAX = 256 * 1024
# Fields of the content, which a 304 does not repeat (RFC 9110, section 15.4.5).
_CONTENT_FIELDS = ("Content-Type", "Content-Encoding", "Content-Disposition", "Repr-Digest", "Link")


PUBLIC = ""
"""Instead of an organization: a document that needs no credential."""
# Their callers are not charged: a caller that varies `Accept` must not push out what others ask for.
_DOCUMENTS_MAX = 64


class AnswerKey(NamedTuple):
    """The key of an answer: the target as sent, what `Accept` selects, whose it is, and whether gzip is read."""

    target: bytes
    representation: str
    organization_id: str | None
    gzip: bool = False


class StoredAnswer(msgspec.Struct, frozen=True):
    """A complete answer but for what each request has of its own: limits, request id and date.

    `fields` are the header lines of a 200, `unchanged` those of a 304; without an `etag` there is no 304. `until` is
    when it ends by itself, in seconds since 1970.
    """

    rule: Rule
    units: int
    fields: bytes
    unchanged: bytes
    etag: str
    body: bytes
    until: float = UNTIL_THE_DATA_CHANGES


class AnswerOffer(NamedTuple):
    """An answer that the cache may keep: the whole 200, also where the caller gets a 304 or a part of it."""

    response: web.Response
    units: int
    for_today: bool
    organization_id: str | None
    until: float


class AnswerCache:
    """The answers of one process, bounded by their bytes; the oldest go first."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._answers: dict[AnswerKey, StoredAnswer] = {}
        self._documents: dict[AnswerKey, None] = {}
        self._bytes = 0
        self.generation = 0
        """Grows whenever everything is dropped."""

    def __len__(self) -> int:
        return len(self._answers)

    def find(self, key: AnswerKey) -> StoredAnswer | None:
        """Return the answer to a question, that of the caller's organization first where there is one."""
        answer = self._answers.get(key)
        if answer is None and key.organization_id:  # a document needs no credential
            key = AnswerKey(key.target, key.representation, None, key.gzip)
            answer = self._answers.get(key)
        if answer is not None and answer.until <= time.time():
            self._drop(key)
            return None
        return answer

    def keep(self, key: AnswerKey, answer: StoredAnswer, generation: int) -> None:
        """Keep an answer that was begun in a generation, in the place of an older one to the same question.

        One that is too large is not kept, nor one that was begun before everything was dropped.
        """
        # Data that changed meanwhile may have been read before or after.
        if generation != self.generation or len(answer.body) > BODY_BYTES_MAX or answer.until <= time.time():
            return
        if key in self._answers:
            self._drop(key)
        self._answers[key] = answer
        self._bytes += _size(key, answer)
        if key.organization_id == PUBLIC:
            self._documents[key] = None
            if len(self._documents) > _DOCUMENTS_MAX:
                self._drop(next(iter(self._documents)))
        while self._bytes > self._bytes_max:
            self._drop(next(iter(self._answers)))

    def clear(self) -> None:
        """Drop everything: the data has changed."""
        self._answers.clear()
        self._documents.clear()
        self._bytes = 0
        self.generation += 1

    def _drop(self, key: AnswerKey) -> None:
        self._bytes -= _size(key, self._answers.pop(key))
        self._documents.pop(key, None)


def _size(key: AnswerKey, answer: StoredAnswer) -> int:
    return len(key.target) + len(answer.fields) + len(answer.unchanged) + len(answer.body) + _ENTRY_OVERHEAD_BYTES


@lru_cache(maxsize=1024)
def representation_of(accept: str | None) -> str:
    """Return what an `Accept` field selects: the format it prefers, and whether it takes JSON at all.

    Two fields with the same selection get the same answer from every route; "" selects nothing that we have.
    """
    preferred = best_format(accept, MEDIA_TYPES)
    takes_json = best_format(accept, {kind: kind for kind in JSON}) is not None
    return f"{preferred or ''}{JSON_SELECTED}" if takes_json else preferred or ""


def answer_of(rule: Rule, offer: AnswerOffer, began: float) -> StoredAnswer:
    """Return the answer of an offered response, whose common headers are not added yet.

    `began` is when the question came, in seconds since 1970.
    """
    midnight = (began // _DAY_SECONDS + 1) * _DAY_SECONDS
    until = min(offer.until, midnight) if offer.for_today else offer.until
    headers = offer.response.headers
    lines = [(name, f"{name}: {value}\r\n") for name, value in headers.items()]
    body = offer.response.body
    return StoredAnswer(
        rule,
        offer.units,
        "".join(line for _, line in lines).encode(),
        "".join(line for name, line in lines if name not in _CONTENT_FIELDS).encode(),
        headers.get("ETag", ""),
        body if isinstance(body, bytes) else b"",
        until,
    )
