"""Lists: one envelope for all (contract, section 3), and pages by key."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec
from aiohttp import web
from marshmallow import Schema, fields, validate
from msgspec import UNSET, Struct, UnsetType

from edge.http.cursors import CursorSigner
from edge.http.json import CACHE_CONTROL
from edge.http.parameters import with_members
from shared.errors import InvalidCursor

_ENCODER = msgspec.json.Encoder()


class PageTotal(Struct):
    """Number of entries; exact (`eq`) or a lower bound (`gte`)."""

    value: int
    relation: Literal["eq", "gte"]


class HitTotal(PageTotal):
    """Number of hits, in total and with all words."""

    all_words: int


class ListPage(Struct):
    """Base of every list's answer; a list names the type of its `data`."""

    data: Sequence[Any]
    count: int
    total: PageTotal
    next_cursor: str | None
    query: Mapping[str, Any]
    data_version: int


class SearchPage(ListPage):
    """The answer of a search: it may count its hits by what they have in common, and remark on the question."""

    facets: Mapping[Any, Any] | UnsetType = UNSET
    meta: Mapping[str, Any] | UnsetType = UNSET


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


def list_of(entry: type[Schema], name: str, sentence: str) -> type[Schema]:
    """Declare the answer that lists entries, by its name and its sentence in the document."""
    data = fields.List(fields.Nested(entry()), required=True)
    return with_members(ListEnvelope, name, sentence, data=data)


def envelope(
    entries: Sequence[object],
    *,
    total: int,
    exact: bool,
    next_cursor: str | None,
    query: Mapping[str, object],
    data_version: int,
    all_words: int | None = None,
    facets: Mapping[Any, object] | None = None,
    meta: Mapping[str, object] | None = None,
) -> web.Response:
    """Make the answer of a list; a search also says how many of its hits have all words, and counts and remarks."""
    relation: Literal["eq", "gte"] = "eq" if exact else "gte"
    if all_words is None:
        page = ListPage(entries, len(entries), PageTotal(total, relation), next_cursor, query, data_version)
    else:
        more = (facets or UNSET, meta or UNSET)
        counted = HitTotal(total, relation, all_words)
        page = SearchPage(entries, len(entries), counted, next_cursor, query, data_version, *more)
    body = _ENCODER.encode(page)
    return web.Response(body=body, content_type="application/json", headers={"Cache-Control": CACHE_CONTROL})


Row = TypeVar("Row")


class Paginator:
    """Responds with pages of lists, by key: a deep page costs no more. A cursor is bound to its list and query."""

    def __init__(self, cursors: CursorSigner, data_version: Callable[[], int]) -> None:
        self._cursors = cursors
        self._data_version = data_version

    async def answer(
        self,
        kind: str,
        query: Mapping[str, object],
        cursor: str | None,
        find: Callable[..., Awaitable[tuple[Sequence[Row], int]]],
        entry: Callable[[Row], object],
        *key: Callable[[Row], object],
        bound: Mapping[str, object] | None = None,
    ) -> web.Response:
        """Answer with the page after the cursor, which is bound to `bound`, else to the query. Raises InvalidCursor.

        `find` gets the values of `key` of the last row before the page, all None for the first page, and returns rows,
        one more than `query["limit"]` where there are more, and how many there are in all.
        """
        after: Sequence[object] = [None] * len(key)
        bound = query if bound is None else bound
        if cursor is not None:
            after = self._cursors.open(kind, bound, cursor)
            if len(after) != len(key):
                raise InvalidCursor
        rows, total = await find(*after)
        limit = query["limit"]
        assert isinstance(limit, int)
        page = rows[:limit]
        more = len(rows) > len(page)
        return envelope(
            [entry(row) for row in page],
            total=total,
            exact=True,
            next_cursor=self._cursors.seal(kind, bound, [part(page[-1]) for part in key]) if more else None,
            query=query,
            data_version=self._data_version(),
        )
