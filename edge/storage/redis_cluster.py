"""A client of a Valkey or Redis cluster: each command goes to the node that has its key.

The table of slots is read again once a second, and at once when something tells that it is old: a redirection, a lost
connection, a shard that cannot answer. A command that finds no node for the moment is held, and leaves when the table
says where to: a failover or a slot on its way costs callers a pause and no error. Whatever is sent may arrive twice,
when a reply was lost; everything that the edge sends is made for that.
"""

import asyncio
import contextlib
import random
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import hiredis

from edge.storage.redis_client import Address, Connection, Done, RedisClient, Reply, SingleNodeClient, pack
from edge.storage.redis_replicated import ReplicatedConnection
from edge.storage.redis_slots import SLOTS, Shard, Where, key_of, read_redirection, read_slots, slot_of
from shared.errors import StoreUnavailable
from shared.redis.urls import parse_cluster
from shared.telemetry import metrics
from shared.telemetry.log import Log

_TABLE_SECONDS = 1.0
# The least pause between two readings of the table, and between two attempts of what is held.
_PAUSE_SECONDS = 0.1
_HOPS_MAX = 5
_HELD_MAX = 4096
_ASKING = pack("ASKING")
_LOAD = b"*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n"
# Replies of a shard that fails over, starts, or hands a slot on: the same command can succeed in a moment.
_PASSING = ("TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "NOREPLICAS", "READONLY")
_FOREIGN_KEY = "non local key"  # of a script that met a slot on its way


class Node(SingleNodeClient):
    """One primary of the cluster. On every new connection it is taught the scripts that the cluster was taught."""

    def __init__(self, address: Address, cluster: "ClusterClient", *, deadline_seconds: float, log: Log) -> None:
        where = f"{address.host}:{address.port}"
        super().__init__(address, name=cluster.name, deadline_seconds=deadline_seconds, log=log.bind(node=where))
        self.host = address.host
        self.replicas = 0
        self.lost_at = asyncio.get_running_loop().time()
        self._cluster = cluster

    async def _connect(self) -> None:
        await super()._connect()
        for packed in self._cluster.scripts:
            self.send(packed, _forget)

    def _make_line(self, lost: Callable[[], None]) -> Connection:
        if self._cluster.acked:
            # The greeting of a new connection waits for nobody: a stalled replica must not keep us from its primary.
            return ReplicatedConnection(
                self.name, self._deadline_seconds, lost, lambda: self.replicas if self.healthy else 0
            )
        return super()._make_line(lost)

    def _on_lost(self, line: Connection) -> None:
        if self._line is line:
            self.lost_at = asyncio.get_running_loop().time()
            self._cluster.look_again()
        super()._on_lost(line)


class Call:
    """One command on its way. `expires` is when it is given up, once it had to be held."""

    __slots__ = ("done", "expires", "hops", "packed", "slot")

    def __init__(self, packed: bytes, done: Done, slot: int) -> None:
        self.packed = packed
        self.done = done
        self.slot = slot
        self.expires = 0.0
        self.hops = 0


class ClusterClient(RedisClient):
    """Sends commands to a cluster. `acked`: a reply counts once every replica has what was written.

    A command is held for at most `hold_seconds`; 0 holds none. A command without a key goes to every primary.
    """

    asks_again = True

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
        self._nodes: dict[Where, Node] = {}
        self._owners: list[Node | None] = [None] * SLOTS
        self._shards: list[Shard] = []
        self._known: list[Where] = []
        self._held: deque[Call] = deque()
        self._stale = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def healthy(self) -> bool:
        """Whether any primary can be asked now, or was lost so lately that its commands are held."""
        since = asyncio.get_running_loop().time() - self._hold_seconds
        return any(node.healthy or node.lost_at > since for node in self._nodes.values())

    async def start(self) -> None:
        """Find the nodes; never fails: attempts go on in the background."""
        await self._read_table()
        self._task = asyncio.create_task(self._tend())

    async def close(self) -> None:
        """Close every connection; what is held fails."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        nodes, self._nodes = self._nodes, {}
        for node in nodes.values():
            await node.close()
        self._hold_seconds = 0.0
        held, self._held = self._held, deque()
        for call in held:
            self._give_up(call)

    def send(self, packed: bytes, done: Done) -> None:
        """Send a packed command to the node that has its first key."""
        key = key_of(packed)
        if key is None:
            self._send_to_all(packed, done)
        else:
            self._try(Call(packed, done, slot_of(key)))

    def look_again(self) -> None:
        """Have the table read, at once or as soon as it may be read again."""
        self._stale.set()

    def _try(self, call: Call) -> None:
        node = self._owners[call.slot]
        if node is None or not node.healthy:
            self._hold(call, node)
        else:
            node.send(call.packed, partial(self._answered, call, node))

    def _answered(self, call: Call, node: Node, reply: Reply) -> None:
        if not isinstance(reply, Exception):
            call.done(reply)
            return
        text = str(reply) if isinstance(reply, hiredis.ReplyError) else ""
        if text.startswith("MOVED "):
            self._moved(call, self._nodes.get(read_redirection(text, node.host)))
        elif text.startswith("ASK "):
            self._ask(call, node, self._nodes.get(read_redirection(text, node.host)))
        elif not text or text.startswith(_PASSING) or _FOREIGN_KEY in text:
            self.look_again()
            self._hold(call, node)
        else:
            call.done(reply)

    def _moved(self, call: Call, node: Node | None) -> None:
        self._shards = []  # whatever the table says next is taken over
        self.look_again()
        call.hops += 1
        if node is None or not node.healthy or call.hops > _HOPS_MAX:
            self._hold(call, node)  # a new primary: the table has to tell first how many replicas it has
        else:
            self._owners[call.slot] = node
            self._try(call)

    def _ask(self, call: Call, node: Node, other: Node | None) -> None:
        if other is None or not other.healthy:
            self.look_again()
            self._hold(call, node)
        else:
            other.send(_ASKING, _forget)
            other.send(call.packed, partial(self._answered, call, other))

    def _hold(self, call: Call, node: Node | None) -> None:
        now = asyncio.get_running_loop().time()
        if not call.expires:
            # Counted from when the node was lost, so that in a long outage nobody waits for nothing.
            since = now if node is None or node.healthy else node.lost_at
            call.expires = since + self._hold_seconds
            if now < call.expires:
                metrics.store_held.labels(self.name).inc()
        if now >= call.expires or len(self._held) >= _HELD_MAX:
            self._give_up(call)
        else:
            self._held.append(call)
            self.look_again()

    def _give_up(self, call: Call) -> None:
        metrics.store_errors.labels(self.name).inc()
        call.done(StoreUnavailable(self.name))

    def _send_to_all(self, packed: bytes, done: Done) -> None:
        nodes, replies = list(self._nodes.values()), list[Reply]()
        if packed.startswith(_LOAD):
            self.scripts[packed] = None

        def answered(reply: Reply) -> None:
            replies.append(reply)
            if len(replies) == len(nodes):
                done(next((one for one in replies if isinstance(one, Exception)), reply))

        for node in nodes:
            node.send(packed, answered)
        if not nodes:
            done(StoreUnavailable(self.name))

    async def _tend(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TABLE_SECONDS):
                    await self._stale.wait()
            self._stale.clear()
            await self._read_table()
            held, self._held = self._held, deque()
            for call in held:
                call.hops = 0
                self._try(call)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _read_table(self) -> None:
        """Ask the nodes in turn, in any order, until one tells; while none does, the table stays as it is."""
        asked = [node for node in self._nodes.values() if node.healthy] or await self._strangers()
        random.shuffle(asked)
        for node in asked:
            with contextlib.suppress(StoreUnavailable):
                reply = await node.command("CLUSTER", "SLOTS")
                await self._take_over(read_slots(reply, node.host))
                return

    async def _strangers(self) -> list[Node]:
        """Connect to one of those that the last table or the settings name."""
        for where in dict.fromkeys((*self._known, *self._url.nodes)):
            node = self._nodes.get(where) or await self._meet(where)
            if node.healthy:
                return [node]
        return []

    async def _meet(self, where: Where) -> Node:
        url = self._url
        address = Address(None, *where, 0, url.user, url.password, url.tls)
        node = Node(address, self, deadline_seconds=self._deadline_seconds, log=self._log)
        self._nodes[where] = node
        await node.start()
        return node

    async def _take_over(self, shards: list[Shard]) -> None:
        if shards == self._shards or not shards:
            return
        primaries = {shard.primary for shard in shards}
        await asyncio.gather(*(self._meet(where) for where in primaries - self._nodes.keys()))
        self._shards = shards
        self._known = [where for shard in shards for where in (shard.primary, *shard.replicas)]
        self._owners = [None] * SLOTS
        for shard in shards:
            node = self._nodes[shard.primary]
            node.replicas = len(shard.replicas)
            self._owners[shard.first : shard.last + 1] = [node] * (shard.last + 1 - shard.first)
        self._log.info("store-moved", store=self.name, primaries=sorted(f"{host}:{port}" for host, port in primaries))
        for where in self._nodes.keys() - primaries:
            await self._nodes[where].close()  # and only then forgotten: our own close() may come in between
            del self._nodes[where]


def _forget(reply: Any) -> None:
    return
