"""The answer of an act as status and JSON text: what is kept for its repetitions and sent each time."""

from dataclasses import dataclass

import msgspec
from aiohttp import web

from edge.http.json_response import NO_STORE


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of an act: status, and the body as it is sent."""

    status: int
    body: bytes = b""


def outcome_of(document: object, status: int) -> Outcome:
    """Return an answer with a document of plain values."""
    return Outcome(status, msgspec.json.encode(document))


def response_of(outcome: Outcome) -> web.Response:
    """Return the response, which no cache keeps."""
    if not outcome.body:
        return web.Response(status=outcome.status)
    return web.Response(
        status=outcome.status, body=outcome.body, content_type="application/json", headers=dict(NO_STORE)
    )
