"""Metrics, traces and logs of failed jobs."""

import asyncio
import http.client
import io
import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from shared.db.connect import connect
from shared.errors import ConfigurationError, JobRefused
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.http_server import MetricsServer, serve_metrics
from shared.telemetry.log import Log
from tests.service.jobs.test_jobs import order
from tests.support.accounts import api_key
from tests.support.client import Edge, running_edge
from tests.support.collector import attributes, collecting
from tests.support.database import execute
from tests.support.reports import work
from tests.support.servers import begins_with
from tests.support.shop import load_rows
from tests.support.workers import indexing, run, services_of
from workers.dispatcher.dispatch import Dispatcher
from workers.jobs.job_handler import JobContext

# A failed attempt at a job says in the log where it failed, for which job and trace; LOG_LEVEL holds in workers too.


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def attempt(settings: Settings, error: Exception) -> str:
    """Make one attempt that meets the error; return the job's id."""
    job = order(settings)
    with connect(settings.database_url, application="tests") as connection:
        values = (job, f"00-{TRACE}-00f067aa0ba902b7-00")
        connection.execute("UPDATE jobs SET traceparent = $2 WHERE id = $1", values)

    def maker_that_fails(context: JobContext) -> dict[str, Any]:
        raise error

    run(settings, job, indexing(maker_that_fails))
    return job


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("error", "level"),
    [(KeyError("iixk_live_secret"), "error"), (JobRefused("brand-not-found", "No brand."), "warning")],
)
def test_a_failed_attempt_logs_where_it_failed_with_its_job_and_its_trace(
    settings: Settings, capsys: pytest.CaptureFixture[str], error: Exception, level: str
) -> None:
    job = attempt(settings, error)
    written = capsys.readouterr().err
    [failed] = [line for line in lines(written) if line["event"] == "job-attempt-failed"]
    assert (failed["level"], failed["job"], failed["trace_id"]) == (level, job, TRACE)
    assert failed["error"] == type(error).__name__
    assert any(Path(__file__).name in step and "maker_that_fails" in step for step in failed["trace"])
    assert "secret" not in written


@pytest.mark.parametrize(("level", "expected"), [("info", {"info", "error"}), ("error", {"error"})])
def test_log_level_decides_which_lines_a_worker_writes(
    settings: Settings, capsys: pytest.CaptureFixture[str], level: str, expected: set[str]
) -> None:
    attempt(replace(settings, log_level=level), KeyError("x"))
    assert {line["level"] for line in lines(capsys.readouterr().err)} == expected


def test_log_level_holds_for_what_celery_writes_in_a_worker() -> None:
    reported = (
        "import logging; from shared.settings.settings import Settings; from workers.handlers import job_handlers;"
        "from workers.worker import Worker; Worker(Settings.from_environment(), job_handlers).set_up_logging(); log = logging.getLogger('celery');"
        "log.info('an info'); log.warning('a warning'); log.error('an error')"
    )
    environment = {**os.environ, "LOG_LEVEL": "warning", "BROKER_URL": "memory://"}
    done = subprocess.run([sys.executable, "-c", reported], env=environment, capture_output=True, text=True, check=True)
    written = [(line["event"], line["level"]) for line in lines(done.stderr)]
    assert written == [("library", "warning"), ("library", "error")]


# What the edges, the dispatcher and the workers tell of themselves.


def value(name: str, **labels: str) -> float:
    """Return a sample of this process; 0 where nothing was counted yet."""
    return metrics.REGISTRY.get_sample_value(name, labels) or 0.0


async def test_an_edge_reports_its_stores_its_pool_and_its_lag(edge: Edge) -> None:
    probes = value("itemindex_store_seconds_count", store="state")
    queries = value("itemindex_store_seconds_count", store="database")
    await edge.resources.monitor.measure()
    assert value("itemindex_store_up", store="state") == value("itemindex_store_up", store="cache") == 1
    assert value("itemindex_store_seconds_count", store="state") >= probes + 1
    await edge.get("/index/brands")
    await edge.resources.monitor.measure()
    assert value("itemindex_store_seconds_count", store="database") > queries
    assert value("itemindex_pool_connections", state="idle") + value("itemindex_pool_connections", state="busy") >= 1
    assert value("itemindex_pool_connections_max") == edge.settings.database_pool_max
    assert value("itemindex_processes", part="edge", revision=edge.settings.revision) == 1


