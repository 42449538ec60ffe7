"""Making the next batches in a thread while the server takes the last one: both then have a core."""

import itertools
import queue
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")
_READ_AHEAD = 4
_STOP_SECONDS = 0.1
_CHECK_SECONDS = 1.0
_ENDING_SECONDS = 5.0
# The thread that sends to the server needs the interpreter for moments only: with the usual 5 ms it waits longer
# than it sends.
_SWITCH_SECONDS = 0.0005


def alternate(first: Iterator[T], second: Iterator[T]) -> Iterator[T]:
    """Yield what is made of two kinds in turn, the first of the first kind, and then the rest of the longer one."""
    for item in first:
        yield item
        yield from itertools.islice(second, 1)
    yield from second


def prefetch(made: Iterator[T], check: Callable[[], None] = lambda: None) -> Generator[T, None, None]:
    """Yield what is made, while a thread makes the next few.

    `check` is called about every second that nothing is ready, and raises where no more is wanted. The thread ends when
    the generator is closed, or soon after: a reader that parses a whole sheet at once cannot be interrupted.
    """
    switch_seconds = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    ready: queue.Queue[Any] = queue.Queue(_READ_AHEAD)
    stop = threading.Event()

    def hand_over(one: object) -> bool:
        """Put what is next into the queue; False when the load has ended, which a full queue must not hide."""
        while not stop.is_set():
            with suppress(queue.Full):
                ready.put(one, timeout=_STOP_SECONDS)
                return True
        return False

    def work() -> None:
        end: BaseException | None = None
        try:
            for item in made:
                if not hand_over(item):
                    return
        except BaseException as error:  # noqa: BLE001 - whatever it is is raised where the values are used
            end = error
        hand_over(end)

    thread = threading.Thread(target=work, name="read-ahead", daemon=True)
    thread.start()
    try:
        while True:
            try:
                one = ready.get(timeout=_CHECK_SECONDS)
            except queue.Empty:
                check()
                continue
            if one is None:
                return
            if isinstance(one, BaseException):
                raise one
            yield one
    finally:
        stop.set()
        sys.setswitchinterval(switch_seconds)
        thread.join(_ENDING_SECONDS)
