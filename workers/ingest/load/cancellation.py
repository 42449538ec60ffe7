"""Ends a load that is no longer wanted within seconds, in whatever step it is."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg

from shared.db.connect import Connection

_LOOK_SECONDS = 1.0


@contextmanager
def cancel_unless(wanted: Callable[[], None], connection: Connection) -> Iterator[Callable[[], None]]:
    """Call `wanted` every second beside the block; once it raises, the block ends with what it raised.

    A statement that the connection waits for is cancelled. Yields what long computations call between their steps. A
    block that ends without an error has succeeded, whatever is wanted by then.
    """
    raised: list[BaseException] = []
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_SECONDS):
            if not raised:
                try:
                    wanted()
                except BaseException as error:  # noqa: BLE001 - whatever it is is raised where the block waits
                    raised.append(error)
            if raised:  # again and again: the connection may have been between two statements
                with suppress(psycopg.Error):
                    connection.cancel_safe()

    def check() -> None:
        if raised:
            raise raised[0]

    thread = threading.Thread(target=look, name="cancellation", daemon=True)
    thread.start()
    try:
        yield check
    except BaseException as error:
        if raised and error is not raised[0]:
            raise raised[0] from error
        raise
    finally:
        ended.set()
        thread.join()
