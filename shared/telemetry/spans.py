"""Spans to an OpenTelemetry collector: OTLP over HTTP in its JSON form, sent by a thread, a batch a second.

The specification's JSON encoding needs no library of OpenTelemetry, and none is installed
(docs/decisions/0014-observing.md).
"""

import http.client
import os
import socket
import threading
import time
from collections import deque
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.trace_context import SpanContext

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
        self._waiting: deque[dict[str, object]] = deque()
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
                "attributes": _attribute_list(attributes),
                "status": {"code": _ERROR} if failed else {},
            }
        )
        self._run()

    def close(self, seconds: float = _TIMEOUT_SECONDS) -> None:
        """Send the remaining spans, in `seconds` at most."""
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

    def _send(self, batch: list[dict[str, object]]) -> None:
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

    def _document(self, batch: list[dict[str, object]]) -> dict[str, object]:
        scope = {"scope": {"name": "item-index"}, "spans": batch}
        return {"resourceSpans": [{"resource": {"attributes": _attribute_list(self._resource)}, "scopeSpans": [scope]}]}


def _attribute_list(attributes: Attributes) -> list[dict[str, object]]:
    return [{"key": name, "value": _value(value)} for name, value in attributes.items() if value is not None]


def _value(value: str | float | bool) -> dict[str, object]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}  # 64-bit integers are texts in this encoding
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _headers(text: str) -> dict[str, str]:
    pairs = (item.partition("=") for item in text.split(",") if "=" in item)
    return {name.strip(): value.strip() for name, _, value in pairs}
