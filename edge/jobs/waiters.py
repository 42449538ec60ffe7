"""Who waits for which job in this process: woken by PostgreSQL's notices, one look at the row for each."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class JobWaiters:
    """Wakes the waiters of a job when its row changes. A lost notice costs them one look's pause, no more."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self.closing = asyncio.Event()

    def tell(self, job_id: str) -> None:
        """Wake whoever waits for this job; an empty id wakes all, after notices may have been lost."""
        for name in [job_id] if job_id else list(self._waiting):
            for event in self._waiting.get(name, ()):
                event.set()

    def close(self) -> None:
        """Let everyone who waits come to an end: the process stops."""
        self.closing.set()
        self.tell("")

    @contextmanager
    def on(self, job_id: str) -> Iterator[asyncio.Event]:
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


async def changed(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the next change, but not longer; tell whether one came."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    event.clear()
    return True
