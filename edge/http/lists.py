"""Lists: one envelope for all (contract, section 3), pages by key, and the cursors between them."""

import base64
import binascii
import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec
from aiohttp import web
from marshmallow import Schema, fields, validate
from msgspec import Struct

from edge.http.json import CACHE_CONTROL
from edge.http.parameters import with_members
from shared.errors import InvalidCursor
from shared.printable import base64url

_ENCODER = msgspec.json.Encoder()


class PageTotal(Struct):
    """Number of entries; exact (`eq`) or a lower bound (`gte`)."""

    value: int
    relation: Literal["eq", "gte"]


class SearchTotal(PageTotal):
    """Number of hits, in total and with all words."""

    all_words: int


class Page(Struct):
    """Base of every list's answer; a list names the type of its `data`."""

    data: Sequence[Any]
    count: int
    total: PageTotal
    next_cursor: str | None
    query: Mapping[str, Any]
    data_version: int


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


_TAG_BYTES = 12


class CursorSigner:
    """Seals cursors, which never expire, under the first of the secrets; opens those of every one."""

    def __init__(self, *secrets: str) -> None:
        self._keyed = [hmac.new(secret.encode(), digestmod="sha256") for secret in secrets]

    def seal(self, kind: str, query: Mapping[str, Any], position: list[Any]) -> str:
        """Return the cursor of the page after `position` in this query."""
        packed = msgspec.msgpack.encode(position)
        return base64url(self._tag(self._keyed[0], kind, query, packed) + packed)

    def open(self, kind: str, query: Mapping[str, Any], cursor: str) -> list[Any]:
        """Return the position. Raises InvalidCursor when it was changed, or sealed for another kind or query."""
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            tag, packed = raw[:_TAG_BYTES], raw[_TAG_BYTES:]
            tags = [self._tag(keyed, kind, query, packed) for keyed in self._keyed]
            if not any(hmac.compare_digest(tag, expected) for expected in tags):
                raise InvalidCursor
            position: list[Any] = msgspec.msgpack.decode(packed, type=list)
        except (binascii.Error, ValueError, msgspec.DecodeError):
            raise InvalidCursor from None
        return position

    def _tag(self, keyed: hmac.HMAC, kind: str, query: Mapping[str, Any], packed: bytes) -> bytes:
        bound = msgspec.json.encode([kind, sorted(query.items())])
        # A copy lets no other thread run for so few bytes, as hmac.digest does: a search would keep the lock for long.
        tagged = keyed.copy()
        tagged.update(len(bound).to_bytes(4) + bound + packed)
        return tagged.digest()[:_TAG_BYTES]


Row = TypeVar("Row")


class Paginator:
    """Responds with pages of lists, by key: a deep page costs no more. A cursor is bound to its list and query."""

    def __init__(self, cursors: CursorSigner, data_version: Callable[[], int]) -> None:
        self._cursors = cursors
        self._data_version = data_version

    async def answer(
        self,
        kind: str,
        query: Mapping[str, Any],
        cursor: str | None,
        find: Callable[..., Awaitable[tuple[Sequence[Row], int]]],
        entry: Callable[[Row], Any],
        *key: Callable[[Row], Any],
        bound: Mapping[str, Any] | None = None,
    ) -> web.Response:
        """Answer with the page after the cursor, which is bound to `bound`, else to the query. Raises InvalidCursor.

        `find` gets the values of `key` of the last row before the page, all None for the first page, and returns rows,
        one more than `query["limit"]` where there are more, and how many there are in all.
        """
        after: list[Any] = [None] * len(key)
        bound = query if bound is None else bound
        if cursor is not None:
            after = self._cursors.open(kind, bound, cursor)
            if len(after) != len(key):
                raise InvalidCursor
        rows, total = await find(*after)
        page = rows[: query["limit"]]
        more = len(rows) > len(page)
        return envelope(
            [entry(row) for row in page],
            total=total,
            exact=True,
            next_cursor=self._cursors.seal(kind, bound, [part(page[-1]) for part in key]) if more else None,
            query=query,
            data_version=self._data_version(),
        )
