"""What must be mended in Celery with a Redis broker: a worker must survive its loss with a job in hand."""

from kombu.transport import redis
from redis.exceptions import ConnectionError, TimeoutError


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


def mend() -> None:
    """Have all channels of this process use them."""
    redis.Channel.QoS = ReconnectingQoS
