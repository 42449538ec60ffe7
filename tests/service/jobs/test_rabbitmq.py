"""The other broker: RabbitMQ with quorum queues, a real node, a real dispatcher and a real worker."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local.part_commands import worker_command
from deploy.local.service_process import Program, ServiceProcess, tail
from shared.db.connect import connect
from shared.jobs.contract import QUEUES
from shared.settings.settings import Settings
from tests.support.rabbitmq import RabbitMq, scripts
from tests.support.shop import load_rows
from tests.support.workers import order

pytestmark = [
    pytest.mark.xdist_group("rabbitmq"),
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        scripts() is None and os.environ.get("CI") != "true",
        reason="RabbitMQ is not installed: apt-get install rabbitmq-server",
    ),
]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RabbitMq]:
    """A node of its own."""
    assert scripts() is not None, "CI must have RabbitMQ: apt-get install rabbitmq-server"
    folder = tmp_path / "rabbitmq"
    folder.mkdir()
    node = RabbitMq(folder)
    node.start()
    yield node
    node.stop()


@pytest.fixture
def tier(broker: RabbitMq, settings: Settings, tmp_path: Path) -> Iterator[dict[str, ServiceProcess]]:
    """A dispatcher and a worker on that broker."""
    environment = {**settings.environment(), "BROKER_URL": broker.url}
    commands = {
        "dispatcher": [sys.executable, "-m", "workers", "dispatcher"],
        "worker": worker_command("maintenance", 1),
    }
    children = {
        name: ServiceProcess(
            Program(name=name, command=command, log=tmp_path / f"{name}.log", environment=environment, stop_seconds=5)
        )
        for name, command in commands.items()
    }
    for child in children.values():
        child.start()
    yield children
    for child in children.values():
        child.ask_to_end()
    for child in children.values():
        child.ensure_ended()


def ends(settings: Settings, job: str, logs: Path, seconds: float = 90) -> str:
    """Wait for a job's end as a watcher does."""
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute("LISTEN jobs_changed")
        for _ in range(int(seconds)):
            row = connection.execute("SELECT state FROM jobs WHERE id = $1", (job,)).fetchone()
            if row is not None and row[0] not in ("queued", "running"):
                return str(row[0])
            for _ in connection.notifies(timeout=1, stop_after=1):
                pass
    raise AssertionError(tail(logs / "dispatcher.log", 10) + tail(logs / "worker.log", 30))


def test_jobs_go_through_quorum_queues_and_survive_the_brokers_death(
    settings: Settings, broker: RabbitMq, tier: dict[str, ServiceProcess], tmp_path: Path
) -> None:
    job = load_rows(settings, tmp_path).job_id
    assert job is not None
    assert ends(settings, job, tmp_path) == "succeeded"
    types = {name: kind for name, kind in broker.queues().items() if name in QUEUES}
    assert set(types.values()) == {"quorum"}
    assert "maintenance" in types
    broker.kill()
    waiting = [order(settings, f"while it was down {n}") for n in range(3)]
    broker.start()
    assert [ends(settings, one, tmp_path) for one in waiting] == ["succeeded"] * 3
    worker = tier["worker"]
    assert worker.process is not None
    worker.process.kill()
    worker.process.wait()
    late = order(settings, "while no worker ran")
    worker.start()
    assert ends(settings, late, tmp_path) == "succeeded"
