"""One part after another goes down, hangs or restarts, while callers go on: what each of them sees, and may see.

The policy: availability fails open to a bound, entitlement and money fail closed, accepted work stays.
"""

import http.client
import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from deploy.demo import DATA, LOADS, MAPPINGS
from deploy.drill.accounts import issue_key
from deploy.drill.verdict import SQL
from deploy.local.child import Child
from deploy.local.places import Places, free_port
from deploy.local.stack import Stack
from edge.auth.tokens import KEY_PREFIX, mint
from shared.db.connect import connect
from shared.ids import mint as mint_iid
from workers.ingest.load import load
from workers.ingest.mapping import read

OK = frozenset({200})
_SERVED = frozenset({200, 202, 303})
_MAYBE = frozenset({200, 202, 303, 503})
_ANSWER_SECONDS_MAX = 8.0
_HEAL_SECONDS_MAX = 30.0
_CALL_PAUSE_SECONDS = 0.05


@dataclass(frozen=True)
class Call:
    """What a caller asks, again and again. `path` is made anew each time."""

    name: str
    path: Callable[[int], str]
    head: dict[str, str]
    usual: frozenset[int]


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and which calls may then be answered otherwise than usual."""

    name: str
    parts: tuple[str, ...]
    mode: str
    otherwise: dict[str, frozenset[int]]


@dataclass
class Seen:
    """What a caller saw during one fault."""

    fault: str
    call: str
    statuses: Counter[int] = field(default_factory=Counter)
    slowest_seconds: float = 0.0
    kept: bool = True


DATABASE = {"look-up, cold": _MAYBE | {404}, "unknown key": frozenset({401, 503}), "cohort": _MAYBE, "brands": _MAYBE,
            "ready": _MAYBE, "look-up": _MAYBE, "search": _MAYBE, "dashboard": _MAYBE}  # fmt: skip
STATE = {"ready": _MAYBE, "dashboard": frozenset({303, 503})}
FAULTS = (
    Fault("PostgreSQL hangs", ("postgres",), "hangs", DATABASE),
    Fault("PostgreSQL is down", ("postgres",), "down", DATABASE),
    Fault("the state store hangs", ("state",), "hangs", STATE),
    Fault("the state store is down", ("state",), "down", STATE),
    Fault("the cache store hangs", ("cache",), "hangs", {}),
    Fault("the cache store is down", ("cache",), "down", {}),
    Fault("the identity provider is down", ("identity",), "down", {"dashboard": frozenset({303, 503})}),
    Fault("relay and workers are down", ("relay", "worker"), "down", {}),
    Fault("one edge is down", ("edge-a",), "down", {}),
    Fault("the other edge restarts", ("edge-b",), "restarts", {}),
)


@dataclass
class OutageDrill:
    """The drill on a stack of its own."""

    places: Places
    seconds: float
    told: Callable[[str], None]
    only: str = ""

    def run(self) -> list[Seen]:
        """Do all of it. Whatever happens, the stack is stopped afterwards."""
        self._stack = Stack(self.places, free_port())
        found: list[Seen] = []
        try:
            self._stack.start_servers(lambda what: self.told(f"starting {what}"))
            mapping, file = LOADS[0]
            load(self._stack.settings, read(MAPPINGS / f"{mapping}.toml"), [DATA / file])
            key = self._prepare()
            self._stack.start_service(lambda what: self.told(f"starting {what}"))
            working = threading.Thread(target=lambda: found.extend(self._work(self._calls(key))), daemon=True)
            working.start()
            self._stack.watch(lambda: not working.is_alive())
        finally:
            self._stack.stop()
        return found

    def _work(self, calls: list[Call]) -> list[Seen]:
        found = [] if self._healed(calls) else [Seen("before any fault", "all", kept=False)]
        for fault in FAULTS:
            if self.only and self.only not in fault.name:
                continue
            self.told(fault.name)
            end = threading.Event()
            seen = [Seen(fault.name, call.name) for call in calls]
            askers = [
                threading.Thread(target=self._ask_on, args=(call, one, fault, end), daemon=True)
                for call, one in zip(calls, seen, strict=True)
            ]
            begun = self._break(fault)
            for asker in askers:
                asker.start()
            end.wait(self.seconds)
            end.set()
            for asker in askers:
                asker.join(_ANSWER_SECONDS_MAX + 2)
            self._mend(fault, begun)
            found += seen
            if not self._healed(calls):
                found.append(Seen(f"after: {fault.name}", "all", kept=False))
        return found

    def _calls(self, key: str) -> list[Call]:
        paid, unknown = {"Authorization": f"ApiKey {key}"}, {"Authorization": f"ApiKey {mint(KEY_PREFIX)}"}
        with connect(self._stack.settings.database_url, application="drill") as connection:
            [(iid, slug)] = connection.execute(SQL.some_item.encode()).fetchall()
        return [
            Call("health", lambda n: "/v1/health", {}, OK),
            Call("ready", lambda n: "/v1/ready", {}, OK),
            Call("look-up", lambda n: f"/v1/index/lookup/{iid}", paid, OK),
            Call("look-up, cold", lambda n: f"/v1/index/lookup/{mint_iid('drill', str(n)).iid}", paid,
                 frozenset({404})),
            Call("search", lambda n: "/v1/index/search?q=milk", paid, OK),
            Call("brands", lambda n: f"/v1/index/brands?limit={n % 400 + 1}", paid, OK),
            Call("unknown key", lambda n: "/v1/quota", unknown, frozenset({401})),
            Call("cohort", lambda n: f"/v1/index/cohorts?brand={slug}&from=2026-01-{n % 28 + 1:02}",
                 {**paid, "Prefer": "respond-async"}, _SERVED),
            Call("dashboard", lambda n: "/dashboard/sign-in", {}, frozenset({303})),
        ]  # fmt: skip

    def _ask_on(self, call: Call, seen: Seen, fault: Fault, end: threading.Event) -> None:
        allowed, number = fault.otherwise.get(call.name, call.usual), 0
        while not end.wait(_CALL_PAUSE_SECONDS):
            number += 1
            began = time.monotonic()
            status = self._ask(call, number)
            seen.slowest_seconds = max(seen.slowest_seconds, time.monotonic() - began)
            seen.statuses[status] += 1
        on_time = seen.slowest_seconds <= _ANSWER_SECONDS_MAX
        seen.kept = bool(seen.statuses) and on_time and set(seen.statuses) <= allowed

    def _ask(self, call: Call, number: int) -> int:
        line = http.client.HTTPConnection("127.0.0.1", self._stack.port, timeout=_ANSWER_SECONDS_MAX)
        try:
            line.request("GET", call.path(number), headers=call.head)
            answer = line.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            return 0  # no answer at all is never right
        finally:
            line.close()

    def _healed(self, calls: list[Call]) -> bool:
        """Wait until every call is answered as usual again."""
        ends, number = time.monotonic() + _HEAL_SECONDS_MAX, 1_000
        while time.monotonic() < ends:
            number += 1
            if self._all_up() and all(self._ask(call, number) in call.usual for call in calls):
                return True
            time.sleep(0.2)
        return False

    def _all_up(self) -> bool:
        """Tell whether every part lives and each edge listens: one edge alone would hide that the other is away."""
        edges = [child for child in self._stack.children if child.program.name.startswith("edge")]
        return all(child.alive for child in self._stack.children) and all(
            _listens(self.places.socket(child.program.name)) for child in edges
        )

    def _break(self, fault: Fault) -> list[Child]:
        named = [child for child in self._stack.children if child.program.name.startswith(fault.parts)]
        children = [child for child in named if child.process is not None]
        for child in children:
            if fault.mode == "down":
                child.hold(self.seconds + 1)
            _signal(child, signal.SIGSTOP if fault.mode == "hangs" else signal.SIGKILL)
        return children

    def _mend(self, fault: Fault, children: list[Child]) -> None:
        for child in children:
            if fault.mode == "hangs":
                _signal(child, signal.SIGCONT)

    def _prepare(self) -> str:
        settings = self._stack.settings
        with connect(settings.database_url, application="drill", autocommit=True) as connection:
            connection.execute(SQL.lift_limits.encode())
            return issue_key(connection, settings.token_pepper)


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        return line.connect_ex(str(path)) == 0


def _signal(child: Child, number: int) -> None:
    """Reach the whole family: a server's own children would go on without it."""
    assert child.process is not None
    try:
        os.killpg(child.process.pid, number)
    except ProcessLookupError:
        return
