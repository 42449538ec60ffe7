"""How a store that is a cluster is addressed. Pure; a single server's address is read by its own client."""

from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from shared.errors import ConfigurationError

_SCHEMES = {"redis+cluster": False, "rediss+cluster": True, "valkey+cluster": False, "valkeys+cluster": True}
_PORT = 6379


class ClusterUrl(NamedTuple):
    """Some nodes of a cluster, enough to find the others, and how to speak to all of them."""

    nodes: tuple[tuple[str, int], ...]
    user: str | None
    password: str | None
    tls: bool


def is_cluster(url: str) -> bool:
    """Return whether a store's URL names a cluster."""
    return urlsplit(url).scheme in _SCHEMES


def parse_cluster(url: str) -> ClusterUrl:
    """Read `redis+cluster://[user:password@]host:port[,host:port…]`, `rediss+cluster://…`.

    Raises ConfigurationError; its text never repeats the URL, which may hold a password.
    """
    parts = urlsplit(url)
    if parts.path.strip("/") not in ("", "0") or parts.query:
        raise ConfigurationError("a cluster has database 0 only: nothing may follow the hosts in its URL")
    credentials, _, hosts = parts.netloc.rpartition("@")
    user, _, password = credentials.partition(":")
    return ClusterUrl(
        tuple(_node(host) for host in hosts.split(",")),
        unquote(user) or None,
        unquote(password) or None,
        _SCHEMES[parts.scheme],
    )


def _node(text: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        host, port = None, 0
    if not host:
        raise ConfigurationError("a cluster's URL lists its nodes as host:port, comma-separated")
    return host, port
