"""Lists in pages, by key and not by offset: a page costs the same however deep it is, and none overlaps another."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from aiohttp import web

from edge.http.cursors import CursorSigner
from edge.http.envelope import envelope
from shared.errors import InvalidCursor

Row = TypeVar("Row")


class Paginator:
    """Responds with pages of lists in one envelope; each cursor is bound to its list and query."""

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
    ) -> web.Response:
        """Answer with the page after the cursor. Raises InvalidCursor.

        `find` gets the values of `key` of the last row before the page, all None for the first page, and returns rows,
        one more than `query["limit"]` where there are more, and how many there are in all.
        """
        after: list[Any] = [None] * len(key)
        if cursor is not None:
            after = self._cursors.open(kind, query, cursor)
            if len(after) != len(key):
                raise InvalidCursor
        rows, total = await find(*after)
        page = rows[: query["limit"]]
        more = len(rows) > len(page)
        return envelope(
            [entry(row) for row in page],
            total=total,
            exact=True,
            next_cursor=self._cursors.seal(kind, query, [part(page[-1]) for part in key]) if more else None,
            query=query,
            data_version=self._data_version(),
        )
