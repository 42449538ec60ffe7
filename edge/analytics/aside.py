"""Where work on the observations of one item is done: at once while they are few, else in a thread."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")
# A few milliseconds of work. A thread costs as much as the work on some hundred rows, and years of an item's
# observations would delay all other callers.
_ROWS_AT_ONCE_MAX = 500


async def aside(rows: int, work: Callable[..., Result], *arguments: Any) -> Result:
    """Return what `work` makes of so many rows."""
    if rows <= _ROWS_AT_ONCE_MAX:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)
