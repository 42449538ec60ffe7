"""One connection to a store, for the parts that are not the edge: a server or a cluster, by its URL."""

from typing import TypeAlias

import redis
from redis.cluster import ClusterNode
from redis.exceptions import RedisClusterException

from shared.redis.urls import is_cluster, parse_cluster

STORE_ERRORS = (redis.RedisError, RedisClusterException)
"""The errors of a client of `connect_store`. That of a cluster none of whose nodes answers is no RedisError."""

StoreClient: TypeAlias = redis.Redis | redis.RedisCluster


def connect_store(url: str, *, deadline_seconds: float) -> StoreClient:
    """Return a client. One server is reached with the first command; a cluster at once, or this raises STORE_ERRORS."""
    if not is_cluster(url):
        known = url.replace("valkey", "redis", 1) if url.startswith("valkey") else url
        return redis.Redis.from_url(known, socket_timeout=deadline_seconds, socket_connect_timeout=deadline_seconds)
    cluster = parse_cluster(url)
    return redis.RedisCluster(
        startup_nodes=[ClusterNode(host, port) for host, port in cluster.nodes],  # type: ignore[no-untyped-call]
        username=cluster.user,
        password=cluster.password,
        ssl=cluster.tls,
        socket_timeout=deadline_seconds,
        socket_connect_timeout=deadline_seconds,
    )
