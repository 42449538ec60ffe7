"""The clients of the state store and of PostgreSQL, without a server."""

import asyncio
import io
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock
from urllib.parse import quote

import asyncpg
import pytest
from asyncpg import UndefinedTableError
from cryptography import x509

from edge.quota.limiter import REFUND, TAKE
from edge.storage.data_version import DataVersionWatcher
from edge.storage.database import FairShare
from edge.storage.monitor import CertificateMonitor, PgListener
from edge.storage.redis_client import SingleNodeClient, pack
from edge.storage.redis_cluster import Batch, ClusterClient, Shard, key_of, read_redirection, read_slots, slot_of
from shared.errors import ConfigurationError, StoreUnavailable
from shared.jobs.contract import refund_arguments
from shared.redis import keys
from shared.redis.urls import ClusterUrl, is_cluster, parse_cluster
from shared.telemetry import metrics
from shared.telemetry.log import Log
from tests.support.authority import Authority
from tests.support.resp import Answers, Stub, stubs, table

# The client of a store comes back, whatever the store did to its connections.


async def pong(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(1024):
        writer.write(b"+PONG\r\n")
    writer.close()


@asynccontextmanager
async def serving(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], path: str
) -> AsyncIterator[None]:
    """Serve a socket for as long as the block lasts, and wait until every connection has ended."""
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        await handle(reader, writer)

    async with await asyncio.start_unix_server(connected, path):
        yield
        await asyncio.gather(*connections)


@asynccontextmanager
async def client_at(path: str, *, deadline_seconds: float = 0.5) -> AsyncIterator[SingleNodeClient]:
    """Run a client that is connected with the store behind a socket; nothing here may take longer than ten seconds."""
    client = SingleNodeClient(
        f"unix://{quote(path)}", name="state", deadline_seconds=deadline_seconds, log=Log("tests")
    )
    async with asyncio.timeout(10):
        await client.start()
        while not client.healthy:
            await asyncio.sleep(0.01)
        yield client
        await client.close()


@pytest.mark.parametrize("moment", ["at once", "before the first word", "after the last word"])
async def test_a_store_that_hangs_up_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """As a store at its `maxclients` does, or a proxy without a store behind it; no caller may wait for a lost connection."""
    path, calls = str(tmp_path / "store.sock"), 0
    step = "_handshake" if moment == "after the last word" else "_open"
    whole: Any = getattr(SingleNodeClient, step)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if moment == "at once" and calls == 1:
            writer.transport.abort()
        else:
            await pong(reader, writer)

    async def then_lose(self: SingleNodeClient, *given: Any) -> Any:
        nonlocal calls
        calls += 1
        made = await whole(self, *given)
        connection = given[0] if given else made
        if moment != "at once" and calls == 1:
            connection.abort()
            while connection.open:
                await asyncio.sleep(0.001)
        return made

    monkeypatch.setattr(SingleNodeClient, step, then_lose)
    async with serving(serve, path), client_at(path) as client:
        assert await client.command("PING") == b"PONG"
        assert calls == 2


async def test_a_store_that_never_answers_is_given_up(tmp_path: Path) -> None:
    """Without its deadline this call would wait for ever."""
    path, over = str(tmp_path / "silent, 100 %.sock"), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.write(b"+PONG\r\n")  # to the handshake, and to nothing more
        await over.wait()
        writer.close()

    async with serving(serve, path), client_at(path) as client:
        with pytest.raises(StoreUnavailable):
            await client.command("PING")
        over.set()


