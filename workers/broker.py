"""What must be mended in Celery with a Redis broker: a worker must survive its loss, and any message in it."""

from typing import Any

from kombu.transport import redis
from redis.exceptions import ConnectionError, TimeoutError

from shared.telemetry import metrics
from shared.telemetry.log import Log

_log = Log("worker")
# What reading content raises. kombu counts some of it as a lost connection, so it comes first.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


class ReconnectingQoS(redis.QoS):
    """Acknowledges messages; where the broker is out of reach the connection is given up, not the message forgotten.

    kombu only logs an acknowledgement that failed, unless it was a BrokenPipeError. The message then counts as taken
    for ever, a worker that may hold one at a time takes no other, and with nothing to listen for it never notices that
    the line is dead (celery #10302 and others). A BrokenPipeError makes the worker connect anew.
    """

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge; raise BrokenPipeError where the broker is away."""
        try:
            super().ack(delivery_tag)  # type: ignore[no-untyped-call]
        except (ConnectionError, TimeoutError) as error:
            raise BrokenPipeError(str(error)) from error


def refused(reason: str, error: BaseException | None, bytes_read: int) -> None:
    """Count and log a refused message. Its body is never logged: whoever reached the broker has chosen it."""
    metrics.messages_refused.labels(reason).inc()
    name = type(error).__name__ if error is not None else None
    _log.warning("message-refused", reason=reason, error=name, bytes=bytes_read)


class ReadingChannel(redis.Channel):
    """Drops what lies in a queue and is not a message of kombu's form; the worker would end over it."""

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call]
        except UNREADABLE as error:
            refused("no-message", error, 0)
            return True


def mend() -> None:
    """Have all channels of this process use them."""
    redis.Channel.QoS = ReconnectingQoS
    redis.Transport.Channel = ReadingChannel
