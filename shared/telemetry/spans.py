"""Traces: W3C Trace Context, level 1, and spans to an OpenTelemetry collector, sent by a thread."""

import http.client
import os
import re
import socket
import threading
import time
from collections import deque
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import msgspec

from shared.settings.settings import Settings
from shared.telemetry import metrics

# Traces: W3C Trace Context, level 1, and the steps that are sent to a collector. Pure but for fresh random ids.
# One header names the trace and the step before ours. A malformed header begins a new trace, as if none had been
# given: a header about tracing never fails a request.


_HEADER = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?",
    re.ASCII,
)
_TRACE_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_LONGEST = 256
_NO_TRACE, _NO_SPAN = "0" * 32, "0" * 16
_SAMPLED = 0x01
_DRAWN_DIGITS = 14
_DRAWN_VALUES = float(1 << 4 * _DRAWN_DIGITS)


class SpanContext(NamedTuple):
    """One step of a trace: a request at an edge, or an attempt at a job. `parent_id` is empty where it began here."""

    trace_id: str
    span_id: str
    parent_id: str
    sampled: bool

    @property
    def traceparent(self) -> str:
        """The header, or the text in a job's row, that continues this step elsewhere."""
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}"


def step_from(given: str | None, *, otherwise: str = "", share: float = 0.0) -> SpanContext:
    """Take the next step of a given trace, or the first one of a new trace.

    A new trace takes the id `otherwise` where that has the form of one: a request id of nginx has, so the same word
    finds a request in every log. `share` of the new traces are sampled; a given one keeps its caller's decision.
    """
    match = _HEADER.fullmatch(given) if given and len(given) <= _LONGEST else None
    if match is not None and _sound(match):
        return SpanContext(match["trace"], _fresh(8), match["span"], bool(int(match["flags"], 16) & _SAMPLED))
    fits = _TRACE_ID.fullmatch(otherwise) is not None and otherwise != _NO_TRACE
    trace_id = otherwise if fits else _fresh(16)
    return SpanContext(trace_id, _fresh(8), "", _drawn(trace_id, share))


def _sound(match: re.Match[str]) -> bool:
    if match["version"] == "ff" or match["trace"] == _NO_TRACE or match["span"] == _NO_SPAN:
        return False
    # Version 00 ends with its flags; a later version may add fields behind them.
    return match["more"] is None or match["version"] != "00"


def _drawn(trace_id: str, share: float) -> bool:
    # By the last bits of the id, not at random: every part that sees the trace decides the same.
    return int(trace_id[-_DRAWN_DIGITS:], 16) < share * _DRAWN_VALUES


def _fresh(size: int) -> str:
    return os.urandom(size).hex()


# Spans to an OpenTelemetry collector: OTLP over HTTP in its JSON form, sent by a thread, a batch a second. The
# specification's JSON encoding needs no library of OpenTelemetry, and none is installed
# (deploy/decisions/0014-observing.md).


_SEND_SECONDS = 1.0
_TIMEOUT_SECONDS = 5.0
_WAITING_MAX = 4096
_BATCH_MAX = 512
_KINDS = {"server": 2, "producer": 4, "consumer": 5}
_ERROR = 2
_ENCODER = msgspec.json.Encoder()
Kind = Literal["server", "producer", "consumer"]
Attributes = dict[str, str | int | float | bool | None]


class Spans:
    """The spans of one process. Noting one never waits; when the collector is slow or away, spans are lost."""

    def __init__(self, settings: Settings, part: str) -> None:
        self._endpoint = settings.otel_exporter_otlp_endpoint
        self.share = settings.otel_traces_sampler_arg if settings.otel_exporter_otlp_endpoint else 0.0
        """Share of new traces that are worth their spans; none if no collector is configured."""
        self._headers = _headers(settings.otel_exporter_otlp_headers)
        self._resource: Attributes = {
            "service.name": f"item-index-{part}",
            "service.version": settings.revision,
            "host.name": socket.gethostname(),
        }
        self._waiting: deque[dict[str, Any]] = deque()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._pid = 0

    def note(
        self, step: SpanContext, name: str, kind: Kind, seconds: float, attributes: Attributes, *, failed: bool = False
    ) -> None:
        """Record a span that ends now and took so long; do nothing if the trace is not sampled or not collected."""
        if not self._endpoint or not step.sampled:
            return
        if len(self._waiting) >= _WAITING_MAX:
            metrics.spans_lost.inc()
            return
        ended = time.time_ns()
        self._waiting.append(
            {
                "traceId": step.trace_id,
                "spanId": step.span_id,
                "parentSpanId": step.parent_id,
                "name": name,
                "kind": _KINDS[kind],
                "startTimeUnixNano": str(ended - int(seconds * 1e9)),
                "endTimeUnixNano": str(ended),
                "attributes": _listed(attributes),
                "status": {"code": _ERROR} if failed else {},
            }
        )
        self._run()

    def close(self, seconds: float = _TIMEOUT_SECONDS) -> None:
        """Send what is left, as far as that takes no longer than this."""
        thread, self._thread = self._thread, None
        if thread is not None and self._pid == os.getpid():
            self._wake.set()
            thread.join(seconds)

    def _run(self) -> None:
        # A thread does not survive a fork: the first span of each process starts one.
        if self._thread is not None and self._pid == os.getpid():
            return
        self._pid, self._wake = os.getpid(), threading.Event()
        self._thread = threading.Thread(target=self._send_forever, args=(self._wake,), name="spans", daemon=True)
        self._thread.start()

    def _send_forever(self, wake: threading.Event) -> None:
        over = False
        while not over:
            over = wake.wait(_SEND_SECONDS)
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(_BATCH_MAX, len(self._waiting)))]
                try:
                    self._send(batch)
                # No collector, a header that HTTP does not allow, a value that JSON has no form for: without this
                # thread every later span would be lost as well.
                except Exception:  # noqa: BLE001
                    metrics.spans_lost.inc(len(batch))
                else:
                    metrics.spans_sent.inc(len(batch))

    def _send(self, batch: list[dict[str, Any]]) -> None:
        parts = urlsplit(self._endpoint)
        secure = parts.scheme == "https"
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        line = connect(parts.hostname or "", parts.port or (443 if secure else 4318), timeout=_TIMEOUT_SECONDS)
        try:
            body = _ENCODER.encode(self._document(batch))
            fields = {"Content-Type": "application/json", **self._headers}
            line.request("POST", f"{parts.path.rstrip('/')}/v1/traces", body=body, headers=fields)
            answer = line.getresponse()
            answer.read()
            if answer.status >= 300:
                raise http.client.HTTPException(f"the collector answered {answer.status}")
        finally:
            line.close()

    def _document(self, batch: list[dict[str, Any]]) -> dict[str, Any]:
        scope = {"scope": {"name": "item-index"}, "spans": batch}
        return {"resourceSpans": [{"resource": {"attributes": _listed(self._resource)}, "scopeSpans": [scope]}]}


def _listed(attributes: Attributes) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in attributes.items() if value is not None]


def _value(value: str | float | bool) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}  # 64-bit integers are texts in this encoding
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _headers(text: str) -> dict[str, str]:
    pairs = (item.partition("=") for item in text.split(",") if "=" in item)
    return {name.strip(): value.strip() for name, _, value in pairs}
