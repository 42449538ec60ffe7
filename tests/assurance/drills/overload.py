"""Ordinary callers in a crowd: what they wait when it is calm, and while others are slow, many, or far too large."""

import http.client
import json
import math
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deploy.local.paths import Paths, free_port
from deploy.local.process_table import efforts
from deploy.local.stack import Stack
from shared.db.connect import connect
from tests.assurance.drills.attackers import (
    AT_ONCE,
    COMING_SECONDS,
    CONNECTIONS,
    DRY_RUNS,
    FLOOD,
    KINDS,
    OVERSIZED,
    SLOW_READERS,
)
from tests.assurance.drills.checks import SQL
from tests.assurance.drills.in_thread import run_while
from tests.assurance.drills.probes import Credentials, Front
from tests.assurance.drills.processes import ONE_WORKER
from tests.support.accounts import issue_key, issue_token
from tests.support.demo import load_prices

_CALLERS = 4
_RATE = 25.0
"""Calls a second of each ordinary caller: a steady rate, so that a service that is blocked is not called less."""
_DEADLINE_SECONDS = 60.0
_BEFORE_SECONDS = COMING_SECONDS + 0.5
_READY_SECONDS = 60.0
_EXPORT_SECONDS = 60.0
_PROJECT = Path(__file__).parents[3]
_GROWN_BYTES_MAX = 100_000_000
_REFUSALS = {OVERSIZED: {"refused 413", "refused 414", "refused 431"}, FLOOD: {"refused 400"}}
# Of a plan with 50 units a second: a second may see twice as many, in its first and its last moments.
_DRY_RUNS_A_SECOND_MAX = 100


@dataclass
class Measured:
    """What ordinary callers met during one attack, and in the calm before it."""

    attack: str
    calm: list[float] = field(default_factory=list)
    crowd: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    grown_bytes: int = 0
    attack_seconds: int = 0
    """Calendar seconds that the attack may have touched."""

    @property
    def unanswered(self) -> int:
        """How many of those who ask as they should, only all at once, met no answer or a broken gateway."""
        return self.met["cut off"] + self.met["refused 502"] if self.attack == AT_ONCE else 0

    @property
    def broken(self) -> list[str]:
        """What was not as promised: of ordinary callers, of attackers, of memory."""
        served, missing = self.met["served"], _REFUSALS.get(self.attack, set()) - self.met.keys()
        found = {
            "an ordinary caller was not served": self.failures,
            "of those who came at once one met no answer": self.unanswered,
            "not all who came at once were served": self.attack == AT_ONCE and served < CONNECTIONS[AT_ONCE],
            "an oversized request was served": self.attack == OVERSIZED and served,
            f"none was {', '.join(sorted(missing))}": missing,
            "no dry run was served": self.attack == DRY_RUNS and not served,
            "dry runs were served beyond the plan": self.attack == DRY_RUNS
            and served > _DRY_RUNS_A_SECOND_MAX * self.attack_seconds,
            "the service took more than 100 MB": self.grown_bytes > _GROWN_BYTES_MAX,
        }
        return [promise for promise, is_broken in found.items() if is_broken]

    @property
    def kept(self) -> bool:
        """Whether all was as promised."""
        return not self.broken

    @property
    def ratio(self) -> float:
        """The 99th percentile in the crowd over that of the calm; 0 where that was not measured."""
        return percentile(self.crowd, 0.99) / percentile(self.calm, 0.99) if self.calm else 0.0


