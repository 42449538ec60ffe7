"""A worker's Celery application: what it does with which message, and what it is built from."""

from shared.jobs.contract import DELIVER, EXECUTE, HELP_EXPORT, KINDS, QUEUES
from shared.settings.settings import Settings
from tests.support.workers import RecordedMessages, services_of
from workers.handlers import job_handlers
from workers.worker import Worker

SETTINGS = Settings.from_environment({"BROKER_URL": "memory://"})


def test_a_worker_takes_the_three_messages_that_are_sent_and_no_other() -> None:
    celery = Worker(SETTINGS, job_handlers).celery
    assert {name for name in celery.tasks if not name.startswith("celery.")} == {EXECUTE, HELP_EXPORT, DELIVER}
    assert {queue.name for queue in celery.conf.task_queues} == set(QUEUES)


def test_every_kind_of_job_has_a_handler() -> None:
    services = services_of(SETTINGS, messages=RecordedMessages())
    assert job_handlers(services).keys() == KINDS.keys()


def test_two_workers_of_one_process_share_no_state() -> None:
    first, second = Worker(SETTINGS, job_handlers), Worker(SETTINGS, job_handlers)
    assert first.celery is not second.celery
    assert first.celery.tasks[EXECUTE] is not second.celery.tasks[EXECUTE]
