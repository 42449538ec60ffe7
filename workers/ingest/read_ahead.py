"""Making the next batches in a thread while the server takes the last one: both then have a core."""

import queue
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")
_READ_AHEAD = 4
_STOP_SECONDS = 0.1
# The thread that sends to the server needs the interpreter for moments only: with the usual 5 ms it waits longer
# than it sends.
_SWITCH_SECONDS = 0.0005


def alternating(first: Iterator[T], second: Iterator[T]) -> Iterator[T]:
    """Yield what is made of two kinds in turn, the first of the first kind, and then the rest of the longer one."""
    for one in first:
        yield one
        yield from islice(second, 1)
    yield from second


def ahead(made: Iterator[T]) -> Generator[T, None, None]:
    """Yield what is made, while a thread makes the next few. The thread ends when the generator is closed."""
    switch_seconds = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    ready: queue.Queue[Any] = queue.Queue(_READ_AHEAD)
    stop = threading.Event()

    def hand_over(one: Any) -> bool:
        """Put what is next into the queue; False when the load has ended, which a full queue must not hide."""
        while not stop.is_set():
            with suppress(queue.Full):
                ready.put(one, timeout=_STOP_SECONDS)
                return True
        return False

    def work() -> None:
        end: BaseException | None = None
        try:
            for one in made:
                if not hand_over(one):
                    return
        except BaseException as error:  # noqa: BLE001 - whatever it is is raised where the values are used
            end = error
        hand_over(end)

    thread = threading.Thread(target=work, name="read-ahead", daemon=True)
    thread.start()
    try:
        while (one := ready.get()) is not None:
            if isinstance(one, BaseException):
                raise one
            yield one
    finally:
        stop.set()
        sys.setswitchinterval(switch_seconds)
        thread.join()
