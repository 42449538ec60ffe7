"""Counts of the fast path: plain numbers for each response, written into the real metrics once a second."""

import asyncio
from collections import defaultdict

from edge.quota.policy import Decision, outcome_name
from shared.telemetry import metrics

_FLUSH_SECONDS = 1.0
_Case = tuple[str, int, str, int | None, bool, str | None]
"""Route, status, plan, the limiter's outcome (None where it was not asked), whether refunded, what memory gave."""


class Counts:
    """The counts of one process since the last flush."""

    def __init__(self) -> None:
        self._histograms: defaultdict[_Case, metrics.LocalHistogram] = defaultdict(metrics.LocalHistogram)
        self._timer: asyncio.TimerHandle | None = None

    def note(
        self, route: str, decision: Decision, status: int, seconds: float, *, refunded: bool, source: str | None
    ) -> None:
        """Count one response, its charge, and what memory gave for it: `record`, `identifier`, `answer`, or nothing.

        `refunded` counts that too, as the ordinary way does for a 304.
        """
        outcome = decision.outcome if decision.verified else None
        self._histograms[route, status, decision.plan.name, outcome, refunded, source].note(seconds)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Add what was counted to the metrics."""
        self._timer = None
        for (route, status, plan, outcome, refunded, source), tally in self._histograms.items():
            if source == "answer":
                metrics.answers_reused.inc(tally.count)
            elif source is not None:
                metrics.record_reads.labels("memory").inc(tally.count)
            if source == "identifier":
                metrics.identifier_reads.labels("memory").inc(tally.count)
            metrics.requests.labels(route, status).inc(tally.count)
            if outcome is not None:
                metrics.quota_decisions.labels(plan, outcome_name(outcome)).inc(tally.count)
                if refunded:
                    metrics.quota_decisions.labels(plan, "refunded").inc(tally.count)
            tally.flush_into(metrics.request_seconds.labels(route))
        self._histograms.clear()
