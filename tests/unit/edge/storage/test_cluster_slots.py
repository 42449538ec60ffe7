"""Which slot a key has, and that every command of ours keeps to one."""

import pytest

from edge.quota.limiter import REFUND, TAKE
from edge.storage.cluster_slots import Shard, key_of, read_redirection, read_slots, slot_of
from edge.storage.redis_client import pack
from shared.errors import ConfigurationError
from shared.jobs.contract import refund_arguments
from shared.redis import keys
from shared.redis.urls import ClusterUrl, is_cluster, parse_cluster


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
