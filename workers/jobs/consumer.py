"""Celery's consumer, made to survive any message: one that it cannot read is refused, counted and never quoted."""

from collections.abc import Callable

from celery.worker.consumer import Consumer
from kombu.message import Message

from workers.jobs.kombu_redis import UNREADABLE, report_refusal
from workers.jobs.progress import WorkerProgress

_TURN_SECONDS = 1.0


# Options that our tasks never have. Celery reads some of them only after it has taken a place in its pool, and
# an error there keeps the place for ever.
_NEVER_SENT = ("eta", "expires", "timelimit")


def _asks_for_more(headers: object) -> bool:
    given = headers if isinstance(headers, dict) else {}
    return any(given.get(name) not in (None, [None, None]) for name in _NEVER_SENT)


class JobConsumer(Consumer):  # type: ignore[misc]
    """Refuses messages that Celery would log whole or that would end the worker process; notes that its loop turns.

    A refused message is not a lost job: the job's row stays, and the dispatcher sends another message for it.
    """

    def __init__(self, *arguments: object, progress: WorkerProgress, **options: object) -> None:
        super().__init__(*arguments, **options)
        self._progress = progress
        self._celery_loop: Callable[[*tuple[object, ...]], None] = self.loop  # type: ignore[has-type]
        self.loop = self._turning_loop

    def _turning_loop(self, *arguments: object) -> None:
        self._progress.note_turn()
        timer = self.hub.timer.call_repeatedly(_TURN_SECONDS, self._progress.note_turn)
        try:
            self._celery_loop(*arguments)
        finally:
            timer.cancel()
            self._progress.note_loop_end()

    def create_task_handler(self, *arguments: object, **options: object) -> Callable[[Message], None]:
        """Return the handler of a received message; it raises for a lost broker only."""
        handle = super().create_task_handler(*arguments, **options)

        def handle_or_refuse(message: Message) -> None:
            if _asks_for_more(message.headers):
                self._refuse(message, "invalid-task", None)
                return
            try:
                handle(message)
            except UNREADABLE as error:
                self._refuse(message, "unreadable", error)
            except self.connection_errors:
                raise
            except Exception as error:  # noqa: BLE001 - any content of a message must leave the worker alive
                self._refuse(message, "unreadable", error)

        return handle_or_refuse

    def on_unknown_message(self, body: object, message: Message) -> None:
        """Refuse a message that is no task."""
        self._refuse(message, "no-task", None)

    def on_unknown_task(self, body: object, message: Message, exc: BaseException) -> None:
        """Refuse a task that we do not have."""
        self._refuse(message, "unknown-task", None)

    def on_invalid_task(self, body: object, message: Message, exc: BaseException) -> None:
        """Refuse a task with arguments or a content type that we do not take."""
        self._refuse(message, "invalid-task", exc)

    def on_decode_error(self, message: Message, exc: BaseException) -> None:
        """Refuse a message whose body is not what its headers say."""
        self._refuse(message, "unreadable", exc)

    def _refuse(self, message: Message, reason: str, error: BaseException | None) -> None:
        body = message.body if isinstance(message.body, bytes | str | memoryview) else b""
        report_refusal(reason, error, len(body))
        if not message.acknowledged:
            message.reject()  # type: ignore[no-untyped-call]
