"""Rows and objects that a sweep cannot handle: it passes over them, so that one does not keep it from the others."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shared.telemetry import metrics
from shared.telemetry.log import Log, trace_of
from workers.jobs.outages import is_outage

_AGAIN_SECONDS = 600.0


def note_failed_row(subject: str, key: str, error: BaseException, log: Log) -> None:
    """Count and log what could not be handled. `key` is an id or an object's key, never what the row holds."""
    metrics.rows_set_aside.labels(subject).inc()
    log.error("row-set-aside", subject=subject, key=key, error=type(error).__name__, trace=trace_of(error))


class FailedRows:
    """The rows of one subject that failed lately. Each is tried again, counted and logged after `again_seconds`."""

    def __init__(
        self,
        subject: str,
        log: Log,
        is_outage: Callable[[Exception], bool] = is_outage,
        *,
        again_seconds: float = _AGAIN_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._subject = subject
        self._log = log
        self._is_outage = is_outage
        self._again_seconds = again_seconds
        self._clock = clock
        self._failed_at: dict[str, float] = {}
        metrics.begin_at_zero(metrics.rows_set_aside, [subject])

    @property
    def keys(self) -> list[str]:
        """The keys of the rows that a sweep passes over now."""
        since = self._clock() - self._again_seconds
        self._failed_at = {key: at for key, at in self._failed_at.items() if at > since}
        return list(self._failed_at)

    @contextmanager
    def handle(self, key: str) -> Iterator[None]:
        """Handle one row in the block: its fault ends the block and sets the row aside, an outage is raised."""
        try:
            yield
        except Exception as error:
            if self._is_outage(error):
                raise
            self._failed_at[key] = self._clock()
            note_failed_row(self._subject, key, error, self._log)
