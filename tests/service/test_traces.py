"""One trace from the request through the job to its result; and log lines that tell who called, without a secret."""

import asyncio
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.accounts import api_key
from tests.support.client import Edge, running_edge
from tests.support.collector import attributes, collecting
from tests.support.database import execute
from tests.support.reports import work
from tests.support.servers import begins_with
from tests.support.shop import load_rows
from tests.support.workers import services_of

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
