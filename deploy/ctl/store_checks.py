"""The checks of `itemindex doctor` at a store: one server or a cluster, and whether it is set as its use needs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import redis

from shared.errors import ConfigurationError
from shared.redis import keys
from shared.redis.connect import STORE_ERRORS, connect_store

_DEADLINE_SECONDS = 2.0
_SLOTS = 16_384


class Finding(NamedTuple):
    """The result of one check; `remedy` is empty where all is well."""

    part: str
    ok: bool
    found: str
    remedy: str = ""


def look_at(part: str, url: str, *, must_keep: bool) -> Finding:
    """Ask every primary of a store. `must_keep`: it holds quotas, so it must neither evict nor forget."""
    try:
        with connect_store(url, deadline_seconds=_DEADLINE_SECONDS) as client:
            if isinstance(client, redis.RedisCluster):
                primaries = client.get_primaries()  # type: ignore[no-untyped-call]
                replies = [client.info(target_nodes=node) for node in primaries]
                replicas = sum(reply["connected_slaves"] for reply in replies)
                found = f"a cluster, {len(replies)} primaries, {replicas} replicas"
                wrong = [*_gaps(replies, int(client.cluster_info()["cluster_slots_ok"])), *_faults(replies, must_keep)]
                for node in primaries:
                    client.execute_command("EVAL", keys.MAY_WRITE, 0, target_nodes=node)  # type: ignore[no-untyped-call]
            else:
                replies, found = [client.info()], "one server"
                wrong = [*_faults(replies, must_keep)]
                client.eval(keys.MAY_WRITE, 0)
    except redis.ResponseError as error:
        return Finding(part, False, f"refuses writes: {error}", "raise its maxmemory, or free its disk")
    except (*STORE_ERRORS, ConfigurationError) as error:
        return Finding(part, False, type(error).__name__, "is it up, and is its URL right?")
    if wrong:
        return Finding(part, False, *wrong[0])
    return Finding(part, True, f"{found}, {_version(replies[0])}")


def _gaps(replies: Sequence[Mapping[str, object]], slots: int) -> Iterator[tuple[str, str]]:
    if slots < _SLOTS:
        yield f"{_SLOTS - slots} slots are served by no primary", "bring their primary or its replica back"
    for reply in replies:
        if not reply["connected_slaves"]:
            yield (
                f"the primary on port {reply['tcp_port']} has no replica",
                "add one: without it the shard has no failover",
            )


def _faults(replies: Sequence[Mapping[str, object]], must_keep: bool) -> Iterator[tuple[str, str]]:
    for reply in replies if must_keep else ():
        if reply["maxmemory_policy"] != "noeviction":
            yield (
                f"it evicts ({reply['maxmemory_policy']})",
                "set maxmemory-policy noeviction, or a full store resets quotas",
            )
        if not reply["aof_enabled"]:
            yield "it forgets all at a restart", "set appendonly yes"


def _version(replies: Mapping[str, object]) -> str:
    valkey = replies.get("valkey_version")
    return f"Valkey {valkey}" if valkey else f"Redis {replies['redis_version']}"
