"""The callers of the drill of outages: what each asks again and again, and what it saw."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import count
from typing import Any

from shared.index.iid import mint as mint_iid
from shared.organizations.credentials import KEY_PREFIX, mint
from tests.assurance.drills.client import asked

ANSWER_SECONDS_MAX = 8.0
PAUSE_SECONDS = 0.05
_ORDER_PAUSE_SECONDS = 0.25
_FIRST_DAY = date(2026, 1, 1)
_ANONYMOUS_SOURCE = "127.0.0.2"
LIMITED = "limited lookup"
_WAIT_SECONDS_MAX = 86_400


@dataclass
class Call:
    """What a caller asks, again and again; `path` is made anew each time, `usual` are the statuses of a good day.

    `source` is the caller's address: callers of one address share the allowance of those without an account. Between two
    calls it waits for `pause_seconds`, or as long as all callers do.
    """

    name: str
    path: Callable[[], str]
    head: dict[str, str]
    usual: frozenset[int]
    pause_seconds: float | None = None
    source: str = "127.0.0.1"
    answered: int = 0
    """How often it was served since the beginning."""


@dataclass
class Seen:
    """What a caller saw during one fault."""

    fault: str
    call: str
    usual: frozenset[int] = frozenset()
    statuses: Counter[int] = field(default_factory=Counter)
    slowest_seconds: float = 0.0
    kept: bool = True
    remark: str = ""


@dataclass(frozen=True)
class Credentials:
    """What the drill's organization, its free caller and its person come with."""

    key: str
    token: str
    bearer: str
    anonymous: str = ""


