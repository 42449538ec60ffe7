"""The one envelope of every list (contract, section 3)."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from aiohttp import web
from marshmallow import Schema, fields, validate

_ENCODER = msgspec.json.Encoder()
CACHE_CONTROL = "private, max-age=60"


class PageTotal(Schema):
    """Number of entries; exact (`eq`) or a lower bound (`gte`)."""

    value = fields.Int(required=True)
    relation = fields.Str(required=True, validate=validate.OneOf(["eq", "gte"]))


class SelfLink(Schema):
    """Address of the whole record."""

    self = fields.Url(required=True)


class ListEnvelope(Schema):
    """Base of every list's answer; a list adds its `data`."""

    count = fields.Int(required=True)
    total = fields.Nested(PageTotal(), required=True)
    next_cursor = fields.Str(required=True, allow_none=True)
    query = fields.Dict(required=True)
    data_version = fields.Int(required=True)


def envelope(
    entries: Sequence[Any],
    *,
    total: int,
    exact: bool,
    next_cursor: str | None,
    query: Mapping[str, Any],
    data_version: int,
    all_words: int | None = None,
) -> web.Response:
    """Make the answer of a list; a search also says how many of its hits have all words."""
    counted: dict[str, Any] = {"value": total, "relation": "eq" if exact else "gte"}
    if all_words is not None:
        counted["all_words"] = all_words
    body = _ENCODER.encode(
        {
            "data": entries,
            "count": len(entries),
            "total": counted,
            "next_cursor": next_cursor,
            "query": query,
            "data_version": data_version,
        }
    )
    return web.Response(body=body, content_type="application/json", headers={"Cache-Control": CACHE_CONTROL})
