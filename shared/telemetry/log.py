"""JSON log lines: every event declared once, with a sentence."""

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import Protocol

from shared.clock import rfc3339, utc_now
from shared.printable import json_line
from shared.settings.checks import LOG_LEVELS

EVENTS: dict[str, str] = {
    "started": "A process is ready to work.",
    "draining": "A process accepts no new connections and finishes open requests.",
    "stopped": "A process has shut down cleanly.",
    "unhandled-error": "A request or background task met an unexpected error; the trace shows where.",
    "store-down": "A store does not respond; the outage policy is in force.",
    "store-back": "A store responds again.",
    "store-emptied": "The state store lost its contents: quotas restart and sessions have ended.",
    "store-moved": "Another node serves slots of a cluster: a failover, a slot migration, or the first connection.",
    "certificate-unread": "The certificate at BASE_URL could not be read, and why; its expiry is not monitored.",
    "data-version": "The process serves a new data_version.",
    "search-index": "The process uses a new search index.",
    "search-fetch": "The search index could not be fetched from the object store; searches use the previous one.",
    "accounts-changed": "A credential or plan changed, and its cached copy was dropped.",
    "signed-in": "A person signed in to the dashboard.",
    "sign-in-refused": "A sign-in to the dashboard failed, and why; the person can try again.",
    "sessions-ended": "Dashboard sessions of a person were ended: by the person, the identity provider or an operator.",
    "plan-notice-failed": "The billing system did not accept the notification of a plan request; it is sent again.",
    "job-dispatched": "A job was handed to the broker.",
    "message-refused": "A worker could not read a broker message and dropped it; jobs are sent again from their rows.",
    "job-started": "A worker claimed a job.",
    "job-attempt-failed": "An attempt at a job failed; its trace shows where. The job is retried, or fails.",
    "job-finished": "A job reached its final state.",
    "job-lost": "A worker lost its lease; another one has the job.",
    "clock-set-back": "PostgreSQL's clock was set back; jobs and webhooks postponed by it are due again.",
    "replica-passed-over": "A report read the primary: the replica lagged, was unavailable, or cancelled the query.",
    "job-refunded": "The units of a job were refunded.",
    "result-missing": "The store lacks the published bytes of a job; the dispatcher keeps looking for them.",
    "result-found": "The store has the missing bytes of a job again.",
    "result-lost": "The bytes of a job stayed missing: the job expired, and its orders are refunded.",
    "row-set-aside": "A row or object could not be handled; the sweep passed over it and tries it again later.",
    "step-failed": "A step of the dispatcher failed; the others continue, and it is tried again.",
    "results-swept": "Files of expired results were deleted.",
    "rows-swept": "Rows that had had their time were deleted, or results expired; the step says which.",
    "release-cut": "A release was cut: its files are stored and listed in its manifests.",
    "release-not-compared": "A file of the previous release is lost: this release is published without its changes.",
    "backup-taken": "A base backup of PostgreSQL is complete.",
    "backup-deleted": "An expired base backup was deleted.",
    "backup-restored": "The newest backup was restored as a test and read.",
    "backup-delayed": "PostgreSQL's log is not being received: current commits could not be restored.",
    "backup-failed": "A base backup could not be taken, deleted or tested; it is retried.",
    "feed-loaded": "Files of a feed were loaded; the state says whether they changed anything.",
    "feed-failed": "A feed could not be fetched or loaded, with the reason; it is retried after a pause.",
    "upload-not-stored": "A file uploaded in the dashboard could not be stored, and why; the person can try again.",
    "upload-served": "The requested action on an uploaded file was done or refused, as its state says.",
    "operator-act": "What an operator ordered in the dashboard was done or refused, as its state says.",
    "releases-swept": "Expired releases, or files that belong to no release, were deleted.",
    "library": "A line logged by a library, unchanged.",
}


# They quote the content of messages, which must not be logged: their lines keep the text without its values.
_QUOTING = ("celery", "kombu", "billiard")


class LineStream(Protocol):
    """Where lines go; an edge's does not wait for the disk or the pipe behind it."""

    def write(self, text: str, /) -> object: ...
    def flush(self) -> None: ...


class Log:
    """Writes one JSON line per event. Undeclared events raise, so that the list above stays the whole list."""

    def __init__(self, part: str, *, stream: LineStream | None = None, level: str = "info", **bound: object) -> None:
        self._part = part
        self._stream: LineStream = stream or sys.stderr
        self._level = level
        self._least = LOG_LEVELS[level]
        self._bound = bound

    def bind(self, **fields: object) -> "Log":
        """Return a log whose lines all carry these fields too: a request's or a job's ids, never a secret."""
        return Log(self._part, stream=self._stream, level=self._level, **{**self._bound, **fields})

    def info(self, event: str, **fields: object) -> None:
        self._write("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._write("warning", event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._write("error", event, fields)

    def _write(self, level: str, event: str, fields: dict[str, object]) -> None:
        if event not in EVENTS:
            raise KeyError(f"log event {event!r} is not declared in shared/telemetry/log.py")
        if LOG_LEVELS[level] < self._least:
            return
        line = {"ts": rfc3339(utc_now()), "level": level, "part": self._part, "event": event, **self._bound, **fields}
        # A line that does not fit on a full disk is lost; the request or job that it describes must not fail for it.
        with contextlib.suppress(OSError):
            self._stream.write(json_line(line).decode())
            self._stream.flush()


class LibraryLines(logging.Handler):
    """Turns what libraries log into lines of ours, so that one reader reads everything."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record as one line; its trace stays in the line."""
        level = "error" if record.levelno >= logging.ERROR else "warning"
        if record.name.split(".")[0] in _QUOTING:
            error = record.exc_info[1] if record.exc_info else None
            where = trace_of(error) if error is not None else None
            getattr(self._log, level)("library", logger=record.name, text=str(record.msg), trace=where)
            return
        trace = self.format(record) if record.exc_info else None
        getattr(self._log, level)("library", logger=record.name, text=_text_of(record), trace=trace)


def _text_of(record: logging.LogRecord) -> str:
    """Return a line's text; without its values where these do not fit, for which no caller of a library may fail."""
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        return str(record.msg)


def adopt_libraries(log: Log) -> None:
    """Route the root logger of the standard library into `log`."""
    root = logging.getLogger()
    root.handlers[:] = [LibraryLines(log)]
    root.setLevel(logging.WARNING)


def trace_of(error: BaseException) -> list[str]:
    """Return where an error came from, as file:line function; never its text, which may quote a caller's secret."""
    steps, tb = [], error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        steps.append(f"{code.co_filename.rsplit('/', 2)[-1]}:{tb.tb_lineno} {code.co_name}")
        tb = tb.tb_next
    return steps


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