class Front:
    """Asks the service as any client does; one that asks on waits so long between two calls unless its call says otherwise."""

    def __init__(self, port: int, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._port = port
        self._pause_seconds = pause_seconds
        self.wrong_waits: list[str] = []
        """Each answer so far whose `Retry-After` is missing from a 429, or is not 1 to 86400 seconds."""

    def ask(
        self, method: str, path: str, head: dict[str, str], body: bytes | None = None, source: str = "127.0.0.1"
    ) -> tuple[int, bytes]:
        """Return status and body; status 0 and the reason where there was no whole answer, which is never right."""
        status, fields, answer = asked(
            "127.0.0.1", self._port, method, path, head, body, seconds=ANSWER_SECONDS_MAX, source=source
        )
        self._check_wait(status, fields["Retry-After"])
        return status, answer

    def _check_wait(self, status: int, wait: str | None) -> None:
        if wait is None and status != 429:
            return
        if wait is None or not wait.isdecimal() or not 1 <= int(wait) <= _WAIT_SECONDS_MAX:
            self.wrong_waits.append(f"{status} {wait!r}")

    def call(self, call: Call) -> tuple[int, bytes]:
        """Ask once; return as `ask` does."""
        status, body = self.ask("GET", call.path(), call.head, source=call.source)
        call.answered += status == 200
        return status, body

    def ask_on(self, call: Call, seen: Seen, allowed: frozenset[int], end: threading.Event) -> None:
        """Ask until the end, and note what came."""
        while not end.wait(call.pause_seconds or self._pause_seconds):
            began = time.monotonic()
            status, body = self.call(call)
            took = time.monotonic() - began
            seen.slowest_seconds = max(seen.slowest_seconds, took)
            seen.statuses[status] += 1
            if status not in allowed:
                seen.remark = f"{status} after {took:.2f} s: {body[:300].decode(errors='replace')}"
        on_time = seen.slowest_seconds <= ANSWER_SECONDS_MAX
        seen.kept = bool(seen.statuses) and on_time and set(seen.statuses) <= allowed

    def wait_ready(self, seconds: float) -> None:
        """Wait until every part is there, the search index too. Raises TimeoutError."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            status, body = self.ask("GET", "/v1/ready", {})
            if status == 200 and json.loads(body)["status"] == "ready":
                return
            time.sleep(0.2)
        raise TimeoutError("the drill's service does not become ready")

    def used(self, credentials: Credentials) -> int | None:
        """Return what the free caller's network is counted as having used today."""
        status, body = self.ask("GET", "/v1/quota", {"X-Service-Public-Token": credentials.token})
        return int(json.loads(body)["limits"][0]["used"]) if status == 200 else None

    def export(self, credentials: Credentials, dataset: str, seconds: float) -> str:
        """Order an export of a dataset, wait for it, and return its file's path. Raises TimeoutError."""
        head = {"Authorization": f"ApiKey {credentials.key}", "Content-Type": "application/json"}
        _, body = self.ask("POST", "/v1/index/exports", head, b'{"dataset": "%b", "format": "csv"}' % dataset.encode())
        order, ends = json.loads(body)["id"], time.monotonic() + seconds
        while time.monotonic() < ends:
            document: Any = json.loads(self.ask("GET", f"/v1/index/exports/{order}", head)[1])
            if document["manifest"]:
                return f"/v1/index/exports/{order}/files/{document['manifest']['files'][0]['name']}"
            time.sleep(0.2)
        raise TimeoutError("the drill's export is not made")


def calls(iid: str, slug: str, file: str, credentials: Credentials) -> list[Call]:
    """Return all calls: each kind of work that the service does, each dependency in at least one of them."""
    paid = {"Authorization": f"ApiKey {credentials.key}"}
    unknown = {"Authorization": f"ApiKey {mint(KEY_PREFIX)}"}
    free, person = {"X-Service-Public-Token": credentials.token}, {"Authorization": f"Bearer {credentials.bearer}"}
    anonymous = {"X-Service-Public-Token": credentials.anonymous}
    unknown_items, pages, days = count(), count(), _questions()
    ok, ordered = frozenset({200}), frozenset({200, 202})
    cohort = f"/v1/index/cohorts?brand={slug}"
    return [
        Call("health", lambda: "/v1/health", {}, ok),
        Call("ready", lambda: "/v1/ready", {}, ok),
        Call("lookup", lambda: f"/v1/index/lookup/{iid}", paid, ok),
        Call(
            "lookup, cold",
            lambda: f"/v1/index/lookup/{mint_iid('drill', str(next(unknown_items))).iid}",
            paid,
            frozenset({404}),
        ),
        Call("free lookup", lambda: f"/v1/index/lookup/{iid}", free, ok),
        Call("anonymous lookup", lambda: f"/v1/index/lookup/{iid}", anonymous, ok, source=_ANONYMOUS_SOURCE),
        Call("search", lambda: "/v1/index/search?q=milk", paid, ok),
        Call("brands", lambda: f"/v1/index/brands?limit={next(pages) % 400 + 1}", paid, ok),
        Call("unknown key", lambda: "/v1/quota", unknown, frozenset({401})),
        Call(
            "cohort",
            lambda: f"{cohort}&{next(days)}",
            {**paid, "Prefer": "respond-async"},
            ordered,
            _ORDER_PAUSE_SECONDS,
        ),
        Call("stored report", lambda: cohort, paid, ok),
        Call("download", lambda: file, paid, ok),
        Call("ID token", lambda: "/v1/quota", person, ok),
        Call("dashboard", lambda: "/dashboard/sign-in", {}, frozenset({303})),
    ]


def limited_call(iid: str, key: str) -> Call:
    """Return the call of an organization whose day ends after a few."""
    head = {"Authorization": f"ApiKey {key}"}
    return Call(LIMITED, lambda: f"/v1/index/lookup/{iid}", head, frozenset({200, 429}), PAUSE_SECONDS)


def _questions() -> Iterator[str]:
    """Ask for another stretch of days each time, so that each question is a job of its own."""
    for number in count():
        first = _FIRST_DAY + timedelta(days=number % 180)
        yield f"from={first}&to={_FIRST_DAY + timedelta(days=365 + number // 180)}"
