"""Threads that answer questions of the event loop.

Executors make two futures with locks for each question, and hand each result over in three steps: a tenth of a search.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

Answer = TypeVar("Answer")


class _Waiting(NamedTuple):
    """A question with the future of its answer, and the loop of that."""

    question: Callable[[], Any]
    answered: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class AnsweringThreads:
    """A number of threads, and the questions that wait for one of them. They start with the first question."""

    def __init__(self, count: int, name: str) -> None:
        self._waiting: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._names = [f"{name}-{n}" for n in range(count)]
        self._threads: list[Thread] = []
        self._closed = False

    async def ask(self, question: Callable[[], Answer]) -> Answer:
        """Return what a function returns in a thread. Raises what it raises, and RuntimeError once they are closed.

        A question whose caller no longer waits is not begun.
        """
        if self._closed:
            raise RuntimeError("no questions are answered any more")
        if not self._threads:
            self._threads = [Thread(target=self._answer_all, name=name, daemon=True) for name in self._names]
            for thread in self._threads:
                thread.start()
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Answer] = loop.create_future()
        self._waiting.put(_Waiting(question, answered, loop))
        return await answered

    def close(self) -> None:
        """Cancel the questions that wait, and wait for those that were begun."""
        self._closed = True
        with suppress(Empty):
            while waiting := self._waiting.get_nowait():
                with suppress(RuntimeError):  # its loop has ended
                    waiting.loop.call_soon_threadsafe(waiting.answered.cancel)
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def _answer_all(self) -> None:
        while waiting := self._waiting.get():
            question, answered, loop = waiting
            if answered.done():
                continue
            try:
                given, error = question(), None
            except Exception as raised:  # noqa: BLE001 - the caller gets it
                given, error = None, raised
            with suppress(RuntimeError):  # the loop has ended: no caller waits
                loop.call_soon_threadsafe(_settle, answered, given, error)


def _settle(answered: asyncio.Future[Any], given: Any, error: Exception | None) -> None:
    if answered.done():  # its caller no longer waits
        return
    if error is None:
        answered.set_result(given)
    else:
        answered.set_exception(error)
