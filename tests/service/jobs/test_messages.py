"""A worker survives any message in its queues: refused, counted, never quoted."""

import asyncio
import base64
import http.client
import json
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis as sync_redis
from kombu.transport import redis

from deploy.local.part_commands import worker_command
from deploy.local.paths import free_port
from deploy.local.service_process import Program, ServiceProcess, tail
from edge.quota import limiter
from shared.jobs.contract import EXECUTE
from shared.settings.settings import Settings
from tests.support.accounts import api_key, organization
from tests.support.client import Answer, Edge, running_edge
from tests.support.database import execute
from tests.support.processes import children
from tests.support.servers import Contents, Servers
from tests.support.shop import open_shop
from tests.support.workers import order, settle_refunds

CANARY = "canary-in-the-body"


def message(body: bytes, **headers: Any) -> bytes:
    """Return a message as kombu lays it into a list of Redis."""
    given = {"task": EXECUTE, "id": str(uuid.uuid4()), "lang": "py", "argsrepr": CANARY, **headers}
    properties = {
        "delivery_tag": str(uuid.uuid4()),
        "body_encoding": "base64",
        "delivery_mode": 2,
        "priority": 0,
        "delivery_info": {"exchange": "", "routing_key": "maintenance"},
        "correlation_id": given["id"],
        "reply_to": "",
    }
    return json.dumps(
        {
            "body": base64.b64encode(body).decode(),
            "content-encoding": "utf-8",
            "content-type": "application/json",
            "headers": {name: value for name, value in given.items() if value is not None},
            "properties": properties,
        }
    ).encode()


def changed(**members: Any) -> bytes:
    document = json.loads(message(b"[[], {}, {}]"))
    return json.dumps({**document, **members}).encode()


POISON = {
    "empty": b"",
    "no JSON": CANARY.encode(),
    "null": b"null",
    "a number": b"7",
    "a list": b"[]",
    "a text": b'"x"',
    "no properties": b"{}",
    "cut off": message(b"[]")[:40],
    "no UTF-8": b"\xff\xfe" + CANARY.encode(),
    "deep": b"[" * 100_000,
    "properties null": changed(properties=None),
    "headers null": changed(headers=None),
    "headers a list": changed(headers=[]),
    "body no base64": changed(body="%%%"),
    "body a number": changed(body=7),
    "body null": changed(body=None),
    "unknown encoding": changed(properties={**json.loads(message(b""))["properties"], "body_encoding": "rot13"}),
    "false compression": message(CANARY.encode(), compression="application/x-gzip"),
    "unknown compression": message(CANARY.encode(), compression="application/x-canary"),
    "pickle": changed(**{"content-type": "application/x-python-serialize"}),
    "yaml": changed(**{"content-type": "application/x-yaml"}),
    "unknown content": changed(**{"content-type": CANARY}),
    "no task": message(b"[]", task=None),
    "unknown task": message(CANARY.encode(), task=f"os.system.{CANARY}"),
    "task a number": message(b"[]", task=7),
    "no id": message(b"[[], {}, {}]", id=None),
    "body empty": message(b""),
    "body null in JSON": message(b"null"),
    "body no JSON": message(CANARY.encode()),
    "wrong arguments": message(json.dumps([[CANARY, CANARY], {}, {}]).encode()),
    "argument no id": message(json.dumps([[CANARY], {}, {}]).encode()),
    "an ETA": message(b"[[], {}, {}]", eta=CANARY),
    "an expiry": message(b"[[], {}, {}]", expires=CANARY),
    "limits": message(b"[[], {}, {}]", timelimit=CANARY),
    "ten megabytes": message(b"x" * 10_000_000),
}


@pytest.fixture
def worker(settings: Settings, tmp_path: Path) -> Iterator[ServiceProcess]:
    """A worker of one process on the maintenance queue, whose health is served on METRICS_LISTEN."""
    environment = {
        **settings.environment(),
        "METRICS_LISTEN": f"127.0.0.1:{free_port()}",
        "HEARTBEAT_FILE": str(tmp_path / "heartbeat"),
    }
    child = ServiceProcess(
        Program(
            name="worker",
            command=worker_command("maintenance", 1),
            log=tmp_path / "worker.log",
            environment=environment,
            stop_seconds=5,
            heartbeat=tmp_path / "heartbeat",
            heartbeat_seconds=6.0,
        )
    )
    child.start()
    yield child
    child.stop()


