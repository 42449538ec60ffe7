"""The steps of the dispatcher: one that fails is counted and logged, and the others run all the same."""

from collections.abc import Callable

from shared.db.connect import unavailable
from shared.telemetry import metrics
from shared.telemetry.log import Log, trace_of
from workers.jobs.outages import store_at_fault

SWEEP = ("settle-clock", "measure", "requeue", "refund", "dispatch", "deliver")
"""The steps of each sweep."""


class Steps:
    """Runs steps. An outage of PostgreSQL is raised, because every other step meets it too."""

    def __init__(self, log: Log, names: tuple[str, ...]) -> None:
        self._log = log
        metrics.begin_at_zero(metrics.dispatcher_failures, names)

    def run(self, name: str, act: Callable[[], object]) -> bool:
        """Run one step; return whether it ended without an error."""
        try:
            act()
        except Exception as error:
            if unavailable(error):
                raise
            store = store_at_fault(error)
            if store is not None:
                metrics.store_errors.labels(store).inc()
                return False
            metrics.dispatcher_failures.labels(name).inc()
            self._log.error("step-failed", step=name, error=type(error).__name__, trace=trace_of(error))
            return False
        return True
