"""The checks of `itemindex doctor` at a store: one server or a cluster, and whether it is set as its use needs."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import redis

from shared.errors import ConfigurationError
from shared.redis.connect import connect_store

_DEADLINE_SECONDS = 2.0
_SLOTS = 16_384


class StoreFound(NamedTuple):
    """The kind of a store and, where it is wrong, the fault and its remedy."""

    found: str
    fault: str = ""
    remedy: str = ""


def look_at(url: str, *, must_keep: bool) -> StoreFound:
    """Ask every primary of a store. `must_keep`: it holds quotas, so it must neither evict nor forget."""
    try:
        with connect_store(url, deadline_seconds=_DEADLINE_SECONDS) as client:
            if not isinstance(client, redis.RedisCluster):
                replies = [client.info()]
                return StoreFound(f"one server, {_version(replies[0])}", *_first(_faults(replies, must_keep)))
            replies = [client.info(target_nodes=node) for node in client.get_primaries()]  # type: ignore[no-untyped-call]
            slots = int(client.cluster_info()["cluster_slots_ok"])
            replicas = sum(one["connected_slaves"] for one in replies)
            cluster = f"a cluster, {len(replies)} primaries, {replicas} replicas, {_version(replies[0])}"
            return StoreFound(cluster, *_first([*_gaps(replies, slots), *_faults(replies, must_keep)]))
    except (redis.RedisError, ConfigurationError) as error:
        return StoreFound("", type(error).__name__, "is it up, and is its URL right?")


def _gaps(replies: list[dict[str, Any]], slots: int) -> Iterator[tuple[str, str]]:
    if slots < _SLOTS:
        yield f"{_SLOTS - slots} slots are served by no primary", "bring their primary or its replica back"
    for one in replies:
        if not one["connected_slaves"]:
            yield (
                f"the primary on port {one['tcp_port']} has no replica",
                "add one: without it the shard has no failover",
            )


def _faults(replies: list[dict[str, Any]], must_keep: bool) -> Iterator[tuple[str, str]]:
    for one in replies if must_keep else ():
        if one["maxmemory_policy"] != "noeviction":
            yield (
                f"it evicts ({one['maxmemory_policy']})",
                "set maxmemory-policy noeviction, or a full store resets quotas",
            )
        if not one["aof_enabled"]:
            yield "it forgets all at a restart", "set appendonly yes"


def _first(faults: Any) -> tuple[str, str]:
    return next(iter(faults), ("", ""))


def _version(replies: dict[str, Any]) -> str:
    valkey = replies.get("valkey_version")
    return f"Valkey {valkey}" if valkey else f"Redis {replies['redis_version']}"
