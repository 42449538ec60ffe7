"""Checks of settings: values that must not be used, each with a line that says what to set instead."""

import math
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address, ip_network
from itertools import combinations
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from shared.redis.urls import is_broker, is_cluster, is_server

SettingValue: TypeAlias = str | bool | float | Path | None
LOG_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
"""The values of LOG_LEVEL, from the least severe one."""
OUTBOX_URL = "outbox:"
"""The SMTP_URL of a service without a mail server: its mails are rows that operators read."""
_SENDER = re.compile(r"[^\s@<>,;:\"()\[\]\\]+@[A-Za-z0-9.-]+", re.ASCII)
_CHOICES: dict[str, Iterable[str]] = {
    "LOG_LEVEL": LOG_LEVELS,
    "OIDC_EMAIL_VERIFIED": ("claim", "always"),
    "PLAN_APPROVAL": ("none", "manual", "webhook"),
    "QUOTA_FAIL_MODE": ("bounded", "closed"),
}
SIGN_UP_BY_PROMPT, SIGN_UP_CLOSED = "prompt", "none"
"""The values of OIDC_SIGN_UP that are no address."""
SECRET_CHARACTERS_MIN = 32
_DIFFERENT_CHARACTERS_MIN = 8
# Of the pieces of four characters of a random key, nearly all are different; of repeated words, most are not.
_PIECE_CHARACTERS = 4
_DIFFERENT_PIECES_MIN = 0.75
# Keys that we choose ourselves; the others come from a provider, which decides their length.
_OUR_KEYS = ("_PEPPER", "SIGNING_SECRET", "PLAN_APPROVAL_SECRET")
_KEYS = (*_OUR_KEYS, "OIDC_CLIENT_SECRET", "S3_SECRET_ACCESS_KEY")
_MAY_BE_ZERO = {
    "PUBLIC_PAGES_A_DAY",
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


def faults(values: Mapping[str, SettingValue]) -> list[str]:
    """Return a line for each setting that must not be used; `values` has the variables' names. Never a secret's value.

    An empty text is a setting that is not given: whether a part needs it, the part decides.
    """
    return [
        *_numbers(values),
        *_keys(values),
        *_proxies(values),
        *_addresses(values),
        *_stores(values),
        *_databases(values),
        *_accelerator(values),
        *_choices(values),
        *_plan_approval(values),
        *_mail(values),
    ]


def _text(values: Mapping[str, SettingValue], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _numbers(values: Mapping[str, SettingValue]) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if not math.isfinite(value) or value < 0 or (value == 0 and name not in _MAY_BE_ZERO):
            yield f"{name} is {value}; set a number {'from 0' if name in _MAY_BE_ZERO else 'above 0'}"
        if name == "OTEL_TRACES_SAMPLER_ARG" and value > 1.0:
            yield f"OTEL_TRACES_SAMPLER_ARG is {value}; set a share from 0 to 1"


def _keys(values: Mapping[str, SettingValue]) -> Iterator[str]:
    given = {name: value for name in values if name.endswith(_KEYS) and (value := _text(values, name))}
    for name, value in given.items():
        if not name.endswith(_OUR_KEYS):
            continue
        if len(value) < SECRET_CHARACTERS_MIN:
            yield f"{name} has fewer than {SECRET_CHARACTERS_MIN} characters; make one: openssl rand -base64 33"
        elif len(set(value)) < _DIFFERENT_CHARACTERS_MIN:
            yield f"{name} repeats a few characters; make a random one: openssl rand -base64 33"
        elif _repeats(value):
            yield f"{name} repeats itself; make a random one: openssl rand -base64 33"
    for (name, value), (other, same) in combinations(given.items(), 2):
        if value == same:
            yield f"{name} and {other} are equal; make one for each: openssl rand -base64 33"


def _repeats(key: str) -> bool:
    """Return whether a key is made of words that come again."""
    pieces = [key[start : start + _PIECE_CHARACTERS] for start in range(len(key) - _PIECE_CHARACTERS + 1)]
    return len(set(pieces)) < _DIFFERENT_PIECES_MIN * len(pieces)


def secret_file_faults(name: str, path: Path) -> Iterator[str]:
    """Yield what is wrong with a file that holds a secret: this process must be able to read it, and not everybody."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
    except OSError as error:
        yield f"{name} {path} cannot be read: {error.strerror}; correct the path, or make this process its owner"
        return
    if not stat.S_ISREG(mode):
        yield f"{name} {path} is no file; set the path of the key's file"
    elif mode & stat.S_IROTH:
        yield f"{name} {path} can be read by every user of this host; run chmod 600 {path}"


def _proxies(values: Mapping[str, SettingValue]) -> Iterator[str]:
    for text in filter(None, map(str.strip, _text(values, "TRUSTED_PROXIES").split(","))):
        try:
            network = ip_network(text)
        except ValueError:
            yield "TRUSTED_PROXIES holds what is no network; list networks as 10.0.0.0/8, comma-separated"
            continue
        if network.prefixlen < _PREFIX_MIN[network.version]:
            yield f"TRUSTED_PROXIES trusts {network}, so every caller may choose its address; list only your proxies"


def _addresses(values: Mapping[str, SettingValue]) -> Iterator[str]:
    for name in _PUBLIC_ADDRESSES:
        text = _text(values, name)
        if text and not _is_address(text, "http", "https"):
            yield f"{name} is no address of HTTP; set it like https://host/path, without a user or a query"
    for name, words in (("OIDC_ISSUER", ()), ("OIDC_SIGN_UP", (SIGN_UP_BY_PROMPT, SIGN_UP_CLOSED))):
        text = _text(values, name)
        if not text or text in words or _is_address(text, "https"):
            continue
        if not _is_address(text, "http") or not _is_loopback(urlsplit(text).hostname or ""):
            other = f", or one of {', '.join(words)}" if words else ""
            yield f"{name} is not https://; use the provider's https address (http:// only on this machine){other}"


def _stores(values: Mapping[str, SettingValue]) -> Iterator[str]:
    for name in ("STATE_URL", "CACHE_URL"):
        text = _text(values, name)
        if text and not is_cluster(text) and not is_server(text):
            yield f"{name} is no address of a store; set it like redis://host:6379/0 or unix:///path?db=0"
    if (broker := _text(values, "BROKER_URL")) and not is_broker(broker):
        yield "BROKER_URL is no address of a broker; set it like redis://host:6379/1 or amqp://user:password@host//"


def _databases(values: Mapping[str, SettingValue]) -> Iterator[str]:
    for name in (name for name in values if name.endswith(("DATABASE_URL", "POOLER_URL"))):
        if (url := _text(values, name)) and not _is_database(url):
            yield (
                f"{name} is no address of PostgreSQL; set it like postgresql://user:password@host:5432/name, with "
                "/ @ : % # ? in a password as %2F %40 %3A %25 %23 %3F"
            )


def _accelerator(values: Mapping[str, SettingValue]) -> Iterator[str]:
    location = _text(values, "X_ACCEL_LOCATION")
    if not location:
        return
    if not (location.startswith("/") and location.endswith("/")):
        yield "X_ACCEL_LOCATION is no location of nginx; set it like /_stored/, with both slashes"
    if values.get("S3_BUCKET"):
        yield "X_ACCEL_LOCATION sends files of RESULTS_DIR, but they are in S3_BUCKET; set X_ACCEL_LOCATION to nothing"


def _choices(values: Mapping[str, SettingValue]) -> Iterator[str]:
    for name, allowed in _CHOICES.items():
        if _text(values, name) not in ("", *allowed):
            yield f"{name} is {_text(values, name)!r}; set one of {', '.join(allowed)}"


def _plan_approval(values: Mapping[str, SettingValue]) -> Iterator[str]:
    if values.get("PLAN_APPROVAL") != "webhook":
        return
    if not _text(values, "PLAN_APPROVAL_URL").startswith(("https://", "http://")):
        yield "PLAN_APPROVAL_URL is no address of HTTP; set the https:// address to which PLAN_APPROVAL=webhook posts"
    if not values["PLAN_APPROVAL_SECRET"]:
        yield "PLAN_APPROVAL_SECRET is not set, but PLAN_APPROVAL is webhook; make one: openssl rand -base64 33"


def _mail(values: Mapping[str, SettingValue]) -> Iterator[str]:
    url, sender = _text(values, "SMTP_URL"), _text(values, "MAIL_FROM")
    if url and url != OUTBOX_URL and not _is_mail_server(url):
        yield "SMTP_URL is no address of a mail server; set smtp://user:password@host:587 or smtps://user:password@host:465"
    if url and not sender:
        yield "MAIL_FROM is not set, but SMTP_URL is; set the sender's address, such as alerts@example.org"
    if sender and not _SENDER.fullmatch(sender):
        yield f"MAIL_FROM is {sender!r}; set an address alone, such as alerts@example.org"


def _is_mail_server(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    # What a password with a character that must be escaped leaves.
    misplaced = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc.rpartition("@")[0]
    return parts.scheme in ("smtp", "smtps") and bool(parts.hostname) and port != 0 and not misplaced


def _is_database(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    user, _, hosts = parts.netloc.rpartition("@")
    ports = [host.rpartition("]")[2].partition(":")[2] for host in hosts.split(",")]
    # What a password leaves where none belongs. PostgreSQL's own message would repeat it.
    misplaced = "@" in user + parts.path or parts.fragment or re.search("%(?![0-9A-Fa-f]{2})", url)
    return parts.scheme in ("postgresql", "postgres") and not misplaced and all(not p or p.isdecimal() for p in ports)


def same_user(first: str, other: str) -> bool:
    """Return whether two addresses of PostgreSQL name the same user."""
    user = _user(first)
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
