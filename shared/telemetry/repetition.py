"""Work that a thread repeats for as long as its process lives."""

import threading
import time
from collections.abc import Callable

from shared.telemetry.log import Log, trace_of


def repeat_in_thread(name: str, act: Callable[[], object], pause_seconds: float, log: Log) -> None:
    """Repeat `act` in a thread. What it raises is logged, once until it succeeds again, and does not end the thread."""

    def repeat() -> None:
        failing = False
        while True:
            try:
                act()
                failing = False
            except Exception as error:  # noqa: BLE001 - nobody would notice that the thread has ended
                if not failing:
                    log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))
                failing = True
            time.sleep(pause_seconds)

    threading.Thread(target=repeat, name=name, daemon=True).start()