def until(child: ServiceProcess, condition: Callable[[], bool], seconds: float = 60.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, tail(child.program.log, 20)
        time.sleep(0.05)


def health(child: ServiceProcess) -> int:
    """Return the status of the worker's /health, 0 where it does not answer."""
    host, _, port = child.program.environment["METRICS_LISTEN"].partition(":")
    with closing(http.client.HTTPConnection(host, int(port), timeout=2)) as line:
        try:
            line.request("GET", "/health")
            return line.getresponse().status
        except OSError:
            return 0


def ordered(settings: Settings, fingerprint: str, broker: "redis.Redis[bytes]") -> str:
    """Order an index and ring for it; return the job."""
    job = order(settings, fingerprint)
    broker.lpush("maintenance", message(json.dumps([[job], {}, {}]).encode()))
    return job


def state(settings: Settings, job: str) -> str:
    [row] = execute(settings, "SELECT state FROM jobs WHERE id = $1", job)
    return str(row[0])


@pytest.fixture
def broker(servers: Servers, settings: Settings) -> Iterator["redis.Redis[bytes]"]:
    """The broker's own server, as any program that reached it could write to it."""
    path = settings.broker_url.removeprefix("redis+socket://").partition("?")[0]
    with closing(sync_redis.Redis(unix_socket_path=path, db=1)) as client:
        yield client


def test_no_message_ends_the_worker_and_a_blocked_one_is_unhealthy_and_restarted(
    settings: Settings, worker: ServiceProcess, broker: "redis.Redis[bytes]"
) -> None:
    until(worker, lambda: health(worker) == 200)
    assert worker.process is not None
    pool = children(worker.process.pid)
    for poison in POISON.values():
        broker.lpush("maintenance", poison)
    job = ordered(settings, "after all of it", broker)
    until(worker, lambda: state(settings, job) not in ("queued", "running"))
    assert not worker.end_if_stuck() and (worker.program.heartbeat or Path()).exists()
    assert worker.alive
    assert children(worker.process.pid) == pool
    lines = worker.program.log.read_text(errors="replace").splitlines()
    assert CANARY not in "\n".join(lines)
    # Celery warns a worker that runs as root before it asks where to log.
    read = [json.loads(line) for line in lines if line.startswith("{")]
    assert read[0]["event"] == "started"
    assert sum(line["event"] == "message-refused" for line in read) > 20
    assert broker.llen("maintenance") == 0
    until(worker, lambda: broker.hlen("unacked") == 0)

    worker.process.send_signal(signal.SIGSTOP)
    until(worker, lambda: health(worker) != 200)
    until(worker, worker.end_if_stuck)
    until(worker, worker.revive)
    until(worker, lambda: health(worker) == 200)


COHORT = "/index/cohorts?brand=vita"
ASYNC = {"Prefer": "respond-async"}
PAID = (COHORT, "/index/insights/categories", "/index/insights/brands", "/index/rollups/sustainability")


@pytest.fixture
def contents() -> Contents:
    return open_shop


@pytest.fixture
def key(settings: Settings) -> str:
    return api_key(settings, "institutional")


async def export(edge: Edge, key: str) -> Answer:
    body = json.dumps({"dataset": "brands", "format": "csv"}).encode()
    return await edge.ask("POST", "/index/exports", key=key, body=body)


async def test_beyond_the_backlog_no_order_is_made_and_nothing_is_charged(
    settings: Settings, key: str, tmp_path: Path
) -> None:
    execute(settings, "UPDATE jobs SET state = 'succeeded'")  # the shop's own
    async with running_edge(replace(settings, jobs_waiting_max=1), tmp_path) as edge:
        first = await edge.get(COHORT, key=key, head=ASYNC)
        assert first.status == 202
        for refused in (await edge.get(PAID[1], key=key, head=ASYNC), await export(edge, key)):
            assert (refused.status, refused.json["type"].rsplit("/")[-1]) == (503, "service-unavailable")
            assert int(refused.head["Retry-After"]) == refused.json["retry_after"] > 0
        other = api_key(settings)
        joined = await edge.get(COHORT, key=other, head=ASYNC)
        assert (joined.status, (await edge.get(COHORT, key=key, head=ASYNC)).json["id"]) == (202, first.json["id"])
        for asked in (key, other):
            assert (await edge.get("/", key=asked)).json["quota"][0]["used"] == 10


async def test_a_call_that_joins_an_order_and_waits_for_it_longer_than_a_charge_can_be_refunded_costs_nothing(
    edge: Edge, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limiter, "MARKER_SECONDS", 1)
    calls = [edge.get(COHORT, key=key, head={"Prefer": "wait=2"}) for _ in range(4)]  # all are charged at one moment
    answers = await asyncio.gather(*calls)
    assert {answer.status for answer in answers} == {202} and len({answer.json["id"] for answer in answers}) == 1
    assert (await edge.get("/", key=key)).json["quota"][0]["used"] == 10


async def test_refunded_units_are_taken_out_of_the_statistics_of_their_route(
    edge: Edge, settings: Settings, key: str
) -> None:
    for path in PAID:
        job = (await edge.get(path, key=key, head=ASYNC)).json
        assert (await edge.ask("DELETE", f"/jobs/{job['id']}", key=key)).status == 200
    assert (await edge.ask("DELETE", f"/index/exports/{(await export(edge, key)).json['id']}", key=key)).status == 204
    for dies in (True, True, False):
        assert settle_refunds(settings, dies=dies) == 5
        assert (await edge.get("/", key=key)).json["quota"][0]["used"] == 0
    assert settle_refunds(settings) == 0
    await edge.resources.usage.flush()
    by_route = execute(
        settings,
        "SELECT endpoint, sum(units) FILTER (WHERE units > 0)::int, sum(units)::int FROM usage "
        "GROUP BY endpoint HAVING max(units) > 0 OR min(units) < 0 ORDER BY 1",
    )
    assert by_route == [
        ("brand-insights", 10, 0),
        ("category-insights", 10, 0),
        ("cohorts", 10, 0),
        ("export-order", 100, 0),
        ("rollup", 20, 0),
    ]


@pytest.mark.parametrize("address", ["redis://127.0.0.1:9", "valkey://127.0.0.1:9/0", "redis+cluster://127.0.0.1:9"])
def test_a_state_store_that_is_away_delays_refunds_and_not_the_dispatcher(settings: Settings, address: str) -> None:
    """Without an answer of the store a dispatcher that ends would end again at each start, and dispatch nothing."""
    execute(settings, "INSERT INTO jobs (kind, queue, fingerprint) VALUES ('cohorts', 'reports', 'x')")
    execute(
        settings,
        "INSERT INTO job_orders (job_id, organization_id, account, charge_id, charged_day, units, refund_due) "
        "SELECT j.id, $1::uuid, 'org:x', 'x', 1, 10, true FROM jobs j WHERE fingerprint = 'x'",
        organization(settings),
    )
    for _ in range(2):
        assert settle_refunds(replace(settings, state_url=address)) == 0
    assert settle_refunds(settings) == 1
