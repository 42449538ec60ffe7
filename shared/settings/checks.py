"""Settings: how the text of an environment variable is read, and which values are unsafe or stop the service. Pure."""

import math
from collections.abc import Iterator, Mapping
from ipaddress import ip_address, ip_network
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from shared.errors import ConfigurationError
from shared.redis.urls import is_cluster, is_server

LOG_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
"""The values of LOG_LEVEL, from the least severe one."""
_FILES = ("METRICS_DIR", "HEARTBEAT_FILE", "RELEASE_SIGNING_KEY_FILE")
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def convert(name: str, text: str, default: Any) -> Any:
    """Return the text in the type of the setting's default. Raises ConfigurationError that names the variable."""
    if isinstance(default, bool):
        if text.lower() not in _BOOLEANS:
            raise ConfigurationError(f"{name} must be true or false")
        return _BOOLEANS[text.lower()]
    try:
        if isinstance(default, int | float):
            return type(default)(text)
    except ValueError:
        raise ConfigurationError(f"{name} must be a number") from None
    return Path(text) if isinstance(default, Path) or name in _FILES else text


SECRET_CHARACTERS_MIN = 32
_DIFFERENT_CHARACTERS_MIN = 8
# Keys that we choose ourselves; the others come from a provider, which decides their length.
_OUR_KEYS = ("_PEPPER", "SIGNING_SECRET", "PLAN_APPROVAL_SECRET")
_KEYS = (*_OUR_KEYS, "OIDC_CLIENT_SECRET", "S3_SECRET_ACCESS_KEY")
_MAY_BE_ZERO = {
    "REPLICA_WAIT_SECONDS",
    "STATE_FAILOVER_SECONDS",
    "DRAIN_SECONDS",
    "RELEASE_INTERVAL_HOURS",
    "OTEL_TRACES_SAMPLER_ARG",
    "REQUEST_LOG_CALLS",
}
# A private network of IPv4 is /8 at most, one of IPv6 /7 (fc00::/7).
_PREFIX_MIN = {4: 8, 6: 7}
_PUBLIC_ADDRESSES = ("BASE_URL", "PROBLEM_BASE_URL", "S3_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def faults(values: Mapping[str, Any]) -> list[str]:
    """Return a line for each setting that must not be used; `values` has the variables' names. Never a secret's value.

    An empty text is a setting that is not given: whether a part needs it, the part decides.
    """
    return [
        *_numbers(values),
        *_keys(values),
        *_proxies(values),
        *_addresses(values),
        *_stores(values),
        *_log_level(values),
    ]


def _numbers(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if not math.isfinite(value) or value < 0 or (value == 0 and name not in _MAY_BE_ZERO):
            yield f"{name} is {value}; set a number {'from 0' if name in _MAY_BE_ZERO else 'above 0'}"
    if values.get("OTEL_TRACES_SAMPLER_ARG", 0.0) > 1.0:
        yield f"OTEL_TRACES_SAMPLER_ARG is {values['OTEL_TRACES_SAMPLER_ARG']}; set a share from 0 to 1"


def _keys(values: Mapping[str, Any]) -> Iterator[str]:
    given = {name: value for name, value in values.items() if value and name.endswith(_KEYS)}
    for name, value in given.items():
        if not name.endswith(_OUR_KEYS):
            continue
        if len(value) < SECRET_CHARACTERS_MIN:
            yield f"{name} has fewer than {SECRET_CHARACTERS_MIN} characters; make one: openssl rand -base64 33"
        elif len(set(value)) < _DIFFERENT_CHARACTERS_MIN:
            yield f"{name} repeats a few characters; make a random one: openssl rand -base64 33"
    for (one, value), (other, same) in combinations(given.items(), 2):
        if value == same:
            yield f"{one} and {other} are equal; make one for each: openssl rand -base64 33"


def _proxies(values: Mapping[str, Any]) -> Iterator[str]:
    for text in filter(None, map(str.strip, values.get("TRUSTED_PROXIES", "").split(","))):
        try:
            network = ip_network(text)
        except ValueError:
            yield "TRUSTED_PROXIES holds what is no network; list networks as 10.0.0.0/8, comma-separated"
            continue
        if network.prefixlen < _PREFIX_MIN[network.version]:
            yield f"TRUSTED_PROXIES trusts {network}, so every caller may choose its address; list only your proxies"


def _addresses(values: Mapping[str, Any]) -> Iterator[str]:
    for name in _PUBLIC_ADDRESSES:
        text = values.get(name, "")
        if text and not _is_address(text, "http", "https"):
            yield f"{name} is no address of HTTP; set it like https://host/path, without a user or a query"
    issuer = values.get("OIDC_ISSUER", "")
    if not issuer or _is_address(issuer, "https"):
        return
    if not _is_address(issuer, "http") or not _is_loopback(urlsplit(issuer).hostname or ""):
        yield "OIDC_ISSUER is not https://; use the provider's https address (http:// only on this machine)"


def _stores(values: Mapping[str, Any]) -> Iterator[str]:
    for name in ("STATE_URL", "CACHE_URL"):
        text = values.get(name, "")
        if text and not is_cluster(text) and not is_server(text):
            yield f"{name} is no address of a store; set it like redis://host:6379/0 or unix:///path?db=0"


def _log_level(values: Mapping[str, Any]) -> Iterator[str]:
    level = values.get("LOG_LEVEL", "info")
    if level not in LOG_LEVELS:
        yield f"LOG_LEVEL is {level!r}; set one of {', '.join(LOG_LEVELS)}"


def same_user(one: str, other: str) -> bool:
    """Return whether two addresses of PostgreSQL name the same user."""
    user = _user(one)
    return user is not None and user == _user(other)


def _user(url: str) -> str | None:
    try:
        return urlsplit(url).username
    except ValueError:
        return None


def _is_address(text: str, *schemes: str) -> bool:
    try:
        parts = urlsplit(text)
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError:
        return False
    plain = not (parts.query or parts.fragment or parts.username or parts.password)
    printable = text.isascii() and text.isprintable() and " " not in text
    return parts.scheme in schemes and bool(parts.hostname) and port_is_valid and plain and printable


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
