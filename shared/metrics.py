"""Every metric of every part, declared once, with a sentence. Names follow the Prometheus conventions."""

from bisect import bisect_left
from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


def _counter(name: str, sentence: str, *labels: str) -> Counter:
    return Counter(f"itemindex_{name}", sentence, labels, registry=REGISTRY)


def _histogram(name: str, sentence: str, *labels: str, buckets: Sequence[float] = _SECONDS) -> Histogram:
    return Histogram(f"itemindex_{name}", sentence, labels, buckets=buckets, registry=REGISTRY)


def _gauge(name: str, sentence: str, *labels: str) -> Gauge:
    # Every relay tells the same of one table; the newest word counts.
    return Gauge(f"itemindex_{name}", sentence, labels, multiprocess_mode="mostrecent", registry=REGISTRY)


requests = _counter("requests", "Requests answered, by route and status.", "route", "status")
request_seconds = _histogram("request_seconds", "Time from a request's head to its answer.", "route")
quota_decisions = _counter(
    "quota_decisions", "Charges, by plan and outcome: taken, refused, repeated, refunded.", "plan", "outcome"
)
quota_unverified = _counter("quota_unverified", "Requests decided without the state store, by outcome.", "outcome")
record_reads = _counter("record_reads", "Records found, by where: memory, cache, database, absent.", "where")
store_errors = _counter("store_errors", "Calls to a store that failed or were late.", "store")
usage_lost = _counter("usage_lost", "Calls missing from the statistics of use: PostgreSQL was away for too long.")
jobs_relayed = _counter("jobs_relayed", "Jobs handed to the broker.", "kind")
jobs_finished = _counter("jobs_finished", "Jobs ended, by kind and state.", "kind", "state")
job_seconds = _histogram("job_seconds", "Time that a job's last attempt took.", "kind")
job_attempts = _histogram("job_attempts", "Attempts that an ended job took.", "kind", buckets=(1, 2, 3, 4, 5))
jobs_refunded = _counter("jobs_refunded", "Units given back for jobs without a result.")
queue_depth = _gauge("queue_depth", "Jobs that are queued or running, by queue and state.", "queue", "state")
queue_age_seconds = _gauge("queue_age_seconds", "How long the oldest queued job of a queue waits.", "queue")
data_version = Gauge(
    "itemindex_data_version", "The data_version that is served.", multiprocess_mode="min", registry=REGISTRY
)


class Tally:
    """Durations counted in plain integers, for a path where one histogram call per request would be felt."""

    __slots__ = ("_buckets", "_sum", "count")

    def __init__(self) -> None:
        self._buckets = [0] * (len(_SECONDS) + 1)
        self._sum = 0.0
        self.count = 0

    def note(self, seconds: float) -> None:
        """Count one duration."""
        self._buckets[bisect_left(_SECONDS, seconds)] += 1
        self._sum += seconds
        self.count += 1

    def flush_into(self, histogram: Histogram) -> None:
        """Add what was counted to a histogram's child, by its private parts: it has no way to take many at once."""
        for bucket, number in zip(histogram._buckets, self._buckets, strict=True):
            if number:
                bucket.inc(number)
        histogram._sum.inc(self._sum)
        self.__init__()  # type: ignore[misc]  # every field begins anew