async def test_an_unavailable_store_is_not_up_and_no_call_of_a_caller_failed(edge: Edge) -> None:
    await edge.resources.cache.close()
    errors = value("itemindex_store_errors_total", store="cache")
    await edge.resources.monitor.measure()
    assert value("itemindex_store_up", store="cache") == 0
    assert value("itemindex_store_errors_total", store="cache") == errors


async def test_metrics_are_readable_and_have_their_sentences(edge: Edge) -> None:
    await edge.get("/health")
    async with edge.session.get("http://testserver/metrics", headers={"X-Real-IP": "192.0.2.1"}) as response:
        families = {family.name: family for family in text_string_to_metric_families(await response.text())}
    assert all(len(family.documentation) > 10 for name, family in families.items() if name.startswith("itemindex"))
    labels = {tuple(sample.labels.values()) for sample in families["itemindex_requests"].samples}
    assert ("health", "200") in labels


@pytest.fixture
def post(settings: Settings) -> Iterator[MetricsServer]:
    """The metrics server of a process that is healthy until a test says otherwise."""
    opened = serve_metrics(replace(settings, metrics_listen="127.0.0.1:0"), lambda: True)
    assert opened is not None
    yield opened
    opened.shutdown()
    opened.server_close()


def ask(post: MetricsServer, path: str) -> tuple[int, bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", post.server_port, timeout=5)) as line:
        line.request("GET", path)
        answer = line.getresponse()
        return answer.status, answer.read()


def test_a_metrics_server_answers_with_metrics_and_health(post: MetricsServer) -> None:
    assert b"itemindex_jobs_dispatched" in ask(post, "/metrics")[1]
    assert ask(post, "/health") == (200, b"ok\n")
    post.healthy = lambda: False
    assert ask(post, "/health")[0] == 503
    assert ask(post, "/elsewhere")[0] == 404


def test_a_metrics_server_without_a_usable_address_stops_the_start(settings: Settings) -> None:
    for listen in ("nowhere", "127.0.0.1:port", "192.0.2.1:9100", "127.0.0.1:65536"):
        with pytest.raises(ConfigurationError, match="METRICS_LISTEN"):
            serve_metrics(replace(settings, metrics_listen=listen))
    assert serve_metrics(settings) is None


def test_a_dispatcher_is_healthy_as_long_as_it_sweeps(settings: Settings) -> None:
    services = services_of(settings)
    assert Dispatcher(services).healthy
    stalled = Dispatcher(services, stalled_seconds=-1.0)
    assert not stalled.healthy
    stalled._note_down("database")
    assert stalled.healthy, "a restart would not bring PostgreSQL back"


def test_a_relay_measures_queues_that_are_empty_too(settings: Settings) -> None:
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        Dispatcher(services_of(settings)).measure(connection)
    assert metrics.REGISTRY.get_sample_value("itemindex_queue_age_seconds", {"queue": "reports"}) == 0
    assert metrics.REGISTRY.get_sample_value("itemindex_queue_depth", {"queue": "exports", "state": "queued"}) == 0


def test_the_dead_are_not_summed_with_the_living(tmp_path: Path) -> None:
    """A killed process leaves its file behind; what it held is no more, what it counted happened."""
    process = multiprocessing.get_context("spawn").Process(target=os.getpid)
    process.start()
    process.join()
    dead, living = tmp_path / f"gauge_livesum_{process.pid}.db", tmp_path / f"gauge_livesum_{os.getpid()}.db"
    counted = tmp_path / f"counter_{process.pid}.db"
    for path in (dead, living, counted):
        path.touch()
    metrics._remove_stale_gauges(tmp_path)
    assert (dead.exists(), living.exists(), counted.exists()) == (False, True, True)


async def test_a_state_store_that_lost_everything_is_counted_once(edge: Edge, settings: Settings) -> None:
    pulse, state = edge.resources.monitor, edge.resources.state
    await pulse.measure()
    await pulse.measure()
    before = metrics.REGISTRY.get_sample_value("itemindex_store_emptied_total", {"store": "state"})
    assert before is not None  # an alert sees no increase in a counter that begins with its first loss
    await state.command("FLUSHDB")
    await pulse.measure()
    await pulse.measure()
    assert value("itemindex_store_emptied_total", store="state") == before + 1


# One trace from the request through the job to its result; and log lines that tell who called, without a secret.


TRACE_TRACES, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

GIVEN = {"traceparent": f"00-{TRACE_TRACES}-{SPAN}-01"}

REQUEST_ID = "0123456789abcdef0123456789abcdef"


def lines_traces(edge: Edge) -> list[dict[str, Any]]:
    """Return the access lines."""
    edge.resources.access_log.flush()
    return [json.loads(line) for line in Path(edge.settings.access_log).read_text().splitlines()]


@begins_with(load_rows)
async def test_a_trace_leads_from_the_request_through_the_job_to_its_result(settings: Settings, tmp_path: Path) -> None:
    written = io.StringIO()
    with collecting() as collector:
        watched = replace(settings, otel_exporter_otlp_endpoint=collector.endpoint)
        services = services_of(watched, log=Log("worker", stream=written))
        async with running_edge(watched, tmp_path) as edge:
            key = api_key(settings)
            answer, _ = await asyncio.gather(
                edge.get("/index/cohorts?brand=vita", key=key, head=GIVEN), work(watched, services=services)
            )
            assert answer.status == 200
        services.spans.close()
    by_service = {span["service"]: span for span in collector.spans}
    request, job = by_service["item-index-edge"], by_service["item-index-worker"]
    assert (request["traceId"], request["parentSpanId"]) == (TRACE_TRACES, SPAN)
    assert (job["traceId"], job["parentSpanId"]) == (TRACE_TRACES, request["spanId"])
    assert attributes(job)["itemindex.state"] == "succeeded"
    reported = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [line["event"] for line in reported] == ["job-started", "job-finished"]
    assert {line["trace_id"] for line in reported} == {TRACE_TRACES}
    assert all(line["organization"] for line in reported)


@begins_with(load_rows)
async def test_a_job_without_a_trace_is_work_like_any_other(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    await asyncio.gather(edge.get("/index/cohorts?brand=vita", key=key), work(settings))
    execute(settings, "UPDATE jobs SET traceparent = NULL, state = 'queued', attempt = 0")
    assert await work(settings) == ["succeeded"]


async def test_a_malformed_traceparent_begins_a_new_trace_and_is_no_error(edge: Edge) -> None:
    headers = ("", "nonsense", f"00-{'0' * 32}-{SPAN}-01", "x" * 6000)
    for header in headers:
        answer = await edge.get("/quota", head={"traceparent": header, "X-Request-Id": REQUEST_ID})
        assert answer.status == 200, header[:9]
    written = lines_traces(edge)
    assert [line["request_id"] for line in written] == [REQUEST_ID] * len(headers)
    assert not any("trace_id" in line for line in written), "it would be the request id"


async def test_an_access_line_names_the_caller_and_no_secret(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    await edge.get("/quota", key=key, head=GIVEN)
    await edge.get("/quota")
    with_key, anonymous = lines_traces(edge)
    assert with_key["trace_id"] == TRACE_TRACES
    assert with_key["organization"] and with_key["account"] == f"org:{with_key['organization']}"
    assert with_key["key"] and with_key["key"] in key
    assert len(with_key["key"]) < len(key) / 2, "the id of a key, not the key"
    assert (anonymous["organization"], anonymous["key"]) == (None, "anonymous")
    written = Path(settings.access_log).read_text()
    for secret in (key, settings.token_pepper, settings.signing_secret):
        assert secret not in written
