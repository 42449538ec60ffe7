"""A worker whose broker stopped during a job connects again, instead of waiting for ever."""

import pytest
from kombu import Connection, Queue
from kombu.transport import redis

from shared.settings.settings import Settings
from tests.support.servers import Servers
from workers.jobs.app import ReconnectingQoS, patch_kombu


def test_an_acknowledgement_that_fails_ends_the_connection(servers: Servers, settings: Settings) -> None:
    patch_kombu()
    assert redis.Channel.QoS is ReconnectingQoS
    with Connection(settings.broker_url) as connection:
        queue = Queue("lost")(connection.default_channel)
        queue.declare()
        connection.SimpleQueue("lost").put({})
        message = queue.get()
        assert message is not None
        pool = message.channel.pool
        pool.connection_kwargs["path"] = str(servers.paths.run / "unused.sock")
        pool.reset()
        with pytest.raises(BrokenPipeError):
            message.ack()
        assert not message.acknowledged
