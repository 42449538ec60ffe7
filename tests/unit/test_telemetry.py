"""Log lines and traces."""

import io
import json
import logging
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from deploy.ctl.top import Between, Effort, Scrape, efforts, frame, quantile_of
from shared.errors import ItemIndexError
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import LibraryLines, Log
from shared.telemetry.spans import Spans, step_from
from tests.perf.sizing.__main__ import capacity, pages
from tests.perf.sizing.plan import Load, bottleneck, plan
from tests.support.collector import attributes, collecting

# Lines of libraries become lines of ours, whatever the libraries give.


def test_a_line_whose_values_do_not_fit_keeps_its_text_and_fails_nothing() -> None:
    for template, values, text in (
        ("%d items", (3,), "3 items"),
        ("%d items", ("no number",), "%d items"),
        ("%s", ("a", "b"), "%s"),
    ):
        written = io.StringIO()
        record = logging.LogRecord("aiohttp.server", logging.WARNING, __file__, 1, template, values, None)
        LibraryLines(Log("tests", stream=written)).emit(record)
        line = json.loads(written.getvalue())
        assert (line["event"], line["logger"], line["level"], line["text"]) == (
            "library",
            "aiohttp.server",
            "warning",
            text,
        ), template


# Trace context is taken over where it is well-formed, and begun anew where it is not; spans reach a collector.


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


# What `itemindex top` makes of two readings.


BEFORE = """
itemindex_requests_total{route="lookup",status="200"} 10
itemindex_requests_total{route="lookup",status="429"} 90
itemindex_requests_total{route="search",status="500"} 5
itemindex_request_seconds_bucket{route="lookup",le="0.001"} 50
itemindex_request_seconds_bucket{route="lookup",le="0.01"} 100
itemindex_request_seconds_bucket{route="lookup",le="+Inf"} 100
"""

AFTER = """
itemindex_requests_total{route="lookup",status="200"} 30
itemindex_requests_total{route="lookup",status="429"} 90
itemindex_requests_total{route="search",status="500"} 2
itemindex_request_seconds_bucket{route="lookup",le="0.001"} 60
itemindex_request_seconds_bucket{route="lookup",le="0.01"} 120
itemindex_request_seconds_bucket{route="lookup",le="+Inf"} 120
itemindex_record_reads_total{where="memory"} 30
itemindex_record_reads_total{where="database"} 10
itemindex_quota_decisions_total{plan="free",outcome="taken"} 20
itemindex_queue_depth{queue="reports",state="queued"} 7
itemindex_queue_age_seconds{queue="reports"} 12.5
itemindex_store_up{store="state"} 1
itemindex_data_version{part="edge"} 42
"""


@pytest.fixture
def between() -> Between:
    return Between(Scrape.of(BEFORE, 100.0), Scrape.of(AFTER, 102.0))


def test_rates_are_what_moved_per_second(between: Between) -> None:
    assert between.rates("requests_total", "route", "status") == {("lookup", "200"): 10.0, ("search", "500"): 1.0}
    assert between.rates("requests_total", "route") == {("lookup",): 10.0, ("search",): 1.0}


def test_quantiles_are_of_what_came_in_between(between: Between) -> None:
    assert between.quantile(0.25, "request_seconds", route="lookup") == pytest.approx(0.0005)
    assert between.quantile(0.75, "request_seconds", route="lookup") == pytest.approx(0.0055)
    assert between.quantile(0.5, "request_seconds", route="search") is None


def test_quantiles_at_the_edges() -> None:
    for buckets, expected in (
        ([], None),
        ([(1.0, 0.0), (float("inf"), 0.0)], None),
        ([(1.0, 0.0), (float("inf"), 4.0)], 1.0),
        ([(2.0, 4.0)], 1.0),
    ):
        assert quantile_of(0.5, buckets) == expected, buckets


def test_a_frame_shows_every_figure(between: Between) -> None:
    console = Console(width=160, record=True, force_terminal=False)
    console.print(frame(between, {"edge-a": Effort(2, 1, 1.0, 10.0)}, {"edge-a": Effort(2, 64 << 20, 1.5, 11.0)}))
    text = console.export_text()
    for expected in ("data_version 42", "11.0 requests/s", "lookup", "75.0%", "12.5 s", "64 MiB", "50%", "taken"):
        assert expected in text, text


def test_an_address_where_nothing_listens_is_one_clear_error() -> None:
    with pytest.raises(ItemIndexError, match="is not responding"):
        Scrape.fetch("http://127.0.0.1:9/metrics")


def test_a_part_is_its_process_and_all_its_children(tmp_path: Path) -> None:
    for pid, name, parent in ((10, "(it) is) odd", 1), (11, "child", 10), (12, "grandchild", 11), (20, "other", 1)):
        numbers = ["0"] * 40
        numbers[0], numbers[1], numbers[11], numbers[12], numbers[21] = "S", str(parent), "100", "50", "256"
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) {' '.join(numbers)}")
    found = efforts({"edge-a": 10, "gone": 99}, tmp_path)
    assert found.keys() == {"edge-a"}
    assert found["edge-a"].processes == 3
    assert found["edge-a"].cpu_seconds == pytest.approx(
        found["edge-a"].processes * efforts({"x": 20}, tmp_path)["x"].cpu_seconds
    )


# The calculator adds up, and says what gives way; the page shows what it says.


PAGE = Path(__file__).parents[2] / "deploy" / "capacity.md"


def test_the_tables_of_the_page_are_the_calculators() -> None:
    kept = PAGE.read_text().partition("<!-- capacity -->\n")[2].partition("<!-- /capacity -->")[0]
    assert kept == pages(), "put the output of `python -m tests.perf.sizing --markdown` between the marks"


def test_each_part_that_saturates_first_has_a_remedy() -> None:
    load = Load(lookups=1_000_000, observations=1e9, reports_an_hour=1e6)
    beyond = [need for need in plan(load) if need.beyond]
    first = bottleneck(plan(load))
    assert first is not None
    assert first.times == max(need.times for need in beyond)
    assert {"state store", "PostgreSQL, connections"} <= {need.part for need in beyond}
    assert "search index" not in {need.part for need in beyond}
    assert all(len(need.then) > 20 for need in beyond)


def test_the_command_prints_json_and_a_table() -> None:
    printed = CliRunner().invoke(capacity, ["--lookups", "1e6", "--observations", "1e9", "--json"])
    reported = json.loads(printed.output)
    assert reported["machines"] > 2 and reported["gives_way_first"]
    assert {"part", "need", "carries", "beyond", "then"} <= reported["parts"][0].keys()
    table = CliRunner().invoke(capacity, ["--lookups", "2000"])
    assert table.exit_code == 0 and not table.exception
