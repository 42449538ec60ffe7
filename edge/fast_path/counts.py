"""Counts of the fast path: plain numbers for each response, written into the real metrics once a second."""

import asyncio
from collections import defaultdict

from edge.quota.policy import Decision, outcome_name
from shared.telemetry import metrics

_FLUSH_SECONDS = 1.0


class Counts:
    """The counts of one process since the last flush."""

    def __init__(self) -> None:
        self._histograms: defaultdict[tuple[str, int], metrics.LocalHistogram] = defaultdict(metrics.LocalHistogram)
        self._outcomes: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._reads: defaultdict[str, int] = defaultdict(int)
        self._timer: asyncio.TimerHandle | None = None

    def note(self, route: str, decision: Decision, status: int, seconds: float, *, refunded: bool) -> None:
        """Count one response and its charge; `refunded` counts that too, as the ordinary way does for a 304."""
        self._histograms[route, status].note(seconds)
        if decision.verified:
            self._outcomes[decision.plan.name, outcome_name(decision.outcome)] += 1
            if refunded:
                self._outcomes[decision.plan.name, "refunded"] += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self.flush)

    def read(self, source: str) -> None:
        """Count what one answer was read from: `record`, `identifier`, `answer`. A refused call reads nothing."""
        self._reads[source] += 1

    def flush(self) -> None:
        """Add what was counted to the metrics."""
        self._timer = None
        reads = self._reads
        metrics.record_reads.labels("memory").inc(reads["record"] + reads["identifier"])
        metrics.identifier_reads.labels("memory").inc(reads["identifier"])
        metrics.answers_reused.inc(reads["answer"])
        for (route, status), tally in self._histograms.items():
            metrics.requests.labels(route, status).inc(tally.count)
            tally.flush_into(metrics.request_seconds.labels(route))
        for (plan, outcome), number in self._outcomes.items():
            metrics.quota_decisions.labels(plan, outcome).inc(number)
        for counted in (self._histograms, self._outcomes, self._reads):
            counted.clear()
