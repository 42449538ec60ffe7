"""Values that a thread makes when they are first requested, and that later requests share."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class MadeOnce(Generic[T]):
    """A value that a thread makes when it is first requested; concurrent requests wait for the same one.

    Made for each request, or on the event loop, a document would keep the other callers of the process waiting.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._task: asyncio.Task[T] | None = None

    async def get(self) -> T:
        """Return the value. A caller that disconnects does not stop the thread; one that failed is begun anew."""
        if self._task is None or (self._task.done() and self._task.exception() is not None):
            self._task = asyncio.create_task(asyncio.to_thread(self._make))
        return await asyncio.shield(self._task)


class MadeByKey(Generic[T]):
    """Values that threads make, each when its key is first requested; the `kept_max` requested last are kept."""

    def __init__(self, kept_max: int) -> None:
        self._kept_max = kept_max
        self._kept: OrderedDict[Hashable, MadeOnce[T]] = OrderedDict()

    async def get(self, key: Hashable, prepare: Callable[[], Awaitable[Callable[[], T]]]) -> T:
        """Return the value of a key; where it is not kept, `prepare` reads what it is made of and returns its maker."""
        if key not in self._kept:
            self._kept.setdefault(key, MadeOnce(await prepare()))  # a concurrent request may have been faster
            if len(self._kept) > self._kept_max:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return await self._kept[key].get()
