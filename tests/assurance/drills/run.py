"""The drill from its beginning to its table: start, ask, kill, wait, judge."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psycopg

from deploy.local.paths import PROJECT, Paths, free_port
from deploy.local.stack import Stack
from shared.db.connect import Connection, connect
from tests.assurance.drills.checks import SQL, Check, Outcome, judge
from tests.assurance.drills.client import Client, ask_all
from tests.assurance.drills.in_thread import run_while
from tests.assurance.drills.killer import Killer, kill
from tests.assurance.drills.workload import LAST_QUESTION, LONG_QUESTION, STALE_QUESTION, questions
from tests.support.accounts import issue_key
from tests.support.processes import children, stands_still

_WORKERS = (("worker-a", "reports", 2), ("worker-b", "reports", 2))
_ASKERS = 6
# The long one, the overtaken one and the last one.
_QUESTIONS_MORE = 3
_RERUN_SECONDS_MAX = 15.0
_LOOK_SECONDS = 0.2


@dataclass
class Drill:
    """One drill on a stack of its own."""

    paths: Paths
    jobs: int
    kills: int
    seed: int
    seconds_max: float
    report_progress: Callable[[str], None]

    def run(self) -> Outcome:
        """Do all of it. Whatever happens, the stack is stopped afterwards."""
        self._ends = time.monotonic() + self.seconds_max
        self._stack = Stack(
            self.paths, free_port(), workers=_WORKERS, worker_module="tests.assurance.drills.worker", loads=False
        )
        outcome = Outcome()
        try:
            self._stack.start_servers(lambda what: self.report_progress(f"starting {what}"))
            self._stack.identity = None  # no one signs in
            key = self._prepare()
            self._stack.start_service(lambda what: self.report_progress(f"starting {what}"))
            run_while(self._stack.watch, lambda: self._work(key, outcome))
        finally:
            self._stack.stop()
        return outcome

    def _work(self, key: str, outcome: Outcome) -> None:
        began = time.monotonic()
        poisons = max(1, self.jobs // 100)
        client = Client("127.0.0.1", self._stack.port, key, self._ends)
        chaos = Killer(self._stack, self.seed, self.kills)
        self.report_progress(f"asking {self.jobs} questions and killing {self.kills} processes")
        chaos.start()
        ask_all(client, questions(self.jobs, poisons), _ASKERS)
        self._wait(lambda: not chaos.is_alive(), "the killing does not end")
        outcome.killed = chaos.killed
        self._wait(lambda: self._open() == 0, "jobs are still under way")
        outcome.checks += [self._rerun(client), self._overtake(client)]
        self._wait(lambda: self._open() == 0, "an interrupted job is still under way")
        self._ring_the_ended()
        self._ask(client, LAST_QUESTION)
        self._wait(lambda: self._open() == 0, "the last job is still under way")
        with self._connection() as connection:
            self._wait(lambda: _scalar(connection, SQL.owed) == 0, "refunds are settled")
            outcome.checks[:0] = judge(self._stack.settings, connection, client, self.jobs + _QUESTIONS_MORE)
        outcome.more["asked_again"], outcome.seconds = client.again, time.monotonic() - began

    def _rerun(self, client: Client) -> Check:
        """With everything else in peace, kill the worker that has a job, whole, and wait for the next attempt."""
        self._ask(client, LONG_QUESTION)
        with self._connection() as connection:
            self._wait(lambda: bool(connection.execute(SQL.running).fetchone()), "no job to interrupt")
            [(job, attempt)] = connection.execute(SQL.running).fetchall()
            self._wait(lambda: bool(self._family_with(job)), "no worker tells that it has the job")
            killed_at = _scalar(connection, SQL.clock)
            for pid in self._family_with(job):
                kill(pid)
            taken: list[float] = []

            def taken_again() -> bool:
                row = connection.execute(SQL.taken_again, (job, attempt)).fetchone()
                taken[:] = [row[0]] if row and row[0] is not None else []
                return bool(taken)

            self._wait(taken_again, "an interrupted job waits to be taken up")
        seconds = taken[0] - killed_at
        return Check("a killed worker's job runs again within 15 s", f"{seconds:.1f} s", seconds <= _RERUN_SECONDS_MAX)

    def _overtake(self, client: Client) -> Check:
        """Let an attempt stand still just before it publishes until another has begun; then let it go on."""
        self._ask(client, STALE_QUESTION)
        with self._connection() as connection:
            self._wait(lambda: bool(self._stopped()), "no attempt is stopped")
            [stopped] = self._stopped()
            query = (SQL.running_of, (STALE_QUESTION[0],))
            job = connection.execute(*query).fetchone()
            assert job is not None
            again = (SQL.taken_again, (job[0], 1))
            self._wait(lambda: (connection.execute(*again).fetchone() or [None])[0] is not None, "no other attempt")
        os.kill(stopped, signal.SIGCONT)
        self._wait(lambda: not self._stopped(), "an attempt is still stopped")
        return Check("an attempt that was stopped was overtaken", f"process {stopped}", kept=True)

    def _ring_the_ended(self) -> None:
        """Have the broker deliver the messages of all jobs that have ended once more."""
        with self._connection() as connection:
            ended = [row[0] for row in connection.execute(SQL.ended)]
        environment = self._stack.settings.environment()
        subprocess.run(
            [sys.executable, "-m", "tests.assurance.drills.ring", *ended], env=environment, cwd=PROJECT, check=True
        )

    def _ask(self, client: Client, question: tuple[str, str]) -> None:
        first, last = question
        client.get(f"/index/rollups/sustainability?from={first}&to={last}", Prefer="respond-async")

    def _stopped(self) -> list[int]:
        """Return the workers' processes that stand still."""
        workers = [child.process for child in self._stack.children if child.program.name.startswith("worker")]
        return [pid for worker in workers if worker is not None for pid in children(worker.pid) if stands_still(pid)]

    def _family_with(self, job: str) -> list[int]:
        """Return the processes of the worker that took the job last, as its own log tells."""
        for child in self._stack.children:
            took = child.program.name.startswith("worker") and job in child.program.log.read_text(errors="replace")
            if took and child.process is not None:
                return [child.process.pid, *children(child.process.pid)]
        return []

    def _prepare(self) -> str:
        with self._connection() as connection:
            for query in (SQL.write_down, SQL.on_each_move, SQL.watch_jobs, SQL.begin):
                connection.execute(query)
            connection.execute(SQL.lift_limits)
            return issue_key(connection, self._stack.settings.token_pepper)

    def _open(self) -> int:
        with contextlib.suppress(psycopg.OperationalError), self._connection() as connection:
            return int(_scalar(connection, SQL.open))
        return -1

    @contextlib.contextmanager
    def _connection(self) -> Iterator[Connection]:
        with connect(self._stack.settings.database_url, application="drill", autocommit=True) as connection:
            yield connection

    def _wait(self, over: Callable[[], bool], what: str) -> None:
        self.report_progress(f"waiting: {what}")
        while not over():
            if time.monotonic() > self._ends:
                raise TimeoutError(f"the drill's time is over and {what}")
            time.sleep(_LOOK_SECONDS)


def _scalar(connection: Connection, query: str) -> float:
    row = connection.execute(query).fetchone()
    return float(row[0]) if row else 0.0
