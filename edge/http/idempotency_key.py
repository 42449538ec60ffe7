"""The request header `Idempotency-Key`: one text that marks repetitions of one request."""

import hashlib
import re
from typing import Any

import msgspec
from aiohttp import web

from edge.http.parameters import BODY
from edge.http.problems import invalid_parameters

FIELD = "Idempotency-Key"
PROBLEMS = ("idempotency-in-progress", "idempotency-key-reused")
"""The problems that a route may answer because of the header."""

_FORM = re.compile(r"[!-~]{0,255}", re.ASCII)
PARAMETER: dict[str, Any] = {
    "in": "header",
    "name": FIELD,
    "schema": {"type": "string", "pattern": f"^{_FORM.pattern}$"},
    "required": False,
}
"""How the OpenAPI document describes the header."""


def idempotency_key_of(request: web.Request) -> str | None:
    """Return the request's key, or None where it carries none; raise `invalid-parameter` for a malformed one."""
    keys = request.headers.getall(FIELD, [])
    if not any(keys):  # nginx drops an empty header, so an empty one that arrives another way is ignored as well
        return None
    if len(keys) > 1 or not _FORM.fullmatch(keys[0]):
        raise invalid_parameters([(FIELD, "must be one text of 1 to 255 visible ASCII characters")])
    return keys[0]


def digest_of(request: web.Request, organization: str | None) -> bytes:
    """Return a SHA-256 of what a request orders of an organization: its call, and its body as it was validated."""
    ordered = {
        "call": f"{request.method} {request.path}",
        "organization": organization,
        "body": request.get(BODY, {}),
    }
    return hashlib.sha256(msgspec.json.encode(ordered, order="sorted")).digest()