def percentile(seconds: list[float], share: float) -> float:
    """Return the value that so large a share is not above; 0 of nothing."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


@dataclass
class OverloadDrill:
    """The drill on a stack of its own."""

    paths: Paths
    seconds: float
    rounds: int
    report_progress: Callable[[str], None]
    only: tuple[str, ...] = ()
    in_calm: bool = True
    """Whether to measure the calm as well."""

    def run(self) -> list[Measured]:
        """Do all of it. Whatever happens, the stack is stopped afterwards."""
        self._stack = Stack(self.paths, free_port(), workers=ONE_WORKER, loads=False)
        found = [Measured(kind) for kind in KINDS if not self.only or any(word in kind for word in self.only)]
        try:
            self._stack.start_servers(lambda what: self.report_progress(f"starting {what}"))
            self._stack.identity = None  # no one signs in
            load_prices(self._stack.settings)
            self._stack.start_service(lambda what: self.report_progress(f"starting {what}"))
            run_while(self._stack.watch, lambda: self._work(found))
        finally:
            self._stack.stop()
        return found

    def _work(self, found: list[Measured]) -> None:
        with connect(self._stack.settings.database_url, application="drill", autocommit=True) as connection:
            connection.execute(SQL.lift_limits)
            connection.execute(SQL.limit_brands)  # the attacker is a customer with the limits of its plan
            pepper = self._stack.settings.token_pepper
            key, token = issue_key(connection, pepper), issue_token(connection, pepper)
            attacker = issue_key(connection, pepper, plan="brand")
            [(iid, _)] = connection.execute(SQL.some_item).fetchall()
        large = any(measured.attack == SLOW_READERS for measured in found)
        dataset = "observations" if large else "brands"
        front = Front(self._stack.port)
        front.wait_ready(_READY_SECONDS)
        file = front.export(Credentials(key, token, ""), dataset, _EXPORT_SECONDS)
        targets = [f"/v1/index/lookup/{iid}", "/v1/index/search?q=milk", "/v1/index/brands?limit=20"]
        self._ask(targets, key, self.seconds, Counter())  # so that nothing is measured cold
        for number in range(self.rounds):
            for measured in found:
                self.report_progress(f"{measured.attack}, round {number + 1} of {self.rounds}")
                if self.in_calm:
                    measured.calm += self._ask(targets, key, self.seconds, measured.failures)
                before = self._resident_bytes()
                with self._attack(measured, file, attacker if measured.attack == DRY_RUNS else key):
                    measured.crowd += self._ask(targets, key, self.seconds, measured.failures)
                    measured.grown_bytes = max(measured.grown_bytes, self._resident_bytes() - before)
                time.sleep(_BEFORE_SECONDS)

    @contextmanager
    def _attack(self, measured: Measured, file: str, key: str) -> Iterator[None]:
        seconds = self.seconds + _BEFORE_SECONDS
        command = [
            sys.executable,
            "-m",
            "tests.assurance.drills.attackers",
            measured.attack,
            str(self._stack.port),
            str(seconds),
        ]
        began = time.monotonic()
        process = subprocess.Popen([*command, file, key], stdout=subprocess.PIPE, cwd=_PROJECT)
        try:
            time.sleep(_BEFORE_SECONDS)
            yield
            printed, _ = process.communicate(timeout=seconds + _DEADLINE_SECONDS)
            measured.met.update(json.loads(printed))
            measured.attack_seconds += math.ceil(time.monotonic() - began) + 1
        finally:
            process.kill()
            process.wait()

    def _ask(self, targets: list[str], key: str, seconds: float, failures: Counter[str]) -> list[float]:
        """Ask at a steady beat for so long; return what each answer took, counted from when it was due."""
        taken: list[float] = []
        callers = [
            threading.Thread(target=self._caller, args=(targets, key, n, seconds, taken, failures), daemon=True)
            for n in range(_CALLERS)
        ]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        return taken

    def _caller(
        self, targets: list[str], key: str, number: int, seconds: float, taken: list[float], failures: Counter[str]
    ) -> None:
        head = {"Authorization": f"ApiKey {key}"}
        line = http.client.HTTPConnection("127.0.0.1", self._stack.port, timeout=_DEADLINE_SECONDS)
        due = time.perf_counter() + number / _RATE / _CALLERS
        for n in range(int(seconds * _RATE)):
            time.sleep(max(0.0, due - time.perf_counter()))
            if n % 10 == 0:
                line.close()  # a new connection now and then, as new callers come
            try:
                line.request("GET", targets[(n + number) % len(targets)], headers=head)
                answer = line.getresponse()
                answer.read()
                if answer.status != 200:
                    failures[str(answer.status)] += 1
            except (OSError, http.client.HTTPException) as error:
                failures[type(error).__name__] += 1
                line.close()
            taken.append(time.perf_counter() - due)
            due += 1 / _RATE
        line.close()

    def _resident_bytes(self) -> int:
        """Return the memory that the front and the edges hold."""
        children = [child for child in self._stack.children if child.program.name.startswith(("nginx", "edge"))]
        parts = {child.program.name: child.process.pid for child in children if child.process is not None}
        return sum(effort.resident_bytes for effort in efforts(parts).values())
