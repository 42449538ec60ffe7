"""Every metric of every part, declared once, with a sentence. Names follow the Prometheus conventions."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from shared.processes import is_alive

REGISTRY = CollectorRegistry()
EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"
_PID = re.compile(r"_(\d+)\Z")
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


def _counter(name: str, sentence: str, *labels: str) -> Counter:
    return Counter(f"itemindex_{name}", sentence, labels, registry=REGISTRY)


def _histogram(name: str, sentence: str, *labels: str, buckets: Sequence[float] = _SECONDS) -> Histogram:
    return Histogram(f"itemindex_{name}", sentence, labels, buckets=buckets, registry=REGISTRY)


def _gauge(
    name: str, sentence: str, *labels: str, over: Literal["mostrecent", "livesum", "livemin", "max"] = "mostrecent"
) -> Gauge:
    # `over`: how a host's processes make one number. Of one table's figures from several dispatchers the newest counts.
    return Gauge(f"itemindex_{name}", sentence, labels, multiprocess_mode=over, registry=REGISTRY)


# A gauge whose least value counts needs a label: without one, every process that imports this file would begin with 0.

# Responses to callers.
requests = _counter("requests", "Requests answered, by route and status.", "route", "status")
request_seconds = _histogram("request_seconds", "Time from a request's headers to its response.", "route")
requests_in_flight = _gauge("requests_in_flight", "Requests in progress outside the fast path.", over="livesum")
quota_decisions = _counter(
    "quota_decisions",
    "Charges, by plan and outcome: taken, refused, repeated, refunded, not-refunded.",
    "plan",
    "outcome",
)
quota_degraded = _counter("quota_degraded", "Requests decided without the state store, by outcome.", "outcome")
usage_lost = _counter(
    "usage_lost", "Calls missing from usage statistics because PostgreSQL was unavailable for too long."
)
request_log_lost = _counter(
    "request_log_lost", "Calls missing from the request log: too many at once, or no cache store."
)

# Where answers come from.
record_reads = _counter("record_reads", "Records found, by where: memory, cache, database, absent.", "where")
identifier_reads = _counter(
    "identifier_reads",
    "Identifiers resolved, by where their items were found: memory, cache, database, absent.",
    "where",
)
cache_unreadable = _counter(
    "cache_unreadable",
    "Unreadable entries of the cache store, by kind; PostgreSQL has their contents, except for logged calls.",
    "kind",
)
answers_reused = _counter("answers_reused", "Responses served from the answer cache.")
coalesced_reads = _counter("coalesced_reads", "Reads that shared the query of an equal concurrent read.", "what")
report_answers = _counter(
    "report_answers", "Heavy GETs, by kind and how: stored, made, accepted (202), failed.", "kind", "how"
)
result_bytes_sent = _counter("result_bytes_sent", "Bytes of results and exports sent to callers.")
results_missing = _counter("results_missing", "Requests for published bytes missing from the results store.")
results_lost = _counter("results_lost", "Results that stayed missing, expired and are refunded.", "kind")
load_rejects = _gauge(
    "load_rejects", "Rejects of loads, by whether their rows are kept or were omitted beyond the limit.", "state"
)
loads_listed = _gauge("loads_listed", "Loads listed, and file names of loads kept.", "what")
feeds = _gauge("feeds", "Feeds that are not paused, by whether their last read failed: active, failing.", "state")
backup_receivers = _gauge(
    "backup_receivers",
    "Receivers of PostgreSQL's log for backups, by whether they are connected: connected, gone.",
    "state",
)
backup_received_seconds = _gauge(
    "backup_received_seconds", "Latest point in time to which PostgreSQL can be restored (Unix time).", over="max"
)
backup_taken_seconds = _gauge("backup_taken_seconds", "Time of the newest base backup (Unix time).", over="max")
backup_restored_seconds = _gauge(
    "backup_restored_seconds", "When a backup was last restored as a test (Unix time).", over="max"
)
feeds_overdue_seconds = _gauge("feeds_overdue_seconds", "How long the most overdue feed has been due.")
data_version = _gauge(
    "data_version", "The data_version that every edge serves, or a newer one.", "part", over="livemin"
)

# Stores.
store_emptied = _counter("store_emptied", "Times an edge found that a store had lost its contents.", "store")
store_errors = _counter("store_errors", "Calls to a store that failed or timed out.", "store")
store_delayed_commands = _counter(
    "store_delayed_commands", "Calls that waited for a store's cluster: a failover or a migrating slot.", "store"
)
store_up = _gauge(
    "store_up",
    "1 where every process that needs the store reaches it and gets its notices, and can send to the broker; else 0.",
    "store",
    over="livemin",
)
certificate_expires_seconds = _gauge(
    "certificate_expires_seconds",
    "When the certificate that callers of BASE_URL see expires (Unix time), by host.",
    "host",
    over="livemin",
)
store_seconds = _histogram(
    "store_seconds",
    "Round trip to a store: of each query for PostgreSQL, of one probe a second for the others.",
    "store",
)
pool_connections = _gauge(
    "pool_connections", "Connections to PostgreSQL, by state: busy, idle.", "state", over="livesum"
)
pool_connections_max = _gauge(
    "pool_connections_max", "Connections to PostgreSQL that the pools may open.", over="livesum"
)

# Jobs.
messages_refused = _counter(
    "messages_refused", "Broker messages that a worker could not read, by reason; no job is lost.", "reason"
)
worker_processes_killed = _counter(
    "worker_processes_killed", "Processes of a worker's pool that were blocked and were killed."
)
broker_messages = _gauge("broker_messages", "Messages that no worker has taken, by queue.", "queue")
jobs_dispatched = _counter("jobs_dispatched", "Jobs handed to the broker.", "kind")
jobs_finished = _counter("jobs_finished", "Jobs ended, by kind and state.", "kind", "state")
jobs_lost = _counter(
    "jobs_lost", "Attempts that lost their lease: the worker died, hung, or the job was cancelled.", "kind"
)
job_seconds = _histogram("job_seconds", "Duration of a job's last attempt.", "kind")
job_attempts = _histogram("job_attempts", "Number of attempts of an ended job.", "kind", buckets=(1, 2, 3, 4, 5))
jobs_refunded = _counter("jobs_refunded", "Units refunded for jobs without a result.")
replica_reads = _counter(
    "replica_reads",
    "Reports by where they read: replica; or primary, because the replica was behind, away, in conflict, or rested.",
    "outcome",
)
result_bytes_made = _counter("result_bytes_made", "Bytes of published results, by kind.", "kind")
queue_depth = _gauge("queue_depth", "Jobs that are queued or running, by queue and state.", "queue", "state")
queue_age_seconds = _gauge("queue_age_seconds", "How long the oldest queued job of a queue waits.", "queue")
dispatcher_heartbeat_seconds = _gauge(
    "dispatcher_heartbeat_seconds", "When a dispatcher last looked at the jobs (Unix time).", over="max"
)
dispatcher_failures = _counter(
    "dispatcher_failures", "Steps of the dispatcher and of its maintenance that failed by no outage, by step.", "step"
)
maintenance_seconds = _gauge(
    "maintenance_seconds",
    "When a dispatcher's maintenance was last done with all that was due (Unix time).",
    over="max",
)
rows_set_aside = _counter(
    "rows_set_aside", "Rows and objects that a sweep could not handle and passed over, by subject.", "subject"
)

# Processes.
processes = _gauge("processes", "Processes that run, by part and revision.", "part", "revision", over="livesum")
loop_lag_seconds = _histogram("loop_lag_seconds", "Delay of an edge's event loop, measured four times a second.")
access_lines_lost = _counter("access_lines_lost", "Access lines lost because the disk or pipe was full.")
log_lines_lost = _counter("log_lines_lost", "Log lines of an edge lost because the disk or pipe was full.")
spans_sent = _counter("spans_sent", "Spans accepted by the collector.")
spans_lost = _counter("spans_lost", "Spans lost because the collector was slow or unavailable.")


def begin_at_zero(counter: Counter, *labels: Iterable[str]) -> None:
    """Make the series of all combinations of these labels: Prometheus sees no increase in one that begins at 1."""
    for values in product(*labels):
        counter.labels(*values)


def exposition(directory: Path | None) -> bytes:
    """Return all metrics in Prometheus' text format: of all processes that write into the directory, or of this one."""
    if directory is None:
        return generate_latest(REGISTRY)
    _remove_stale_gauges(directory)
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(directory))  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def _remove_stale_gauges(directory: Path) -> None:
    # A gauge summed over running processes must not count one that was killed; its counters stay, they happened.
    for path in directory.glob("gauge_live*.db"):
        pid = _PID.search(path.stem)
        if pid is not None and not is_alive(int(pid[1])):
            path.unlink(missing_ok=True)


class LocalHistogram:
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
