"""One part after another goes down, hangs, slows or restarts, while callers go on: what each sees, and may see."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from deploy.local import valkey
from deploy.local.identity import id_token
from deploy.local.paths import Paths, free_port
from deploy.local.stack import Stack
from shared.db.connect import connect
from shared.errors import ConfigurationError
from tests.assurance.drills import fault_proxy
from tests.assurance.drills.checks import SQL
from tests.assurance.drills.clock_skew_stores import seconds_to_noon, shadow_clock, step_state_store
from tests.assurance.drills.faults import OBJECTS, Fault, Trouble, chosen, faults_of
from tests.assurance.drills.in_thread import run_while
from tests.assurance.drills.notice import Notice
from tests.assurance.drills.probes import (
    ANSWER_SECONDS_MAX,
    PAUSE_SECONDS,
    Call,
    Credentials,
    Front,
    Seen,
    calls,
    limited_call,
)
from tests.assurance.drills.processes import ONE_WORKER
from tests.support.accounts import issue_key, issue_token
from tests.support.demo import load_prices

_HEAL_SECONDS_MAX = 30.0
_JOBS_SECONDS_MAX = 60.0
# More than usual, and less than a slow link takes: a busy machine is no outage.
_STATE_TIMEOUT_SECONDS = 0.3
# The free plan's part of one process while nothing can be counted, times the edges' processes of a fault, restarts included.
_UNCOUNTED_MAX = 12 * 4
_UNCOUNTED_ANONYMOUS_MAX = 1 * 4
# More sign-ins than the drill begins: it is about outages, not about their limit.
_SIGN_INS = 1_000_000
# What an organization with a small plan may have in a day: less than it asks for during a fault.
_LIMIT = 25


@dataclass
class OutageDrill:
    """The drill on a stack of its own."""

    paths: Paths
    seconds: float
    report_progress: Callable[[str], None]
    only: tuple[str, ...] = ()
    pause_seconds: float = PAUSE_SECONDS
    """How long each caller waits between two calls."""

    def run(self) -> list[Seen]:
        """Do all of it. Whatever happens, the stack is stopped afterwards."""
        self._stack = Stack(
            self.paths,
            free_port(),
            workers=ONE_WORKER,
            edge_module="tests.assurance.drills.clock_skew",
            identity_port=free_port(),
        )
        found: list[Seen] = []
        try:
            self._stack.start_servers(self._starting)
            load_prices(self._stack.settings)
            self._put_links_between()
            shadow_clock(self._stack.settings)
            self._stack.start_service(self._starting)
            run_while(self._stack.watch, lambda: self._work(found))
        finally:
            self._stack.stop()
        return found

    def _starting(self, what: str) -> None:
        self.report_progress(f"starting {what}")

    def _put_links_between(self) -> None:
        """Have every part reach what it stands on by a link, and the jobs ride on a broker of their own."""
        stack, paths = self._stack, self.paths
        stack.start(valkey.broker(paths))
        folder = paths.run / "by-link"
        folder.mkdir(exist_ok=True)
        assert stack.identity is not None
        names = {"state": "state.sock", "cache": "cache.sock", "broker": "broker.sock", "postgres": ".s.PGSQL.5432"}
        ways = {name: (str(folder / file), str(paths.run / file)) for name, file in names.items()}
        ways["identity"] = (str(stack.identity["port"]), str(stack.identity_port))
        if stack.settings.s3_bucket:
            at = free_port()
            ways[OBJECTS] = (str(at), _host_of(stack.settings.s3_endpoint))
            stack.settings = replace(stack.settings, s3_endpoint=f"http://127.0.0.1:{at}")
        stack.start(fault_proxy.program(paths, ways))
        settings, near, far = stack.settings, f"host={folder}", f"host={paths.run}"
        stack.settings = replace(
            settings,
            edge_database_url=settings.edge_database_url.replace(far, near),
            worker_database_url=settings.worker_database_url.replace(far, near),
            state_url=f"unix://{folder}/state.sock",
            cache_url=f"unix://{folder}/cache.sock",
            broker_url=f"redis+socket://{folder}/broker.sock?virtual_host=0",
            state_timeout_seconds=_STATE_TIMEOUT_SECONDS,
            sign_ins_per_second=_SIGN_INS,
            sign_ins_per_day=_SIGN_INS,
        )

    def _work(self, found: list[Seen]) -> None:
        front, credentials = Front(self._stack.port, self.pause_seconds), self._credentials()
        listed = self._calls(front, credentials)
        noon = seconds_to_noon()
        step_state_store(self._stack.settings, noon)
        trouble = Trouble(self._stack, noon)
        if not self._healed(front, listed):
            found.append(Seen("before any fault", "service", kept=False, remark="not healed"))
        for fault in chosen(faults_of(bucket=bool(self._stack.settings.s3_bucket)), self.only):
            self.report_progress(fault.name)
            found += self._try(front, fault, listed, trouble, credentials)

    def _try(
        self, front: Front, fault: Fault, listed: list[Call], trouble: Trouble, credentials: Credentials
    ) -> list[Seen]:
        free = next(call for call in listed if call.name == "free lookup")
        limited = self._limited_call()
        front.call(limited)  # an edge that never saw the key could not know it without PostgreSQL
        listed = [*listed, limited]
        before = (front.used(credentials), free.answered)
        failed = self._count(SQL.failed)
        seen = [Seen(fault.name, call.name, call.usual) for call in listed]
        end = threading.Event()
        askers = [
            threading.Thread(
                target=front.ask_on,
                args=(call, one, call.usual | fault.otherwise.get(call.name, frozenset()), end),
                daemon=True,
            )
            for call, one in zip(listed, seen, strict=True)
        ]
        notice = Notice(fault, front, self._stack)
        waits_before = len(front.wrong_waits)
        mend = trouble.begin(fault, self.seconds)
        try:
            for asker in askers:
                asker.start()
            end.wait(self.seconds)
            seen += notice.seen()
            end.set()
            for asker in askers:
                asker.join(ANSWER_SECONDS_MAX + 2)
        finally:
            mend()
        seen.append(_felt(fault, seen))
        healed = self._healed(front, listed)
        seen.append(Seen(fault.name, "service", kept=healed, remark="" if healed else "not healed"))
        seen.append(self._jobs(fault, failed))
        served = {one.call: one.statuses[200] for one in seen}
        seen.append(_counted(fault, before, (front.used(credentials), free.answered), served[free.name]))
        seen.append(_bounded(fault, served["anonymous lookup"]))
        seen.append(_refused(fault, front, limited))
        wrong = front.wrong_waits[waits_before:]
        seen.append(Seen(fault.name, "Retry-After", kept=not wrong, remark=", ".join(wrong[:3]) or "1 to 86400"))
        return seen

    def _jobs(self, fault: Fault, failed_before: int) -> Seen:
        """Wait until every job that was accepted has ended, and tell whether all of them have a result."""
        ends = time.monotonic() + _JOBS_SECONDS_MAX
        while self._count(SQL.open) and time.monotonic() < ends:
            time.sleep(0.2)
        left, failed = self._count(SQL.open), self._count(SQL.failed) - failed_before
        remark = f"{left} open, {failed} failed" if left or failed else "all made"
        return Seen(fault.name, "jobs", kept=not left and not failed, remark=remark)

    def _count(self, query: str) -> int:
        with contextlib.suppress(psycopg.OperationalError), self._connection() as connection:
            row = connection.execute(query).fetchone()
            return int(row[0]) if row else 0
        return -1

    def _healed(self, front: Front, listed: list[Call]) -> bool:
        """Wait until every call is answered as usual again."""
        ends = time.monotonic() + _HEAL_SECONDS_MAX
        while time.monotonic() < ends:
            if self._all_up() and all(front.call(call)[0] in call.usual for call in listed):
                return True
            time.sleep(0.2)
        return False

    def _all_up(self) -> bool:
        """Return whether every part lives and each edge listens: one edge alone would hide that the other is down."""
        edges = [child for child in self._stack.children if child.program.name.startswith("edge")]
        return all(child.alive for child in self._stack.children) and all(
            _listens(self.paths.socket(child.program.name)) for child in edges
        )

    def _credentials(self) -> Credentials:
        settings, identity = self._stack.settings, self._stack.identity
        assert identity is not None
        with self._connection() as connection:
            connection.execute(SQL.lift_limits)
            key, token = issue_key(connection, settings.token_pepper), issue_token(connection, settings.token_pepper)
            connection.execute(SQL.small_allowance, (_LIMIT,))
        return Credentials(key, token, id_token(identity, "ada"), settings.anonymous_token)

    def _limited_call(self) -> Call:
        """Return the call of a new organization with a small plan: the day of each of them ends once."""
        with self._connection() as connection:
            return limited_call(self._item, issue_key(connection, self._stack.settings.token_pepper, "brand"))

    def _calls(self, front: Front, credentials: Credentials) -> list[Call]:
        with self._connection() as connection:
            [(self._item, slug)] = connection.execute(SQL.some_item).fetchall()
        return calls(self._item, slug, front.export(credentials, "brands", _JOBS_SECONDS_MAX), credentials)

    def _connection(self) -> contextlib.AbstractContextManager[psycopg.Connection]:
        return connect(self._stack.settings.database_url, application="drill", autocommit=True)


def _felt(fault: Fault, seen: list[Seen]) -> Seen:
    """Tell who was answered as only this fault allows."""
    missed = [one.call for one in seen if set(one.statuses) & fault.otherwise.get(one.call, frozenset())]
    return Seen(fault.name, "effect", kept=bool(missed) or not fault.is_felt, remark=", ".join(missed) or "none felt")


def _counted(fault: Fault, before: tuple[int | None, int], after: tuple[int | None, int], uncounted: int) -> Seen:
    """Hold what the free caller was counted for against what it was served."""
    served = after[1] - before[1]
    if fault.counting in ("partly", "twice"):
        return Seen(fault.name, "quota", remark=f"{uncounted} served")
    if fault.counting == "not at all":
        return Seen(fault.name, "quota", kept=uncounted <= _UNCOUNTED_MAX, remark=f"{uncounted} served uncounted")
    if before[0] is None or after[0] is None:
        return Seen(fault.name, "quota", kept=False, remark="cannot be read")
    counted = after[0] - before[0]
    return Seen(fault.name, "quota", kept=counted == served, remark=f"{counted} counted of {served}")


def _bounded(fault: Fault, served: int) -> Seen:
    """Hold what callers without an account were served uncounted against what an outage allows them."""
    if fault.counting != "not at all":
        return Seen(fault.name, "anonymous quota", remark="counted")
    return Seen(
        fault.name, "anonymous quota", kept=served <= _UNCOUNTED_ANONYMOUS_MAX, remark=f"{served} served uncounted"
    )


def _refused(fault: Fault, front: Front, limited: Call) -> Seen:
    """Ask until the small plan's day is used up: it ends at its limit, whatever the fault did to the counting."""
    statuses = [front.call(limited)[0] for _ in range(_LIMIT + 1)]
    most = 2 * _LIMIT if fault.counting == "twice" else _LIMIT
    exact = _LIMIT <= limited.answered <= most or fault.counting not in ("exact", "twice")
    remark = f"{limited.answered} served of {_LIMIT}" + ("" if statuses[-1] == 429 else ", never refused")
    return Seen(fault.name, "quota of a small plan", kept=statuses[-1] == 429 and exact, remark=remark)


def _host_of(endpoint: str) -> str:
    """Return HOST:PORT of an object store. Raises ConfigurationError where a link cannot stand between."""
    parts = urlsplit(endpoint)
    if parts.scheme != "http" or not parts.hostname:
        raise ConfigurationError("S3_ENDPOINT must be http://HOST:PORT here: over TLS nothing can stand between")
    return f"{parts.hostname}:{parts.port or 80}"


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        return line.connect_ex(str(path)) == 0
