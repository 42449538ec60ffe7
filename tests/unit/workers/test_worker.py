"""A worker's Celery application: what it does with which message, and what it is built from."""

import re
from pathlib import Path

from edge.storage.redis_cluster import ClusterClient
from edge.storage.runtime_monitor import RunMarker
from shared.jobs.contract import DELIVER, DELIVER_QUEUE, EXECUTE, EXECUTE_PART, JOB_KINDS, QUEUES
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log
from tests.support.workers import RecordedMessages, services_of
from workers.dispatcher.dispatch import Dispatcher
from workers.handlers import job_handlers
from workers.worker import Worker, handlers_of

SETTINGS = Settings.from_environment({"BROKER_URL": "memory://"})


def test_a_worker_takes_the_three_messages_that_are_sent_and_no_other() -> None:
    celery = Worker(SETTINGS, job_handlers).celery
    assert {name for name in celery.tasks if not name.startswith("celery.")} == {EXECUTE, EXECUTE_PART, DELIVER}
    assert {queue.name for queue in celery.conf.task_queues} == set(QUEUES)


def test_a_worker_of_webhooks_alone_takes_no_message_that_names_a_job() -> None:
    assert DELIVER_QUEUE not in {kind.queue for kind in JOB_KINDS.values()}
    assert [handlers_of(queues) for queues in (DELIVER_QUEUE, f"{DELIVER_QUEUE},reports", None)] == [
        None,
        job_handlers,
        job_handlers,
    ]
    assert {name for name in Worker(SETTINGS, None).celery.tasks if not name.startswith("celery.")} == {DELIVER}


def test_every_kind_of_job_has_a_handler() -> None:
    services = services_of(SETTINGS, messages=RecordedMessages())
    assert job_handlers(services).keys() == JOB_KINDS.keys()


def test_two_workers_of_one_process_share_no_state() -> None:
    first, second = Worker(SETTINGS, job_handlers), Worker(SETTINGS, job_handlers)
    assert first.celery is not second.celery
    assert first.celery.tasks[EXECUTE] is not second.celery.tasks[EXECUTE]


def test_every_counter_whose_increase_an_alert_asks_for_begins_with_0() -> None:
    # Prometheus sees no increase in a counter that begins with its first event.
    alerts = Path("deploy/prometheus/alerts.yml").read_text()
    counters = {getattr(metrics, name) for name in re.findall(r"increase\(itemindex_(\w+)_total", alerts)}
    labelled = [counter for counter in counters if counter._labelnames]
    for counter in labelled:
        counter.clear()
    log = Log("tests")
    store = ClusterClient(
        "redis+cluster://h", name="state", deadline_seconds=1.0, hold_seconds=1.0, acked=True, log=log
    )
    RunMarker(store, log)
    Dispatcher(services_of(SETTINGS, messages=RecordedMessages()))
    Worker(SETTINGS, job_handlers)
    for counter in labelled:
        [family] = counter.collect()
        values = [sample.value for sample in family.samples if sample.name.endswith("_total")]
        assert values and not any(values), family.name
