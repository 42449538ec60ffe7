"""Trace context is taken over where it is well-formed, and begun anew where it is not; spans reach a collector."""

import io
import json

from hypothesis import given
from hypothesis import strategies as st

from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log
from shared.telemetry.spans import Spans
from shared.telemetry.trace_context import step_from
from tests.support.collector import attributes, collecting

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

GOOD = f"00-{TRACE}-{SPAN}-01"

REQUEST_ID = "0123456789abcdef0123456789abcdef"


def test_a_given_trace_continues_with_a_span_of_our_own() -> None:
    step = step_from(GOOD)
    assert (step.trace_id, step.parent_id, step.sampled) == (TRACE, SPAN, True)
    assert step.span_id not in (SPAN, "0" * 16)
    handed_on = step_from(step.traceparent)
    assert (handed_on.trace_id, handed_on.parent_id) == (TRACE, step.span_id)


def test_additions_of_a_later_version_are_skipped() -> None:
    for header in (
        f"01-{TRACE}-{SPAN}-01",
        f"cc-{TRACE}-{SPAN}-01-what-the-future-will-be-like",
        f"00-{TRACE}-{SPAN}-03",
    ):
        assert step_from(header).trace_id == TRACE, header


def test_a_malformed_header_begins_a_new_trace() -> None:
    for header in (
        None,
        "",
        " ",
        GOOD.upper(),
        f"{GOOD}-more",
        f"{GOOD} ",
        f" {GOOD}",
        f"{GOOD}\n",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE}-{SPAN}",
        f"00_{TRACE}_{SPAN}_01",
        f"0-{TRACE}-{SPAN}-01",
        f"cc-{TRACE}-{SPAN}-01{'-x' * 4000}",
        f"00-{TRACE[:-1]}٣-{SPAN}-01",
    ):
        step = step_from(header, otherwise=REQUEST_ID)
        assert (step.trace_id, step.parent_id, step.sampled) == (REQUEST_ID, "", False), header


@given(st.text(max_size=80))
def test_no_text_is_an_error(header: str) -> None:
    step = step_from(header)
    assert len(step.trace_id) == 32 and len(step.span_id) == 16


def test_a_request_id_that_is_no_trace_id_is_not_taken_for_one() -> None:
    for otherwise in ("", "my-own-request-id", "0" * 32, REQUEST_ID.upper()):
        step = step_from(None, otherwise=otherwise)
        assert step.trace_id != otherwise and len(step.trace_id) == 32, otherwise


def test_every_part_draws_the_same_lot_for_a_trace() -> None:
    drawn = [
        step_from(None, otherwise=f"{n:018x}{n * 0x9E3779B97F4A7C15 % 2**56:014x}", share=0.25).sampled
        for n in range(1, 4001)
    ]
    assert 800 < sum(drawn) < 1200
    assert step_from(None, otherwise=REQUEST_ID, share=1.0).sampled
    assert not step_from(None, otherwise=REQUEST_ID, share=0.0).sampled
    assert step_from(f"00-{TRACE}-{SPAN}-01", share=0.0).sampled, "the caller has decided"


def test_a_span_reaches_the_collector_as_its_standard_says() -> None:
    with collecting() as collector:
        settings = Settings(
            otel_exporter_otlp_endpoint=f"{collector.endpoint}/tenant",
            otel_exporter_otlp_headers="x-team=index, broken",
            revision="7",
        )
        spans = Spans(settings, "edge")
        spans.note(step_from(GOOD), "GET lookup", "server", 0.25, {"n": 3, "yes": True, "none": None}, failed=True)
        spans.close()
    [(path, head)] = collector.asked
    assert path == "/tenant/v1/traces"
    assert (head["x-team"], head["Content-Type"]) == ("index", "application/json")
    [span] = collector.spans
    assert (span["traceId"], span["parentSpanId"], span["kind"]) == (TRACE, SPAN, 2)
    assert (span["service"], span["status"]) == ("item-index-edge", {"code": 2})
    assert int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]) == 250_000_000
    assert attributes(span) == {"n": "3", "yes": True}


def test_nothing_is_sent_for_a_trace_that_is_not_sampled() -> None:
    with collecting() as collector:
        spans = Spans(Settings(otel_exporter_otlp_endpoint=collector.endpoint), "edge")
        spans.note(step_from(GOOD[:-1] + "0"), "GET lookup", "server", 0.1, {})
        spans.close()
    assert collector.asked == []


def test_a_collector_that_refuses_or_is_unavailable_costs_spans_and_nothing_else() -> None:
    with collecting() as collector:
        collector.status = 500
        spans = Spans(Settings(otel_exporter_otlp_endpoint=collector.endpoint), "edge")
        spans.note(step_from(GOOD), "GET lookup", "server", 0.1, {})
        spans.close()
    assert len(collector.asked) == 1
    away = Spans(Settings(otel_exporter_otlp_endpoint=collector.endpoint), "edge")
    away.note(step_from(GOOD), "GET lookup", "server", 0.1, {})
    away.close()


def test_a_header_that_http_does_not_allow_costs_spans_and_not_the_thread_that_sends() -> None:
    with collecting() as collector:
        settings = Settings(otel_exporter_otlp_endpoint=collector.endpoint, otel_exporter_otlp_headers="x=a\r\nb")
        spans = Spans(settings, "edge")
        before = metrics.spans_lost._value.get()
        for name in ("first", "second"):
            spans.note(step_from(None, share=1.0), name, "server", 0.001, {})
            spans.close()
        assert metrics.spans_lost._value.get() == before + 2


def test_a_bound_log_writes_the_ids_in_every_line() -> None:
    written = io.StringIO()
    Log("worker", stream=written).bind(job="1").bind(trace_id=TRACE).info("job-finished", state="succeeded")
    line = json.loads(written.getvalue())
    assert {name: line[name] for name in ("job", "trace_id", "state", "part")} == {
        "job": "1",
        "trace_id": TRACE,
        "state": "succeeded",
        "part": "worker",
    }
