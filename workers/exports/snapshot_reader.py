"""One part's reading: a transaction in the export's snapshot, rows by COPY.

By asyncpg: its COPY hands over what has arrived in one piece, where libpq hands over row by row, which takes more time
than everything else that is done with them.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, Self

import asyncpg

from shared.errors import ItemIndexError

_CONNECT_SECONDS = 5
_LOOK_SECONDS = 0.2
_PIECE_BYTES = 4 << 20


class SnapshotGone(ItemIndexError):
    """The transaction that held the export's snapshot has ended: nothing more can be read of it."""


class Reading:
    """Reads one snapshot for as long as the block lasts. `check` is called a few times a second and may raise."""

    def __init__(self, url: str, snapshot: str, check: Callable[[], None]) -> None:
        self._url = url
        self._snapshot = snapshot
        self._check = check

    async def __aenter__(self) -> Self:
        settings = {"application_name": "itemindex-export", "TimeZone": "UTC", "jit": "off"}
        self._connection = await asyncpg.connect(self._url, timeout=_CONNECT_SECONDS, server_settings=settings)
        try:
            await self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            await self._connection.execute(f"SET TRANSACTION SNAPSHOT '{self._snapshot}'")
        except asyncpg.PostgresError as error:
            self._connection.terminate()
            if isinstance(error, asyncpg.InvalidParameterValueError | asyncpg.UndefinedObjectError):
                raise SnapshotGone(self._snapshot) from error
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._connection.terminate()  # read only: there is nothing to end in order

    async def rows(self, query: str, *arguments: Any) -> list[Any]:
        """Return all rows of a small query."""
        return list(await self._connection.fetch(query, *arguments))

    async def copy(
        self, query: str, arguments: list[Any], format: Literal["csv", "binary"], take: Callable[[bytes], None]
    ) -> None:
        """Hand over what a query's rows are as a COPY, in large pieces of whole rows; a slow taker slows the server."""
        held: list[bytes] = []
        size = 0

        async def gather(piece: bytes) -> None:
            nonlocal size
            held.append(piece)
            size += len(piece)
            if size >= _PIECE_BYTES:
                self._check()
                whole = b"".join(held)
                held.clear()
                size = 0
                take(whole)

        copying = asyncio.ensure_future(
            self._connection.copy_from_query(query, *arguments, output=gather, format=format)
        )
        try:
            while not (await asyncio.wait([copying], timeout=_LOOK_SECONDS))[0]:
                self._check()  # also while the server has not sent anything yet
        finally:
            if not copying.done():
                copying.cancel()
                await asyncio.wait([copying])
        await copying
        if held:
            take(b"".join(held))
