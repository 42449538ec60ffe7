"""Work that an edge does beside its requests for as long as it runs."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from shared.telemetry.log import Log, trace_of


class Background:
    """Runs `work` again and again. An unexpected error is logged and ends one run, not all later ones."""

    def __init__(self, work: Callable[[], Awaitable[None]], log: Log, retry_seconds: float = 1.0) -> None:
        self._work = work
        self._log = log
        self._retry_seconds = retry_seconds
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """End it, also in the middle of a run, and wait for that."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while True:
            try:
                await self._work()
            # Without this work the edge would serve what is out of date.
            except (Exception, asyncio.CancelledError) as error:
                task = asyncio.current_task()
                if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
                    raise  # `stop`; otherwise something that the work waited for was cancelled
                self._log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))
                await asyncio.sleep(self._retry_seconds)
