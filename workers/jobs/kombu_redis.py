"""Patches for kombu's Redis transport: a worker must survive the loss of its broker, and any message in it."""

from kombu.transport import redis
from redis.exceptions import ConnectionError, TimeoutError

from shared.telemetry import metrics
from shared.telemetry.log import Log

_log = Log("worker")
# The errors that reading content raises. kombu counts some of it as a lost connection, so it comes first.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)

REASONS = ("no-message", "no-task", "unknown-task", "invalid-task", "unreadable")
"""Why a message is refused."""


class ReconnectingQoS(redis.QoS):
    """Acknowledges messages; if the broker is out of reach, the connection is closed and the message is not forgotten.

    kombu only logs an acknowledgement that failed, unless it was a BrokenPipeError. The message then stays reserved;
    with prefetch 1 the worker accepts no other message, and since it no longer reads from the socket it never notices
    that the connection is dead (celery #10302 and others). A BrokenPipeError makes the worker reconnect.
    """

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge; raise BrokenPipeError if the broker is unavailable."""
        try:
            super().ack(delivery_tag)  # type: ignore[no-untyped-call]
        except (ConnectionError, TimeoutError) as error:
            raise BrokenPipeError(str(error)) from error


def report_refusal(reason: str, error: BaseException | None, bytes_read: int) -> None:
    """Count and log a refused message. Its body is never logged: any client of the broker could have written it."""
    metrics.messages_refused.labels(reason).inc()
    name = type(error).__name__ if error is not None else None
    _log.warning("message-refused", reason=reason, error=name, bytes=bytes_read)


class ReadingChannel(redis.Channel):
    """Drops an entry of a queue that is not a message in kombu's format; the worker would end on it."""

    def _brpop_read(self, **options: object) -> object:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call]
        except UNREADABLE as error:
            report_refusal("no-message", error, 0)
            return True


def patch_kombu() -> None:
    """Have all Redis channels of this process use these classes. Calling it again changes nothing."""
    redis.Channel.QoS = ReconnectingQoS
    redis.Transport.Channel = ReadingChannel
