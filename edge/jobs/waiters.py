"""Wakes the requests that wait for a change of a job."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class JobWaiters:
    """Wakes the waiters of a job when its row changes. After a lost notification they notice at their next poll."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self.closing = asyncio.Event()

    def wake(self, job_id: str) -> None:
        """Wake all that wait for this job; an empty id wakes all of every job, as notifications may have been lost."""
        for name in [job_id] if job_id else list(self._waiting):
            for event in self._waiting.get(name, ()):
                event.set()

    def close(self) -> None:
        """Let every waiter finish: the process stops."""
        self.closing.set()
        self.wake("")

    @contextmanager
    def subscribe(self, job_id: str) -> Iterator[asyncio.Event]:
        """Return an event that is set with each change of the job for as long as the block lasts."""
        event = asyncio.Event()
        self._waiting.setdefault(job_id, set()).add(event)
        try:
            yield event
        finally:
            events = self._waiting[job_id]
            events.discard(event)
            if not events:
                del self._waiting[job_id]


async def wait_for_change(event: asyncio.Event, seconds: float) -> bool:
    """Wait up to `seconds` for the next change; return whether there was one."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    event.clear()
    return True
