"""The drill of webhooks: events are logged while receivers fail, hang and are killed, and then workers too."""

import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg

from deploy.local.paths import Paths, free_port
from deploy.local.service_process import Program
from deploy.local.stack import Stack
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.organizations.credentials import parse
from tests.assurance.drills.checks import SQL, Outcome
from tests.assurance.drills.client import asked
from tests.assurance.drills.in_thread import run_while
from tests.assurance.drills.killer import Killer
from tests.assurance.drills.webhook_checks import FAILING, GOOD, HANGING, MORTAL, Span, judge, read_journal
from tests.support.accounts import issue_key

_WORKERS = (("worker-a", "webhooks", 1), ("worker-b", "webhooks", 1))
_MORTAL = "mortal-receivers"
_KILLED = ("worker", "worker's child", "dispatcher", _MORTAL)
_CALM, _TROUBLED = 0.2, 0.6
_LOOK_SECONDS = 0.5
_ACTIVATION_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Receiver:
    """A receiver with its organization, which has one webhook."""

    port: int
    key: str
    webhook: str
    secret: str
    trouble: str


@dataclass
class WebhookDrill:
    """One drill on a stack of its own: so many events, spread over the organizations of the receivers."""

    paths: Paths
    events: int
    receivers: int
    kills: int
    seed: int
    rate: float
    seconds_max: float
    report_progress: Callable[[str], None]

    def run(self) -> Outcome:
        """Do all of it. Whatever happens, the stack and the receivers are stopped afterwards."""
        if importlib.util.find_spec("standardwebhooks") is None:
            raise ItemIndexError(
                "receivers verify with standardwebhooks, one of the tests' tools: `make check` installs it"
            )
        self._ends = time.monotonic() + self.seconds_max
        self._stack = Stack(self.paths, free_port(), workers=_WORKERS)
        self._orders = self.paths.root / "orders.json"
        outcome = Outcome()
        try:
            self._stack.start_servers(lambda what: self.report_progress(f"starting {what}"))
            self._stack.settings = replace(self._stack.settings, webhook_private_addresses=True)
            self._stack.start_service(lambda what: self.report_progress(f"starting {what}"))
            made = self._made()
            run_while(self._stack.watch, lambda: self._work(made, outcome))
        finally:
            self._stack.stop()
        return outcome

    def _work(self, receivers: list[Receiver], outcome: Outcome) -> None:
        began = time.monotonic()
        each = self.events // len(receivers)
        calm, troubled = int(each * _CALM), int(each * _TROUBLED)
        self._log(receivers, Span(1, calm + 1), "all receivers are good")
        self._behave(receivers, troubled=True)
        in_trouble = self._killer((_MORTAL,), max(1, self.kills // 4))
        self._log(receivers, Span(calm + 1, troubled + 1), "receivers fail, hang and are killed")
        # What is late because a worker dies must not count as late because of a receiver.
        good = [one.webhook for one in receivers if one.trouble == GOOD]
        self._wait(lambda: self._pending(good) == 0, "good receivers have everything")
        in_trouble.enough.set()
        chaos = self._killer(_KILLED, self.kills)
        self._log(receivers, Span(troubled + 1, each + 1), "workers and the dispatcher are killed too")
        self._wait(lambda: not chaos.is_alive(), "the last kill")
        outcome.killed = in_trouble.killed + chaos.killed
        self._behave(receivers, troubled=False)
        self._settle(receivers)
        deliveries = [one for path in self._journals() for one in read_journal(path.read_text())]
        others = [one.port for one in receivers if one.trouble == GOOD]
        logged = {one.port: each for one in receivers}
        outcome.checks = judge(deliveries, logged, others, Span(1, calm + 1), Span(calm + 1, troubled + 1))
        outcome.more["deliveries"], outcome.seconds = len(deliveries), time.monotonic() - began

    def _made(self) -> list[Receiver]:
        """Start the receivers and have each organization make its webhook by the API."""
        troubles = [trouble_of(n, self.receivers) for n in range(self.receivers)]
        ports = [free_port() for _ in troubles]
        self._orders.write_text("{}")
        for name, kinds in (("receivers", (GOOD, FAILING, HANGING)), (_MORTAL, (MORTAL,))):
            own = [port for port, trouble in zip(ports, troubles, strict=True) if trouble in kinds]
            self._stack.start(self._program(name, own))
        with connect(self._stack.settings.database_url, application="drill") as connection:
            connection.execute(SQL.lift_limits)
            keys = [issue_key(connection, self._stack.settings.token_pepper) for _ in ports]
        made = []
        for port, key, trouble in zip(ports, keys, troubles, strict=True):
            answer = self._call("/webhooks", key, {"url": f"http://127.0.0.1:{port}/", "types": ["key.rotated"]})
            made.append(Receiver(port, key, answer["id"], answer["secret"], trouble))
        self._behave(made, troubled=False)
        return made

    def _program(self, name: str, ports: list[int]) -> Program:
        journal = str(self.paths.root / f"{name}.ndjson")
        module = "tests.assurance.drills.webhook_receiver"
        command = [sys.executable, "-m", module, str(self._orders), journal, *map(str, ports)]
        return Program(name=name, command=command, log=self.paths.log(name), environment=dict(os.environ))

    def _journals(self) -> list[Path]:
        return sorted(self.paths.root.glob("*.ndjson"))

    def _behave(self, receivers: list[Receiver], *, troubled: bool) -> None:
        """Give the receivers their orders; those that are killed behave well while they live."""
        orders = {
            str(one.port): {
                "secret": one.secret,
                "mode": one.trouble if troubled and one.trouble in (FAILING, HANGING) else GOOD,
            }
            for one in receivers
        }
        anew = self._orders.with_suffix(".new")
        anew.write_text(json.dumps(orders))
        anew.replace(self._orders)

    def _killer(self, names: tuple[str, ...], kills: int) -> Killer:
        killer = Killer(self._stack, self.seed, kills, only=names)
        killer.start()
        return killer

    def _log(self, receivers: list[Receiver], span: Span, what: str) -> None:
        """Log events of every organization at the rate, each in a transaction of its own."""
        pause = len(receivers) / self.rate
        credentials = [form.credential_id for one in receivers if (form := parse(one.key)) is not None]
        with connect(self._stack.settings.database_url, application="drill", autocommit=True) as connection:
            began = time.monotonic()
            for done, n in enumerate(range(span.first, span.end)):
                self.report_progress(f"{what}: event {n} of each organization")
                for credential in credentials:
                    connection.execute(SQL.log_event, (credential, n))
                time.sleep(max(0.0, began + (done + 1) * pause - time.monotonic()))

    def _settle(self, receivers: list[Receiver]) -> None:
        """Wait until every event was accepted; meanwhile have the next attempts made at once, as their owners would."""
        activated, reported = 0.0, -1
        while (pending := self._pending()) != 0:
            if time.monotonic() > self._ends:
                return
            if pending != reported:
                self.report_progress(f"waiting for {pending} webhooks")
                reported = pending
            if time.monotonic() - activated > _ACTIVATION_SECONDS:
                activated = time.monotonic()
                for one in receivers:
                    if one.trouble != GOOD:
                        self._call(f"/webhooks/{one.webhook}/activations", one.key, {})
            time.sleep(_LOOK_SECONDS)

    def _pending(self, webhooks: list[str] | None = None) -> int:
        """Return how many webhooks, of these or of all, have events that were not accepted; -1 in an outage."""
        try:
            with connect(self._stack.settings.database_url, application="drill") as connection:
                return int(connection.execute(SQL.webhooks_pending, (webhooks,)).fetchall()[0][0])
        except psycopg.OperationalError:
            return -1

    def _call(self, path: str, key: str, body: dict[str, object]) -> dict[str, str]:
        """POST until the service answers with success. Raises TimeoutError at the end of the drill's time."""
        head = {"Authorization": f"ApiKey {key}", "Content-Type": "application/json"}
        content = json.dumps(body).encode() if body else None
        while time.monotonic() < self._ends:
            status, _, answer = asked("127.0.0.1", self._stack.port, "POST", f"/v1{path}", head, content)
            if status in (200, 201):
                return dict(json.loads(answer))
            time.sleep(_LOOK_SECONDS)
        raise TimeoutError(path)

    def _wait(self, over: Callable[[], bool], what: str) -> None:
        self.report_progress(f"waiting: {what}")
        while not over():
            if time.monotonic() > self._ends:
                raise TimeoutError(f"the drill's time is over before {what}")
            time.sleep(_LOOK_SECONDS)


def trouble_of(number: int, receivers: int) -> str:
    """Return what befalls a receiver: 30 per cent fail, hang or are killed, at least one each."""
    bad = max(3, round(0.3 * receivers))
    return (FAILING, HANGING, MORTAL)[number % 3] if number < bad else GOOD
