"""A connection whose replies count only once the replicas have what was written; for stores that fail over.

Each batch of commands ends with one WAIT, and its replies are handed on when the WAIT has been answered: a group commit
on the replicas. Without it a primary may acknowledge a charge, die, and be followed by a replica that never saw it; see
deploy/decisions/0016-cluster.md.
"""

from collections.abc import Callable

from edge.storage.redis_client import Connection, Done, Reply, pack
from shared.errors import StoreUnavailable

# Of a command's deadline; what is left is for the reply's way back.
_WAIT_SHARE = 0.8
# What only asks the node itself; the table of slots tells, among others, that a replica is gone.
_FREE = frozenset({pack("PING"), pack("CLUSTER", "SLOTS")})


class Batch:
    """The replies to the commands of one write, kept until it is known whether they hold."""

    def __init__(self, store: str, replicas: int) -> None:
        self.replicas = replicas
        self.waited_for = False
        self._store = store
        self._kept: list[tuple[Done, Reply]] = []

    def keep(self, done: Done) -> Done:
        """Return what to call with a command's reply."""
        self.waited_for = True
        return lambda reply: self._kept.append((done, reply))

    def settle(self, acknowledged: Reply) -> None:
        """Hand the replies on: as they are, or as StoreUnavailable where too few replicas have what was written."""
        holds = isinstance(acknowledged, int) and acknowledged >= self.replicas
        for done, reply in self._kept:
            done(reply if holds or isinstance(reply, Exception) else StoreUnavailable(self._store))


class ReplicatedConnection(Connection):
    """A line on which a reply means: every replica has it. `replicas` tells how many there are at the moment."""

    def __init__(
        self, store: str, deadline_seconds: float, lost: Callable[[], None], replicas: Callable[[], int]
    ) -> None:
        super().__init__(store, deadline_seconds, lost)
        self._replicas = replicas
        self._batch = Batch(store, 0)

    def send(self, packed: bytes, done: Done) -> None:
        """Send with the batch of this turn of the loop."""
        if not self._outgoing:
            self._batch = Batch(self._store, self._replicas())
        # A primary without a replica cannot be followed by one that knows less: nothing to wait for.
        free = not self._batch.replicas or packed in _FREE
        super().send(packed, done if free else self._batch.keep(done))

    def _flush(self) -> None:
        batch = self._batch
        if batch.waited_for and self._transport is not None:
            super().send(pack("WAIT", batch.replicas, int(self._deadline_seconds * 1000 * _WAIT_SHARE)), batch.settle)
        elif batch.waited_for:
            batch.settle(StoreUnavailable(self._store))
        super()._flush()
