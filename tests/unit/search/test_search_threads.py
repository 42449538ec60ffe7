"""Questions of the event loop are answered in threads: results and errors come back, and nothing waits for ever."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from edge.search.engine import AnsweringThreads


@pytest.fixture
def one() -> Iterator[AnsweringThreads]:
    """A single thread."""
    threads = AnsweringThreads(1, "tests")
    yield threads
    threads.close()


async def test_results_and_errors_come_back_from_another_thread(one: AnsweringThreads) -> None:
    assert await one.ask(threading.get_ident) != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        await one.ask(lambda: 1 // 0)
    assert await asyncio.gather(*(one.ask(lambda n=n: n) for n in range(50))) == list(range(50))  # type: ignore[misc]


async def test_a_question_that_no_one_waits_for_is_not_begun_and_its_late_answer_is_dropped(
    one: AnsweringThreads,
) -> None:
    begun, proceed, asked = threading.Event(), threading.Event(), []

    def slow() -> None:
        begun.set()
        assert proceed.wait(30)

    running, waiting = asyncio.create_task(one.ask(slow)), asyncio.create_task(one.ask(lambda: asked.append(1)))
    assert await asyncio.to_thread(begun.wait, 30)
    for task in (running, waiting):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    proceed.set()
    assert await one.ask(lambda: 2) == 2
    assert asked == []


async def test_closed_they_finish_what_was_begun_cancel_what_waits_and_take_no_more(one: AnsweringThreads) -> None:
    begun, proceed = threading.Event(), threading.Event()

    def slow() -> int:
        begun.set()
        assert proceed.wait(30)
        return 1

    running, waiting = asyncio.create_task(one.ask(slow)), asyncio.create_task(one.ask(lambda: 2))
    assert await asyncio.to_thread(begun.wait, 30)
    closing = asyncio.create_task(asyncio.to_thread(one.close))
    with pytest.raises(asyncio.CancelledError):
        await waiting
    proceed.set()
    assert await running == 1
    await closing
    with pytest.raises(RuntimeError):
        await one.ask(lambda: 3)
