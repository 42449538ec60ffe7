"""What the edges, the dispatcher and the workers tell of themselves."""

import http.client
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from shared.db.connect import connect
from shared.errors import ConfigurationError
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.http_server import MetricsServer, serve_metrics
from tests.support.client import Edge
from tests.support.workers import services_of
from workers.dispatcher.dispatch import Dispatcher


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
