"""A drill's work beside the watch over what it drills."""

import threading
from collections.abc import Callable


def run_while(watch: Callable[[Callable[[], bool]], None], work: Callable[[], None]) -> None:
    """Do the work in a thread of its own while `watch(over)` keeps the parts alive in this one; raise what it raised.

    Not the other way round: the parts are children of this thread and would die with the one that revives them.
    """
    failure: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again below, in the thread that can stop the parts
            failure.append(error)

    working = threading.Thread(target=guarded, name="drill", daemon=True)
    working.start()
    watch(lambda: not working.is_alive())
    if failure:
        raise failure[0]
