"""The client of a cluster against stand-ins: redirections, what is held, what is waited for, what is never hurried."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from edge.storage.redis_cluster import ClusterClient
from shared.errors import StoreUnavailable
from shared.telemetry.log import Log
from tests.support.resp import Answers, Stub, stubs, table

LAST = 16_383

FOO = 12_182

OK = b"+OK\r\n"

_LOG = Log("tests", level="error")


@asynccontextmanager
async def client_of(
    node: Stub, *, hold_seconds: float = 5.0, acked: bool = False, deadline_seconds: float = 1.0
) -> AsyncIterator[ClusterClient]:
    """Run a client that knows one node to begin with."""
    client = ClusterClient(
        f"redis+cluster://127.0.0.1:{node.port}",
        name="state",
        deadline_seconds=deadline_seconds,
        hold_seconds=hold_seconds,
        acked=acked,
        log=_LOG,
    )
    await client.start()
    try:
        yield client
    finally:
        await client.close()


def owning_all(replies: dict[str, list[bytes]] | None = None, *, replicas: int = 0) -> Answers:
    """Answer as the only primary; for a name, the replies in turn, the last one again and again."""
    left = {name: list(reported) for name, reported in (replies or {}).items()}

    def answer(stub: Stub, command: list[bytes]) -> bytes | None:
        name = command[0].decode()
        if name in left:
            return left[name].pop(0) if len(left[name]) > 1 else left[name][0]
        if name == "CLUSTER":
            return table((0, LAST, [stub.port, *range(1, 1 + replicas)]))
        return OK

    return answer


async def test_moved_is_followed_and_remembered() -> None:
    ports: list[int] = []

    def source(stub: Stub, command: list[bytes]) -> bytes | None:
        if command[0] == b"CLUSTER":
            return table((0, FOO, [stub.port]), (FOO + 1, LAST, [ports[1]]))
        return b"-MOVED %d 127.0.0.1:%d\r\n" % (FOO, ports[1])

    def target(stub: Stub, command: list[bytes]) -> bytes | None:
        if command[0] == b"CLUSTER":
            return table((0, FOO - 1, [ports[0]]), (FOO, LAST, [stub.port]))
        return b"$3\r\nbar\r\n"

    async with stubs(source, target) as nodes:
        ports.extend(node.port for node in nodes)
        async with client_of(nodes[0]) as client:
            assert [await client.command("GET", "foo") for _ in range(3)] == [b"bar"] * 3
        assert nodes[0].names().count("GET") <= 2  # an old table may be read once more in between
        assert nodes[1].names().count("GET") == 3


async def test_ask_is_for_one_command_and_is_sent_behind_its_asking() -> None:
    ports: list[int] = []

    def answer(stub: Stub, command: list[bytes]) -> bytes | None:
        if command[0] == b"CLUSTER":
            return table((0, FOO, [ports[0]]), (FOO + 1, LAST, [ports[1]]))
        if stub.port == ports[0]:
            return b"-ASK %d 127.0.0.1:%d\r\n" % (FOO, ports[1])
        return OK

    async with stubs(answer, answer) as nodes:
        ports.extend(node.port for node in nodes)
        async with client_of(nodes[0]) as client:
            for _ in range(2):
                assert await client.command("SET", "foo", "x") == b"OK"
        assert nodes[0].names().count("SET") == 2
        reported = [name for name in nodes[1].names() if name not in ("PING", "CLUSTER")]
        assert reported == ["ASKING", "SET", "ASKING", "SET"]


async def test_a_passing_fault_is_waited_out() -> None:
    for passing in (
        "TRYAGAIN",
        "CLUSTERDOWN",
        "LOADING",
        "READONLY",
        "ERR Script attempted to access a non local key in a cluster node",
    ):
        replies = {"SET": [f"-{passing} now\r\n".encode()] * 3 + [OK]}
        async with stubs(owning_all(replies)) as nodes, client_of(nodes[0]) as client:
            assert await client.command("SET", "foo", "x") == b"OK", passing
            assert nodes[0].names().count("SET") == 4, passing


async def test_a_lasting_fault_is_given_up_in_time_and_without_hurry() -> None:
    async with (
        stubs(owning_all({"SET": [b"-CLUSTERDOWN down\r\n"]})) as nodes,
        client_of(nodes[0], hold_seconds=1) as client,
    ):
        begun = time.monotonic()
        with pytest.raises(StoreUnavailable):
            await client.command("SET", "foo", "x")
        assert time.monotonic() - begun >= 1
        assert nodes[0].names().count("SET") <= 12
        assert nodes[0].names().count("CLUSTER") <= 13


async def test_a_command_that_must_not_be_held_fails_at_once() -> None:
    async with (
        stubs(owning_all({"GET": [b"-CLUSTERDOWN down\r\n"]})) as nodes,
        client_of(nodes[0], hold_seconds=0) as client,
    ):
        with pytest.raises(StoreUnavailable):
            await client.command("GET", "foo")
        assert nodes[0].names().count("GET") == 1


async def test_an_error_of_the_command_itself_is_the_caller_s() -> None:
    async with stubs(owning_all({"SET": [b"-OOM command not allowed\r\n"]})) as nodes, client_of(nodes[0]) as client:
        replies: list[object] = []
        client.send(b"*3\r\n$3\r\nSET\r\n$3\r\nfoo\r\n$1\r\nx\r\n", replies.append)
        async with asyncio.timeout(5):
            while not replies:
                await asyncio.sleep(0.01)
        assert str(replies[0]).startswith("OOM")
        assert nodes[0].names().count("SET") == 1


async def test_a_lost_reply_is_asked_for_again() -> None:
    async with stubs(owning_all({"SET": [None, OK]})) as nodes:  # type: ignore[list-item]
        async with client_of(nodes[0], deadline_seconds=0.2) as client:
            assert await client.command("SET", "foo", "x") == b"OK"
        assert nodes[0].names().count("SET") == 2


async def test_a_store_that_was_lost_just_now_is_waited_for() -> None:
    async with stubs(owning_all({"SET": [None, OK]})) as nodes:  # type: ignore[list-item]
        async with client_of(nodes[0], deadline_seconds=0.2) as client:
            waiting = asyncio.create_task(client.command("SET", "foo", "x"))
            node = next(iter(client._nodes.values()))
            async with asyncio.timeout(5):
                while node.healthy:
                    await asyncio.sleep(0.01)
            assert client.healthy
            assert await waiting == b"OK"


async def test_every_new_connection_is_taught_the_scripts_first() -> None:
    async with stubs(owning_all({"SET": [None, OK]})) as nodes:  # type: ignore[list-item]
        async with client_of(nodes[0], deadline_seconds=0.2) as client:
            await client.command("SCRIPT", "LOAD", "return 1")
            await client.command("SET", "foo", "x")
        names = nodes[0].names()
        assert names.count("SCRIPT") == 2
        assert names[names.index("SET") + 1 :].index("SCRIPT") < names[names.index("SET") + 1 :].index("SET")


async def test_a_reply_counts_once_the_replicas_have_it() -> None:
    replies = {"WAIT": [b":0\r\n", b":1\r\n"]}
    async with stubs(owning_all(replies, replicas=1)) as nodes, client_of(nodes[0], acked=True) as client:
        assert await client.command("SET", "foo", "x") == b"OK"
        reported = [name for name in nodes[0].names() if name in ("SET", "WAIT")]
        assert reported == ["SET", "WAIT"] * 2


async def test_commands_of_one_turn_share_one_wait_and_questions_need_none() -> None:
    async with stubs(owning_all({"WAIT": [b":1\r\n"]}, replicas=1)) as nodes, client_of(nodes[0], acked=True) as client:
        await asyncio.gather(*(client.command("SET", f"k{n}", "x") for n in range(20)))
        assert nodes[0].names().count("WAIT") == 1
        nodes[0].asked.clear()
        await client.command("PING")
        assert "WAIT" not in nodes[0].names()


async def test_replicas_that_never_answer_stop_the_writes_and_not_the_table() -> None:
    async with stubs(owning_all({"WAIT": [b":0\r\n"]}, replicas=1)) as nodes:
        async with client_of(nodes[0], acked=True, hold_seconds=1) as client:
            with pytest.raises(StoreUnavailable):
                await client.command("SET", "foo", "x")
            assert client.healthy
            assert nodes[0].names().count("CLUSTER") > 3


async def test_without_any_node_it_starts_and_finds_them_later() -> None:
    async with stubs(owning_all()) as nodes:
        gone = Stub(owning_all(), port=1)
        async with client_of(gone, hold_seconds=0) as client:
            assert not client.healthy
            with pytest.raises(StoreUnavailable):
                await client.command("GET", "foo")
            client._url = client._url._replace(nodes=(("127.0.0.1", 1), ("127.0.0.1", nodes[0].port)))
            reply: Any = None
            async with asyncio.timeout(10):
                while reply is None:  # connected is not enough: a command is sent where the table says
                    with suppress(StoreUnavailable):
                        reply = await client.command("SET", "foo", "x")
                    await asyncio.sleep(0.05)
            assert reply == b"OK" and client.healthy
