"""A connection that delivers replies only after the replicas have the write; for servers that fail over.

Each batch of commands ends with one WAIT, and its replies are delivered when the WAIT is answered: a group commit on
the replicas. Without it a primary could acknowledge a charge and fail, and the promoted replica would not know the
charge. See docs/decisions/0016-cluster.md.
"""

from collections.abc import Callable

from edge.storage.redis_client import Done, RedisConnection, Reply, deliver, pack
from shared.errors import StoreUnavailable

# Share of a command's deadline; the rest is for the reply to travel back.
_WAIT_SHARE = 0.8
# Commands that do not depend on replicas; the slot table is how the client learns that a replica is gone.
_NOT_REPLICATED = frozenset({pack("PING"), pack("CLUSTER", "SLOTS")})


class ReplicatedBatch:
    """The replies to the commands of one write, held until the replicas have acknowledged it."""

    def __init__(self, store: str, replicas: int) -> None:
        self.replicas = replicas
        self.has_commands = False
        self._store = store
        self._held_replies: list[tuple[Done, Reply]] = []

    def hold_reply(self, done: Done) -> Done:
        """Return a callback that holds a command's reply."""
        self.has_commands = True
        return lambda reply: self._held_replies.append((done, reply))

    def resolve(self, acknowledged: Reply) -> None:
        """Deliver the replies, or StoreUnavailable if too few replicas have the write."""
        holds = isinstance(acknowledged, int) and acknowledged >= self.replicas
        for done, reply in self._held_replies:
            deliver(done, reply if holds or isinstance(reply, Exception) else StoreUnavailable(self._store))


class ReplicatedConnection(RedisConnection):
    """A connection on which a reply means that every replica has the write. `replicas` returns their current number."""

    def __init__(
        self, store: str, deadline_seconds: float, on_lost: Callable[[], None], replicas: Callable[[], int]
    ) -> None:
        super().__init__(store, deadline_seconds, on_lost)
        self._replicas = replicas
        self._batch = ReplicatedBatch(store, 0)

    def send(self, packed: bytes, done: Done) -> None:
        """Add a command to the batch of this loop iteration."""
        if not self._outgoing:
            self._batch = ReplicatedBatch(self._store, self._replicas())
        # Without replicas there is no failover to an older state, so there is nothing to wait for.
        free = not self._batch.replicas or packed in _NOT_REPLICATED
        super().send(packed, done if free else self._batch.hold_reply(done))

    def _flush(self) -> None:
        batch = self._batch
        if batch.has_commands and self._transport is not None:
            super().send(pack("WAIT", batch.replicas, int(self._deadline_seconds * 1000 * _WAIT_SHARE)), batch.resolve)
        elif batch.has_commands:
            batch.resolve(StoreUnavailable(self._store))
        super()._flush()
