"""How a store that is a cluster is addressed, and a broker beside a single server, whose own client reads its address.

Pure.
"""

from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlencode, urlsplit, urlunsplit

from shared.errors import ConfigurationError

_SCHEMES = {"redis+cluster": False, "rediss+cluster": True, "valkey+cluster": False, "valkeys+cluster": True}
_SERVERS = ("redis", "rediss", "valkey", "valkeys")
_BROKERS = ("redis", "rediss", "redis+socket", "amqp", "amqps", "pyamqp", "memory")
_PORT = 6379


class ClusterUrl(NamedTuple):
    """Some nodes of a cluster, enough to find the others, and how to speak to all of them."""

    nodes: tuple[tuple[str, int], ...]
    user: str | None
    password: str | None
    tls: bool


def is_cluster(url: str) -> bool:
    """Return whether a store's URL names a cluster."""
    return url.partition("://")[0] in _SCHEMES


def is_server(url: str) -> bool:
    """Return whether it is the URL of a single server, with a number as its database."""
    try:
        parts = urlsplit(url)
        database = parse_qs(parts.query).get("db", ["0"])[0]
        if parts.scheme == "unix":
            return bool(parts.path) and database.isdecimal()
        return parts.scheme in _SERVERS and parts.port != 0 and (parts.path.strip("/") or database).isdecimal()
    except ValueError:
        return False


def is_broker(url: str) -> bool:
    """Return whether it is the URL of a broker: Redis, RabbitMQ (one or several, with `;`), or memory."""
    try:
        parts = [urlsplit(address) for address in url.split(";")]
        return all(part.scheme in _BROKERS and part.port != 0 for part in parts)
    except ValueError:
        return False


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


def broker_beside(url: str) -> str:
    """Return the URL of a database of its own on the server of `url`, as Celery reads it.

    That is database 1, or 0 where `url` itself names 1: the broker's keys must never meet those of quotas.
    Empty for a cluster, which has no second database and for which Celery has no transport.
    """
    if not url or is_cluster(url):
        return ""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    named = query.get("db", ["0"])[0]
    if parts.scheme == "unix":
        return f"redis+socket://{parts.netloc}{parts.path}?virtual_host={0 if named == '1' else 1}"
    database = 0 if (parts.path.strip("/") or named) == "1" else 1
    scheme = {"valkey": "redis", "valkeys": "rediss"}.get(parts.scheme, parts.scheme)
    tls = urlencode({name: values for name, values in query.items() if name.startswith("ssl_")}, doseq=True)
    return urlunsplit((scheme, parts.netloc, f"/{database}", tls, ""))


def _node(text: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        host, port = None, 0
    if not host:
        raise ConfigurationError("a cluster's URL lists its nodes as host:port, comma-separated")
    return host, port
