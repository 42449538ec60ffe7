"""The one envelope of every list (contract, section 3)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from aiohttp import web
from marshmallow import Schema, fields, validate
from msgspec import Struct

_ENCODER = msgspec.json.Encoder()
CACHE_CONTROL = "private, max-age=60"


class PageTotal(Struct):
    """Number of entries; exact (`eq`) or a lower bound (`gte`)."""

    value: int
    relation: Literal["eq", "gte"]


class SearchTotal(PageTotal):
    """Number of hits, and how many of them have all words."""

    all_words: int


class Page(Struct):
    """Base of every list's answer; a list names the type of its `data`."""

    data: Sequence[Any]
    count: int
    total: PageTotal
    next_cursor: str | None
    query: Mapping[str, Any]
    data_version: int


# The same for lists whose entries are declared by marshmallow.


class PageTotalSchema(Schema):
    """Number of entries; exact (`eq`) or a lower bound (`gte`)."""

    value = fields.Int(required=True)
    relation = fields.Str(required=True, validate=validate.OneOf(["eq", "gte"]))


class SelfLink(Schema):
    """Address of the whole record."""

    self = fields.Url(required=True)


class ListEnvelope(Schema):
    """Base of every list's answer; a list adds its `data`."""

    count = fields.Int(required=True)
    total = fields.Nested(PageTotalSchema(), required=True)
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
    relation: Literal["eq", "gte"] = "eq" if exact else "gte"
    counted = PageTotal(total, relation) if all_words is None else SearchTotal(total, relation, all_words)
    body = _ENCODER.encode(Page(entries, len(entries), counted, next_cursor, query, data_version))
    return web.Response(body=body, content_type="application/json", headers={"Cache-Control": CACHE_CONTROL})
