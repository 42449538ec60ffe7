"""The kinds of calls that `make bench` compares: how each is asked, of which server, and with which status it ends."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import quote_plus

from tests.assurance.perf.bench_servers import FASTAPI, LUA
from tests.assurance.perf.generate import ADJECTIVES, TREE

_TRACE = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00\r\n"
_BATCH = 100
_QUESTIONS = [quote_plus(f"{look} {kind}") for kinds in TREE.values() for kind in kinds for look in ADJECTIVES]
# What nginx forwards of the headers that programs send by themselves; of their codings it names gzip alone.
_GZIP = "Accept-Encoding: gzip\r\n"
_PROGRAMS = {
    "requests, httpx": f"Accept: */*\r\n{_GZIP}",
    "axios": f"Accept: application/json, text/plain, */*\r\n{_GZIP}",
    "a browser's fetch": f"Accept: */*\r\n{_GZIP}Origin: https://shop.example\r\n",
    "Go": _GZIP,
    "Java": "",
    "a traced program": f"Accept: application/json\r\n{_GZIP}{_TRACE}",
}


@dataclass(frozen=True, slots=True)
class Market:
    """What is asked about: items that may be remembered, items that each server is asked about once, and a report."""

    known: list[str]
    unknown: Callable[[], str]
    brand: str
    report: str

    @classmethod
    def of(cls, iids: list[str], brand: str, report: str) -> "Market":
        """Keep the first thousand items to be asked about again."""
        fresh = iter(iids[1000:])
        return cls(iids[:1000], lambda: next(fresh), brand, report)


@dataclass(frozen=True, slots=True)
class Call:
    """One kind of call. `targets` makes the target of the n-th call; equal ones are a question asked before.

    `calls`: one for so many lookups, of calls that take longer. `by_address`: charged to an address by the peers too.
    """

    name: str
    targets: Callable[[int], str]
    fields: str = "Accept: */*\r\n"
    status: int = 200
    paid: bool = False
    peers: tuple[str, ...] = (FASTAPI,)
    calls: int = 1
    numbers: Iterator[int] = field(default_factory=count)


def calls_of(market: Market) -> tuple[Call, ...]:
    """Return every kind of call."""
    return (*_look_ups(market), *_asked_before(market), *_first_time(market), *_documents())


def _look_ups(market: Market) -> tuple[Call, ...]:
    one = f"/v1/index/lookup/{market.known[0]}"
    both = (FASTAPI, LUA)
    return (
        Call("lookup", lambda n: one, peers=both),
        Call(
            "lookup, a program's headers",
            lambda n: one,
            f"Accept: application/json, text/plain, */*\r\n{_TRACE}",
            peers=both,
        ),
        *(Call(f"lookup by {name}", lambda n: one, fields, peers=()) for name, fields in _PROGRAMS.items()),
        Call("lookup in lower case", lambda n: one.replace(market.known[0], market.known[0].lower()), peers=()),
        Call("lookup, 304", lambda n: one, "Accept: */*\r\nIf-None-Match: *\r\n", 304),
        Call("refusal", lambda n: one, status=429, peers=both),
    )


def _asked_before(market: Market) -> tuple[Call, ...]:
    item = market.known[0]
    return (
        Call("brands", lambda n: "/v1/index/brands?limit=20"),
        Call("categories", lambda n: "/v1/index/categories"),
        Call("channels", lambda n: "/v1/index/channels"),
        Call("search", lambda n: "/v1/index/search?q=soy+milk"),
        Call("resolve", lambda n: f"/v1/index/resolve?iid={item}"),
        Call("prices of an item", lambda n: f"/v1/index/pricing/{item}", paid=True),
        Call("prior price of an item", lambda n: f"/v1/index/pricing/{item}/reference", paid=True),
        Call("sustainability of an item", lambda n: f"/v1/index/sustainability/{item}", paid=True),
        Call("report that is there", lambda n: market.report, paid=True),
        Call("report that is there, 304", lambda n: market.report, "If-None-Match: *\r\n", 304, paid=True),
        Call("datasets", lambda n: "/v1/index/datasets", paid=True),
        Call("brands, gzip", lambda n: "/v1/index/brands?limit=20", f"Accept: */*\r\n{_GZIP}", peers=()),
    )


def _first_time(market: Market) -> tuple[Call, ...]:
    def batch(n: int) -> str:
        start = n * _BATCH % len(market.known)
        return "/v1/index/lookup?" + "&".join(f"iid={iid}" for iid in market.known[start : start + _BATCH])

    def first(path: str) -> Callable[[int], str]:
        return lambda n: path + market.unknown()

    return (
        Call("a record that is not remembered", first("/v1/index/lookup/"), calls=20),
        Call("batch of 100", batch, paid=True, calls=20),
        Call("search, first time", lambda n: f"/v1/index/search?q=milk+{n}", peers=(), calls=10),
        Call("search of words only, first time", _words, peers=(), calls=10),
        Call("brands, first time", lambda n: f"/v1/index/brands?limit=20&q={n % 10_000:x}", calls=10),
        Call("prices of an item, first time", first("/v1/index/pricing/"), paid=True, calls=20),
    )


def _words(n: int) -> str:
    """Return a search of two words: no number that may be an identifier, which PostgreSQL would be asked for."""
    question = _QUESTIONS[n % len(_QUESTIONS)]
    return f"/v1/index/search?q={question}&limit={11 + n // len(_QUESTIONS) % 20}"


def _documents() -> tuple[Call, ...]:
    return (
        Call("openapi.json", lambda n: "/v1/openapi.json", f"Accept: */*\r\n{_GZIP}"),
        Call("documentation page", lambda n: "/v1/docs", f"Accept: text/html\r\n{_GZIP}", peers=()),
        Call("style sheet", lambda n: "/static/dashboard.css", f"Accept: text/css,*/*;q=0.1\r\n{_GZIP}", peers=()),
    )


def request(call: Call, address: str, credential: str) -> Callable[[int], bytes]:
    """Return what makes the n-th request of a caller, as nginx would forward it."""
    head = "GET %s HTTP/1.1\r\nHost: api.example\r\nX-Real-IP: %s\r\nX-Request-Id: %032x\r\nX-Charge-Id: %032x\r\n"
    rest = f"X-Began: %.3f\r\n{credential}\r\n{call.fields}\r\n"

    def made(n: int) -> bytes:
        return ((head + rest) % (call.targets(next(call.numbers)), address, n, n, time.time())).encode()

    return made
