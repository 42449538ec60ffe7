"""JSON in and out: what callers send, by one strict parser; what an answer is, by one encoder."""

import json
from collections.abc import Mapping

import msgspec
from aiohttp import web

from shared.errors import InvalidJson
from shared.json_types import JsonValue

# RFC 8259 leaves open what a repeated member means, and decoders differ: the member that one part of a system checks
# may not be the one that another part uses. Here such a text is refused, as is one that is nested too deeply.


JSON_DEPTH_MAX = 32
_MEMBER_NAME_CHARACTERS_MAX = 40

NO_STORE = {"Cache-Control": "no-store"}
CACHE_CONTROL = "private, max-age=60"
"""Of what depends on the loaded data alone: a copy of it is a minute behind at most."""


def decode_json(text: bytes | str) -> JsonValue:
    """Decode one JSON text. Raises InvalidJson where it is malformed, nested over 32 levels, or repeats a member."""
    try:
        value: JsonValue = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise InvalidJson("The body is not well-formed JSON (RFC 8259).") from None
    _check_depth(value)
    # Numbers stay text in this pass: only names are looked at, and int() refuses very long ones.
    json.loads(text, object_pairs_hook=_check_members, parse_int=str, parse_float=str)
    return value


def _check_depth(value: JsonValue) -> None:
    level = [value]
    for _ in range(JSON_DEPTH_MAX + 1):
        level = [child for node in level for child in _children(node)]
        if not level:
            return
    raise InvalidJson(f"The body is nested over {JSON_DEPTH_MAX} levels deep.")


def _children(node: JsonValue) -> list[JsonValue]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _check_members(pairs: list[tuple[str, object]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise InvalidJson(f"An object of the body has the member `{name[:_MEMBER_NAME_CHARACTERS_MAX]}` twice.")
        seen.add(name)


def unstored_json(document: object, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Return a JSON response with `Cache-Control: no-store` besides the given headers."""
    fields = {**NO_STORE, **(headers or {})}
    return web.Response(
        status=status, body=msgspec.json.encode(document), content_type="application/json", headers=fields
    )
