"""A client of a Redis cluster: each command is sent to the primary that owns its key's slot.

The slot table is read once a second, and at once when a reply shows that it is out of date: a redirection, a lost
connection, a shard that cannot answer. A command without an available node is held until the table names one, so a
failover or a migrating slot costs callers a pause and no error. A command whose reply was lost is sent again;
everything that the edge sends is idempotent for that reason.
"""

import asyncio
import contextlib
import random
from collections import deque
from collections.abc import Callable
from functools import partial

import hiredis

from edge.storage.background import Background
from edge.storage.cluster_slots import SLOTS, NodeAddress, Shard, key_of, read_redirection, read_slots, slot_of
from edge.storage.redis_client import (
    Address,
    Done,
    RedisClient,
    RedisConnection,
    Reply,
    SingleNodeClient,
    deliver,
    pack,
)
from edge.storage.replicated_connection import ReplicatedConnection
from shared.errors import StoreUnavailable
from shared.redis.urls import parse_cluster
from shared.telemetry import metrics
from shared.telemetry.log import Log

_TABLE_SECONDS = 1.0
# The shortest pause between two reads of the table and between two attempts of held commands.
_PAUSE_SECONDS = 0.1
_HOPS_MAX = 5
_HELD_MAX = 4096
_ASKING = pack("ASKING")
_LOAD = b"*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n"
# Replies of a shard that fails over, starts or migrates a slot: the same command may succeed a moment later.
_TRANSIENT_ERRORS = ("TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "NOREPLICAS", "READONLY")
_FOREIGN_KEY = "non local key"  # from a script whose slot is migrating


class Node(SingleNodeClient):
    """One primary of the cluster. Loads the cluster's scripts again on each new connection."""

    def __init__(self, address: Address, cluster: "ClusterClient", *, deadline_seconds: float, log: Log) -> None:
        where = f"{address.host}:{address.port}"
        super().__init__(address, name=cluster.name, deadline_seconds=deadline_seconds, log=log.bind(node=where))
        self.host = address.host
        self.replicas = 0
        self.disconnected_at = asyncio.get_running_loop().time()
        self._cluster = cluster

    async def _connect(self) -> None:
        await super()._connect()
        for packed in self._cluster.scripts:
            self.send(packed, _ignore)

    def _make_connection(self, on_lost: Callable[[], None]) -> RedisConnection:
        if self._cluster.acked:
            # The handshake does not wait for replicas: a stalled replica must not block its primary.
            return ReplicatedConnection(
                self.name, self._deadline_seconds, on_lost, lambda: self.replicas if self.healthy else 0
            )
        return super()._make_connection(on_lost)

    def _on_connection_lost(self, connection: RedisConnection) -> None:
        if self._connection is connection:
            self.disconnected_at = asyncio.get_running_loop().time()
            self._cluster.request_refresh()
        super()._on_connection_lost(connection)


class PendingCommand:
    """One command in flight. `expires` is the loop time at which a held command fails; 0.0 before it is held."""

    __slots__ = ("done", "expires", "hops", "packed", "slot")

    def __init__(self, packed: bytes, done: Done, slot: int) -> None:
        self.packed = packed
        self.done = done
        self.slot = slot
        self.expires = 0.0
        self.hops = 0


class ClusterClient(RedisClient):
    """Sends commands to a cluster. With `acked`, a reply is delivered only after every replica has the write.

    A command is held for at most `hold_seconds`; 0 holds none. A command without a key is sent to every primary.
    """

    retries_commands = True

    def __init__(
        self, url: str, *, name: str, deadline_seconds: float, hold_seconds: float, acked: bool, log: Log
    ) -> None:
        self._url = parse_cluster(url)
        self.name = name
        self.acked = acked
        self.scripts: dict[bytes, None] = {}
        self._deadline_seconds = deadline_seconds
        self._hold_seconds = hold_seconds
        self._log = log
        self._nodes: dict[NodeAddress, Node] = {}
        self._owners: list[Node | None] = [None] * SLOTS
        self._shards: list[Shard] = []
        self._known: list[NodeAddress] = []
        self._postponed: deque[PendingCommand] = deque()
        self._stale = asyncio.Event()
        self._background = Background(self._refresh_loop, log)
        # There from the beginning, as 0: Prometheus sees no increase in a counter that begins with its first failover.
        self._delays = metrics.store_delayed_commands.labels(name)

    @property
    def healthy(self) -> bool:
        """Whether any primary is connected, or was lost so recently that its commands are still held."""
        since = asyncio.get_running_loop().time() - self._hold_seconds
        return any(node.healthy or node.disconnected_at > since for node in self._nodes.values())

    async def start(self) -> None:
        """Discover the nodes. Never fails: attempts continue in the background."""
        await self._read_table()
        self._background.start()

    async def close(self) -> None:
        """Close every connection; held commands fail."""
        await self._background.stop()
        nodes, self._nodes = self._nodes, {}
        for node in nodes.values():
            await node.close()
        self._hold_seconds = 0.0
        held, self._postponed = self._postponed, deque()
        for pending in held:
            self._fail(pending)

    def send(self, packed: bytes, done: Done) -> None:
        """Send a packed command to the node that owns its first key."""
        key = key_of(packed)
        if key is None:
            self._send_to_all(packed, done)
        else:
            self._dispatch(PendingCommand(packed, done, slot_of(key)))

    def request_refresh(self) -> None:
        """Request a read of the slot table as soon as the pause between reads allows."""
        self._stale.set()

    def _dispatch(self, pending: PendingCommand) -> None:
        node = self._owners[pending.slot]
        if node is None or not node.healthy:
            self._hold(pending, node)
        else:
            node.send(pending.packed, partial(self._take_reply, pending, node))

    def _take_reply(self, pending: PendingCommand, node: Node, reply: Reply) -> None:
        if not isinstance(reply, Exception):
            deliver(pending.done, reply)
            return
        text = str(reply) if isinstance(reply, hiredis.ReplyError) else ""
        if text.startswith("MOVED "):
            self._follow_move(pending, self._nodes.get(read_redirection(text, node.host)))
        elif text.startswith("ASK "):
            self._ask(pending, node, self._nodes.get(read_redirection(text, node.host)))
        elif not text or text.startswith(_TRANSIENT_ERRORS) or _FOREIGN_KEY in text:
            self.request_refresh()
            self._hold(pending, node)
        else:
            deliver(pending.done, reply)

    def _follow_move(self, pending: PendingCommand, node: Node | None) -> None:
        self._shards = []  # so that the next table is applied even if it looks unchanged
        self.request_refresh()
        pending.hops += 1
        if node is None or not node.healthy or pending.hops > _HOPS_MAX:
            self._hold(pending, node)  # a new primary: its number of replicas is known only from the table
        else:
            self._owners[pending.slot] = node
            self._dispatch(pending)

    def _ask(self, pending: PendingCommand, node: Node, other: Node | None) -> None:
        if other is None or not other.healthy:
            self.request_refresh()
            self._hold(pending, node)
        else:
            other.send(_ASKING, _ignore)
            other.send(pending.packed, partial(self._take_reply, pending, other))

    def _hold(self, pending: PendingCommand, node: Node | None) -> None:
        now = asyncio.get_running_loop().time()
        if not pending.expires:
            # Measured from the loss of the node: in a long outage callers fail at once instead of waiting in vain.
            since = now if node is None or node.healthy else node.disconnected_at
            pending.expires = since + self._hold_seconds
            if now < pending.expires:
                self._delays.inc()
        if now >= pending.expires or len(self._postponed) >= _HELD_MAX:
            self._fail(pending)
        else:
            self._postponed.append(pending)
            self.request_refresh()

    def _fail(self, pending: PendingCommand) -> None:
        metrics.store_errors.labels(self.name).inc()
        deliver(pending.done, StoreUnavailable(self.name))

    def _send_to_all(self, packed: bytes, done: Done) -> None:
        nodes, replies = list(self._nodes.values()), list[Reply]()
        if packed.startswith(_LOAD):
            self.scripts[packed] = None

        def collect(reply: Reply) -> None:
            replies.append(reply)
            if len(replies) == len(nodes):
                deliver(done, next((answer for answer in replies if isinstance(answer, Exception)), reply))

        for node in nodes:
            node.send(packed, collect)
        if not nodes:
            deliver(done, StoreUnavailable(self.name))

    async def _refresh_loop(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TABLE_SECONDS):
                    await self._stale.wait()
            self._stale.clear()
            await self._read_table()
            held, self._postponed = self._postponed, deque()
            for pending in held:
                pending.hops = 0
                self._dispatch(pending)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _read_table(self) -> None:
        """Read the table from the first node that answers, in random order; keep the old one if none does."""
        requested = [node for node in self._nodes.values() if node.healthy] or await self._seed_nodes()
        random.shuffle(requested)
        for node in requested:
            with contextlib.suppress(StoreUnavailable):
                reply = await node.command("CLUSTER", "SLOTS")
                await self._apply_topology(read_slots(reply, node.host))
                return

    async def _seed_nodes(self) -> list[Node]:
        """Connect to one of the nodes that the last table or the setting names."""
        for where in dict.fromkeys((*self._known, *self._url.nodes)):
            node = self._nodes.get(where) or await self._connect_node(where)
            if node.healthy:
                return [node]
        return []

    async def _connect_node(self, where: NodeAddress) -> Node:
        url = self._url
        address = Address(None, *where, 0, url.user, url.password, url.tls)
        node = Node(address, self, deadline_seconds=self._deadline_seconds, log=self._log)
        self._nodes[where] = node
        await node.start()
        return node

    async def _apply_topology(self, shards: list[Shard]) -> None:
        if shards == self._shards or not shards:
            return
        primaries = {shard.primary for shard in shards}
        await asyncio.gather(*(self._connect_node(where) for where in primaries - self._nodes.keys()))
        self._shards = shards
        self._known = [where for shard in shards for where in (shard.primary, *shard.replicas)]
        self._owners = [None] * SLOTS
        for shard in shards:
            node = self._nodes[shard.primary]
            node.replicas = len(shard.replicas)
            self._owners[shard.first : shard.last + 1] = [node] * (shard.last + 1 - shard.first)
        self._log.info("store-moved", store=self.name, primaries=sorted(f"{host}:{port}" for host, port in primaries))
        for where in self._nodes.keys() - primaries:
            await self._nodes[where].close()  # removed only after closing: our own close() may run in between
            del self._nodes[where]


def _ignore(reply: object) -> None:
    return
