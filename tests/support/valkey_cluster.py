"""A real Valkey cluster for tests: three primaries with a replica each, six processes on loopback."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from deploy.local.paths import free_port
from deploy.local.service_process import Program, ServiceProcess, tail
from deploy.local.valkey import binary

SLOTS = 16_384
SHARDS = 3
# What docs/guides/cluster.md tells operators to set, with a shorter time-out so that a failover takes a second or two.
_OPTIONS = [
    "--cluster-enabled",
    "yes",
    "--cluster-node-timeout",
    "1000",
    "--cluster-require-full-coverage",
    "no",
    "--repl-ping-replica-period",
    "1",
    "--repl-diskless-sync-delay",
    "0",
    "--appendonly",
    "yes",
    "--appendfsync",
    "everysec",
    "--save",
    "",
    "--maxmemory-policy",
    "noeviction",
]


@dataclass
class Node:
    """One process of the cluster."""

    port: int
    child: ServiceProcess
    client: redis.Redis
    id: str = ""

    def ask(self, *command: Any) -> Any:
        """Send one command to this very node."""
        return self.client.execute_command(*command)

    def role(self) -> str:
        """Return what the node takes itself for: master or slave, as the protocol calls them."""
        reported: str = self.ask("ROLE")[0].decode()
        return reported

    def kill(self) -> None:
        """End the process as a crash does."""
        assert self.child.process is not None
        self.child.process.kill()
        self.child.process.wait()


class ValkeyCluster:
    """The nodes, and what a test wants to know of them."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes

    @property
    def url(self) -> str:
        """Address of the cluster, as STATE_URL has it; two of the nodes are enough to find the others."""
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes[:2])

    def alive(self) -> list[Node]:
        """Return the nodes whose process runs."""
        return [node for node in self.nodes if node.child.alive]

    def primary_of(self, slot: int) -> Node:
        """Return the node that has a slot, as the others see it."""
        port = next(entry[2][1] for entry in self.alive()[0].ask("CLUSTER SLOTS") if entry[0] <= slot <= entry[1])
        return next(node for node in self.nodes if node.port == port)

    def replica_of(self, primary: Node) -> Node:
        """Return a primary's replica."""
        entry = next(entry for entry in primary.ask("CLUSTER SLOTS") if entry[2][1] == primary.port)
        return next(node for node in self.nodes if node.port == entry[3][1])

    def heal(self) -> None:
        """Restart the nodes that were killed, and wait until every shard has its replica back."""
        for node in self.nodes:
            if not node.child.alive:
                node.child.start()
        wait_for(self.settled, self.nodes[0])

    def move(self, slot: int, source: Node, target: Node) -> None:
        """Give a slot to another primary, key by key, as all versions can.

        Waits until a caller was answered ASK or TRYAGAIN on the way: some caller must be writing keys of the slot.
        """
        before = _redirected(source)
        target.ask("CLUSTER SETSLOT", slot, "IMPORTING", source.id)
        source.ask("CLUSTER SETSLOT", slot, "MIGRATING", target.id)
        wait_for(lambda: _redirected(source) > before, source)
        while keys := source.ask("CLUSTER GETKEYSINSLOT", slot, 100):
            source.ask("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
        for node in (target, source):
            node.ask("CLUSTER SETSLOT", slot, "NODE", target.id)

    def move_at_once(self, slot: int, source: Node, target: Node) -> None:
        """Give a slot to another primary as Valkey 9 does: copied first, and handed over in one moment."""
        source.ask("CLUSTER MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", target.id)
        wait_for(lambda: self.primary_of(slot) is target, source)

    def wait_for_failover(self, gone: Node) -> None:
        """Wait until the other nodes know another primary for all that one had."""
        others = [node for node in self.alive() if node is not gone]
        wait_for(lambda: all(gone.port not in _primaries(node) for node in others), gone)

    def forget_everything(self) -> None:
        """Empty all shards."""
        for node in self.nodes:
            if node.role() == "master":
                node.ask("FLUSHALL")

    def settled(self) -> bool:
        """Whether every live node sees all slots served, each by a primary with a replica in step."""
        return all(node.child.program.ready() and _covered(node.ask("CLUSTER SLOTS")) for node in self.alive())


@contextmanager
def running_cluster(folder: Path) -> Iterator[ValkeyCluster]:
    """Run a cluster for as long as the block lasts."""
    nodes = [_start(folder, number) for number in range(2 * SHARDS)]
    try:
        for number, node in enumerate(nodes):
            wait_for(node.child.program.ready, node)
            node.id = node.ask("CLUSTER MYID").decode()
            node.ask("CLUSTER SET-CONFIG-EPOCH", number + 1)
            if number < SHARDS:
                first, last = SLOTS * number // SHARDS, SLOTS * (number + 1) // SHARDS - 1
                node.ask("CLUSTER ADDSLOTSRANGE", first, last)
            nodes[0].ask("CLUSTER MEET", "127.0.0.1", node.port, node.child.program.environment["BUS"])
        for node in nodes:
            wait_for(lambda node=node: b"known_nodes:6" in node.ask("CLUSTER INFO"), node)
        for number, node in enumerate(nodes[SHARDS:]):
            node.ask("CLUSTER REPLICATE", nodes[number].id)
        cluster = ValkeyCluster(nodes)
        wait_for(cluster.settled, nodes[0])
        yield cluster
    finally:
        for node in nodes:
            node.client.close()
            node.child.stop()


def wait_for(holds: Callable[[], Any], node: Node, seconds: float = 30.0) -> None:
    """Wait until something holds; fail with the end of the node's log."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, tail(node.child.program.log, 20)
        time.sleep(0.02)


def _redirected(node: Node) -> int:
    """How many commands a node has answered by ASK or TRYAGAIN."""
    text: str = node.ask("INFO errorstats").decode()
    return sum(int(count) for count in re.findall(r"errorstat_(?:ASK|TRYAGAIN):count=(\d+)", text))


def _start(folder: Path, number: int) -> Node:
    directory = folder / f"node-{number}"
    directory.mkdir()
    port, bus = free_port(), free_port()
    client = redis.Redis(port=port, socket_timeout=5, protocol=2)
    client.response_callbacks.clear()  # raw replies: what is tested is what the nodes say
    program = Program(
        name=f"node-{number}",
        command=[
            binary(),
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--cluster-port",
            str(bus),
            "--dir",
            str(directory),
            *_OPTIONS,
        ],
        log=directory / "log",
        environment={"BUS": str(bus)},
        ready=lambda: _answers(client),
    )
    child = ServiceProcess(program)
    child.start()
    return Node(port, child, client)


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


def _primaries(node: Node) -> set[int]:
    return {entry[2][1] for entry in node.ask("CLUSTER SLOTS")}


# An entry is [first, last, primary, replicas…], each node [host, port, id, …].
def _covered(entries: list[list[Any]]) -> bool:
    slots = sum(entry[1] - entry[0] + 1 for entry in entries)
    return slots == SLOTS and all(len(entry) > len(("first", "last", "primary")) for entry in entries)