async def test_a_loop_that_stood_still_before_a_command_was_sent_is_no_fault_of_the_store(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sock")
    async with serving(pong, path), client_at(path, deadline_seconds=1.0) as client:
        command = asyncio.create_task(client.command("PING"))
        await asyncio.sleep(0)  # the command waits for the end of this step
        time.sleep(1.2)  # noqa: ASYNC251  # the loop is blocked for longer than the deadline
        assert await command == b"PONG"


async def test_a_store_that_is_missing_at_the_start_is_logged_and_so_is_its_return(tmp_path: Path) -> None:
    """Its calls are not counted meanwhile, which an operator must be able to see."""
    path, written = str(tmp_path / "store.sock"), io.StringIO()
    client = SingleNodeClient(f"unix://{path}", name="state", deadline_seconds=0.5, log=Log("tests", stream=written))
    await client.start()
    async with serving(pong, path), asyncio.timeout(10):
        while not client.healthy:
            await asyncio.sleep(0.01)
        await client.close()
    logged = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [(line["event"], line["store"]) for line in logged] == [("store-down", "state"), ("store-back", "state")]


async def test_a_callback_that_fails_is_given_its_error_and_costs_no_other_its_reply(tmp_path: Path) -> None:
    path, given = str(tmp_path / "store.sock"), list[Any]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while sent := await reader.read(1024):
            writer.write(b"+PONG\r\n" * sent.count(b"PING"))
        writer.close()

    def broken(reply: Any) -> None:
        given.append(reply)
        if reply == b"PONG":
            raise ValueError("a fault of ours")

    async with serving(serve, path), client_at(path) as client:
        client.send(pack("PING"), broken)
        assert await client.command("PING") == b"PONG"
        assert client.healthy
    assert given[0] == b"PONG"
    assert [type(one) for one in given[1:]] == [ValueError]


async def test_callbacks_of_a_lost_connection_are_all_called_also_behind_one_that_fails(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sock")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.write(b"+PONG\r\n")  # to the handshake
        await reader.read(1024)
        writer.transport.abort()

    def broken(reply: Any) -> None:
        raise ValueError("a fault of ours")

    async with serving(serve, path), client_at(path) as client:
        client.send(pack("PING"), broken)
        with pytest.raises(StoreUnavailable):
            await client.command("PING")


async def test_the_replies_of_a_replicated_batch_are_all_delivered_also_behind_one_that_fails() -> None:
    batch, given = Batch("state", 1), list[Any]()

    def broken(reply: Any) -> None:
        raise ValueError("a fault of ours")

    for done, reply in ((broken, b"1"), (given.append, b"2")):
        batch.hold_reply(done)(reply)
    batch.resolve(1)
    assert given == [b"2"]


# The client of a cluster against stand-ins: redirections, what is held, what is waited for, what is never hurried.


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


# Which data_version an edge serves, while loads are committed faster than it reads.


class Slow:
    """A database that answers when a test lets it, with what was committed when it was asked."""

    def __init__(self) -> None:
        self.committed = 1
        self.asked = asyncio.Event()
        self.answers = asyncio.Event()
        self.answers.set()
        self.failures = 0
        self.failure: BaseException = StoreUnavailable("database")

    async def fetch_row(self, query: str) -> dict[str, Any]:
        seen = self.committed
        self.asked.set()
        await self.answers.wait()
        if self.failures:
            self.failures -= 1
            raise self.failure
        return {"version": seen, "committed_at": ""}


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
async def watcher(slow: Slow) -> AsyncIterator[DataVersionWatcher]:
    watcher = DataVersionWatcher(slow, Log("tests"), retry_seconds=0.01)  # type: ignore[arg-type]
    watcher.start()
    yield watcher
    await watcher.stop()


async def until(watcher: DataVersionWatcher, version: int) -> None:
    async with asyncio.timeout(10):
        while watcher.current != version:
            await asyncio.sleep(0.001)


async def test_a_load_that_is_committed_during_a_read_is_read_too(slow: Slow, watcher: DataVersionWatcher) -> None:
    slow.answers.clear()
    watcher.refresh()
    await slow.asked.wait()
    slow.committed = 2
    watcher.refresh()
    slow.answers.set()
    await until(watcher, 2)


async def test_an_older_read_does_not_end_after_a_newer_one(slow: Slow, watcher: DataVersionWatcher) -> None:
    slow.answers.clear()
    early = asyncio.create_task(watcher.read())
    await slow.asked.wait()
    slow.committed = 2
    slow.asked.clear()
    late = asyncio.create_task(watcher.read())
    slow.answers.set()
    assert [await early, await late, watcher.current] == [True, True, 2]


async def test_a_load_of_which_postgresql_could_not_tell_is_read_later(slow: Slow, watcher: DataVersionWatcher) -> None:
    slow.failures = 2
    watcher.refresh()
    await until(watcher, 1)
    assert slow.failures == 0


@pytest.mark.parametrize("failure", [UndefinedTableError("a restore has not made it yet"), asyncio.CancelledError()])
async def test_an_edge_follows_loads_also_after_an_error_that_is_no_outage(
    slow: Slow, watcher: DataVersionWatcher, failure: BaseException
) -> None:
    slow.failures, slow.failure = 1, failure
    watcher.refresh()
    await until(watcher, 1)
    assert slow.failures == 0


# One account never holds all connections to PostgreSQL, however much it asks at once.


class _Held:
    """Statements that hold their connections until they are let go."""

    def __init__(self, share: FairShare) -> None:
        self.share, self.busy, self.over = share, 0, asyncio.Event()

    async def run(self, account: str | None) -> None:
        async with self.share.slot(account, 30.0):
            self.busy += 1
            await self.over.wait()


async def _settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_an_account_has_its_share_and_others_have_theirs() -> None:
    held = _Held(FairShare(3))
    greedy = [asyncio.create_task(held.run("org:1")) for _ in range(50)]
    await _settled()
    assert held.busy == 3
    others = [asyncio.create_task(held.run(name)) for name in ("org:2", "ip:192.0.2.1", None, None, None, None)]
    await _settled()
    assert held.busy == 9
    held.over.set()
    await asyncio.gather(*greedy, *others)
    assert held.busy == 56


async def test_a_caller_that_gives_up_waiting_frees_nothing_and_leaves_nothing_behind() -> None:
    share = FairShare(1)
    held = _Held(share)
    first = asyncio.create_task(held.run("org:1"))
    await _settled()
    with pytest.raises(TimeoutError):
        async with share.slot("org:1", 0.01):
            raise AssertionError("there is no place")
    waiting = asyncio.create_task(held.run("org:1"))
    await _settled()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert held.busy == 1
    held.over.set()
    await first
    async with share.slot("org:1", 1.0):
        pass
    assert share._gates == {}


# The listener connects again whatever ended its connection.


async def test_an_error_of_the_drivers_own_state_does_not_end_the_listening(monkeypatch: pytest.MonkeyPatch) -> None:
    again = asyncio.Event()
    errors: list[Exception] = [asyncpg.InternalClientError("got the server's farewell instead of an answer")]

    async def refused(*values: Any, **options: Any) -> Any:
        if errors:
            raise errors.pop()
        again.set()
        raise ConnectionRefusedError

    monkeypatch.setattr("asyncpg.connect", refused)
    listener = PgListener("postgresql://nowhere", {}, {}, AsyncMock(), Log("tests"), reconnect_seconds=0.01)
    listener.start()
    await asyncio.wait_for(again.wait(), 10)
    await listener.stop()


# The end of the certificate that is served is known, also of one that has expired; that none is served is said.


@pytest.mark.parametrize("days", [30, -1])
async def test_the_end_of_the_served_certificate_is_read(tmp_path: Path, days: int) -> None:
    chain, key = Authority().issue(tmp_path, "api.example.org", days=days)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(chain, key)
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    lines = io.StringIO()
    expires = metrics.certificate_expires_seconds.labels("127.0.0.1")
    expires.set(0)
    monitor = CertificateMonitor(
        f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", Log("tests", stream=lines)
    )
    monitor.start()
    while not expires._value.get():
        await asyncio.sleep(0.01)
    await monitor.stop()
    ends = x509.load_pem_x509_certificate(chain.read_bytes()).not_valid_after_utc
    assert expires._value.get() == ends.timestamp()
    server.close()
    await server.wait_closed()
    monitor.start()
    while "certificate-unread" not in lines.getvalue():
        await asyncio.sleep(0.01)
    await monitor.stop()


# Which slot a key has, and that every command of ours keeps to one.


def test_the_specification_s_vectors() -> None:
    for key, slot in (
        (b"123456789", 0x31C3),
        (b"foo", 12_182),
        (b"bar", 5_061),
        (b"hello", 866),
        (b"somekey", 11_058),
        (b"", 0),
    ):
        assert slot_of(key) == slot, key


def test_text_in_the_first_braces_decides() -> None:
    for key, tag in (
        (b"{user1000}.following", b"user1000"),
        (b"foo{}{bar}", None),
        (b"foo{{bar}}zap", b"{bar"),
        (b"foo{bar}{zap}", b"bar"),
        (b"foo{bar", None),
        (b"}foo{bar}", b"bar"),
    ):
        whole = key.replace(b"{", b"(").replace(b"}", b")")
        assert (slot_of(key) == slot_of(tag)) if tag else (slot_of(key) != slot_of(whole) != slot_of(b"bar")), key


def test_all_keys_of_an_account_lie_in_one_slot() -> None:
    for account in ("ip:192.0.2.1", "ip:2001:db8::/64", "org:8a1f"):
        names = [
            keys.quota_prefix(account),
            keys.quota(account, 20_000),
            keys.charge_marker(account, "c"),
            keys.refund_marker(account, "c"),
        ]
        assert len({slot_of(key.encode()) for key in names}) == 1, account


def test_the_key_of_a_packed_command() -> None:
    for command, key in (
        (("GET", "r:1:IID-A"), b"r:1:IID-A"),
        (("SET", "s:1", b"\r\n\x00", "EX", 5), b"s:1"),
        (("EVALSHA", TAKE.digest, 2, "q:{a}:", "c:{a}:1", 1), b"q:{a}:"),
        (("EVAL", REFUND.source, 2, "q:{a}:7", "c:{a}:1"), b"q:{a}:7"),
        (("EVAL", "return\r\n1", 1, "k"), b"k"),
        (("EVAL", "return\r\n1", 0), None),
        (("EVAL", *refund_arguments("a", "1", 7, 2, "edge")), b"q:{a}:7"),
        (("PING",), None),
        (("SCRIPT", "LOAD", "return 1"), None),
    ):
        assert key_of(pack(*command)) == key, command


def test_a_node_that_names_no_host_is_at_the_address_that_was_asked() -> None:
    reply = [[0, 5, [None, 7000, b"a", []], [b"", 7001, b"b"]], [6, 9, [b"10.0.0.2", 7002, b"c"]]]
    assert read_slots(reply, "host") == [
        Shard(0, 5, ("host", 7000), (("host", 7001),)),
        Shard(6, 9, ("10.0.0.2", 7002), ()),
    ]
    assert read_redirection("MOVED 3999 :6381", "host") == ("host", 6381)
    assert read_redirection("ASK 3999 [2001:db8::1]:6381", "host") == ("2001:db8::1", 6381)


def test_a_cluster_is_addressed_by_some_of_its_nodes() -> None:
    assert parse_cluster("rediss+cluster://me:p%40ss@a:1,b,[2001:db8::1]:3") == ClusterUrl(
        (("a", 1), ("b", 6379), ("2001:db8::1", 3)), "me", "p@ss", tls=True
    )
    assert not parse_cluster("redis+cluster://a:1").tls
    assert is_cluster("valkey+cluster://a")
    assert not is_cluster("redis://a:1")


@pytest.mark.parametrize("url", ["redis+cluster://u:hunter2@", "redis+cluster://u:hunter2@a:x", "redis+cluster://a/1"])
def test_an_address_that_cannot_be_read_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        parse_cluster(url)
    assert "hunter2" not in str(raised.value)
