"""Hosts are cut off from each other and joined again, while callers use up their limits and reports are made.

An edge loses the stores, first in silence, then refused; meanwhile a worker's host goes silent during a job.
"""

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from deploy.local.paths import Paths
from deploy.local.running_stack import StackError
from shared.db.connect import Connection, connect
from tests.assurance.drills.checks import SQL, Check, Outcome, judge
from tests.assurance.drills.client import Client, ask_all, decoded
from tests.assurance.drills.in_thread import run_while
from tests.assurance.drills.multi_host import CALLERS, EDGE_PROCESSES, EDGES, PORT, WORKERS, MultiHostStack
from tests.assurance.drills.quota_clients import ANSWER_SECONDS_MAX, Account, QuotaClients
from tests.assurance.drills.workload import LONG_QUESTION, questions
from tests.assurance.perf.generate import MAPPING, write
from tests.support.accounts import issue_key, issue_token
from workers.ingest.load.load import load
from workers.ingest.mapping import read

_CUT, _WHOLE = "edge-1", "edge-2"
_ORGANIZATION_LIMIT = 300
_ANONYMOUS_LIMIT = 3
_ANONYMOUS_ALLOWED, _SIGNED_UP_ALLOWED = 1, 12
_WARM_SECONDS = 1.5
_HEAL_SECONDS_MAX = 60.0
_LET_GO_SECONDS_MAX = 60.0
_ACKNOWLEDGED_SECONDS = 4.0
_HEALTHY_ANSWERS = 6
_MAY = frozenset({200, 429})
_LOOK_SECONDS = 0.1


class PartitionDrill:
    """The drill on a site of its own."""

    def __init__(
        self, paths: Paths, jobs: int, cut_seconds: float, seconds_max: float, report_progress: Callable[[str], None]
    ) -> None:
        self._paths = paths
        self._jobs = jobs
        self._cut_seconds = cut_seconds
        self._seconds_max = seconds_max
        self._report_progress = report_progress
        self._asked = 0

    def run(self) -> Outcome:
        """Do all of it. Whatever happens, the site is stopped afterwards."""
        self._ends, found = time.monotonic() + self._seconds_max, Outcome()
        self._site = MultiHostStack(self._paths, callers=4)
        try:
            self._report_progress("starting the stores")
            self._site.start_stores()
            self._prepare()
            self._report_progress("starting the service")
            self._site.start_service()

            def among_the_callers() -> None:
                with self._site.callers.entered():
                    self._work(found)

            run_while(self._site.watch, among_the_callers)
        finally:
            self._site.stop()
        return found

    def _prepare(self) -> None:
        site, path = self._site, self._paths.root / "market.parquet"
        write(path, items=40, observations=400, seed=3)
        path.with_suffix(".toml").write_text(MAPPING)
        load(replace(site.settings, database_url=site.owner_url), read(path.with_suffix(".toml")), [path])
        with connect(site.owner_url, application="drill", autocommit=True) as connection:
            for query in (SQL.write_down, SQL.on_each_move, SQL.watch_jobs, SQL.lift_institutional):
                connection.execute(query)
            connection.execute(SQL.small_allowance, (_ORGANIZATION_LIMIT,))
            pepper = site.settings.token_pepper
            self._key = issue_key(connection, pepper)
            key, token = issue_key(connection, pepper, "brand"), issue_token(connection, pepper)
            [(self._iid, _)] = connection.execute(SQL.some_item).fetchall()
        anonymous = {"X-Service-Public-Token": site.settings.anonymous_token}

        def account(n: int, name: str, head: dict[str, str], limit: int, allowed: int | None) -> Account:
            return Account(name, head, site.network.address("front", CALLERS + n), limit, allowed)

        self._accounts = [
            account(1, "anonymous, before", anonymous, _ANONYMOUS_LIMIT, _ANONYMOUS_ALLOWED),
            account(2, "signed up", {"X-Service-Public-Token": token}, 100, _SIGNED_UP_ALLOWED),
            account(3, "organization", {"Authorization": f"ApiKey {key}"}, _ORGANIZATION_LIMIT, None),
            account(4, "anonymous, during", anonymous, _ANONYMOUS_LIMIT, _ANONYMOUS_ALLOWED),
        ]

    def _work(self, found: Outcome) -> None:
        began, site = time.monotonic(), self._site
        edges = {name: site.network.address("front", number) for name, number in EDGES.items()}
        self._clients = {name: Client(address, PORT, self._key, self._ends) for name, address in edges.items()}
        callers = QuotaClients(edges, PORT, f"/v1/index/lookup/{self._iid}")
        self._wait(lambda: all(self._well(name) for name in EDGES), "the edges are not ready")
        for account in self._accounts[:3]:
            callers.begin(account)
        time.sleep(_WARM_SECONDS)
        ordering = self._order_by_both(self._jobs)
        with ThreadPoolExecutor(1) as beside:
            worker = beside.submit(self._cut_worker)
            healed = [
                self._cut_edge(callers, "is cut off in silence", self._silence),
                self._cut_edge(callers, "is refused by the stores", self._refuse),
            ]
            taken, let_go, back = worker.result()
        for thread in ordering:
            thread.join()
        self._wait(lambda: self._open() == 0, "jobs are still under way")
        callers.stop()
        with self._connection() as connection:
            jobs = judge(site.settings, connection, self._clients[_WHOLE], self._asked)
        checks = [*self._limits(), *self._answers(), *jobs]
        found.checks = [
            *(check for check in checks if "poisoned" not in check.promise),
            Check("an edge that was joined again is well by itself", f"{sum(healed)} of 2", all(healed)),
            Check("the job of a worker that was cut off is taken up by the other host", taken, bool(taken)),
            Check("a worker that is cut off lets go of its job by itself", "yes" if let_go else "no", let_go),
            Check("a worker that was joined again works again", "yes" if back else "no", back),
            Check("no process had to be started again", str(site.restarts), site.restarts == 0),
        ]
        found.more["served"] = {
            one.name: {"counted": one.counted, "uncounted": one.uncounted} for one in self._accounts
        }
        found.seconds = time.monotonic() - began

    def _order_by_both(self, number: int) -> list[threading.Thread]:
        """Order the same reports of both edges; return who orders."""
        listed = questions(number, 0)
        self._asked += number
        threads = [
            threading.Thread(target=ask_all, args=(client, listed, 2), daemon=True) for client in self._clients.values()
        ]
        for thread in threads:
            thread.start()
        return threads

    def _cut_edge(self, callers: QuotaClients, what: str, cut: Callable[[bool], None]) -> bool:
        self._report_progress(f"{_CUT} {what}")
        callers.disturbed.add(_CUT)
        cut(False)
        if "anonymous, during" not in {account.name for account in self._accounts if account.tallies}:
            callers.begin(self._accounts[3])
        time.sleep(self._cut_seconds)
        cut(True)
        well = self._within(_HEAL_SECONDS_MAX, lambda: self._well(_CUT))
        callers.disturbed.discard(_CUT)
        return well

    def _silence(self, healed: bool) -> None:
        self._site.network.silence(_CUT, "back", healed=healed)

    def _refuse(self, healed: bool) -> None:
        self._site.network.refuse(_CUT, self._site.stores_address, healed=healed)

    def _cut_worker(self) -> tuple[str, bool, bool]:
        """Silence the host that makes the long report, until it has given it up and sent that to a broker that cannot hear it.

        Return how long the other host took, whether the cut one let go while it was cut, and whether it came back.
        """
        client, site = self._clients[_WHOLE], self._site
        client.get(
            f"/index/rollups/sustainability?from={LONG_QUESTION[0]}&to={LONG_QUESTION[1]}", Prefer="respond-async"
        )
        self._asked += 1
        with self._connection() as connection:
            running, first = SQL.running_of, LONG_QUESTION[0]
            self._wait(lambda: _first(connection, running, first) is not None, "the long report does not begin")
            [(job, attempt)] = connection.execute(running, (first,)).fetchall()
            self._wait(lambda: any(job in site.log(name) for name in WORKERS), "no worker tells that it has the report")
            name = next(name for name in WORKERS if job in site.log(name))
            self._report_progress(f"{name} is cut off in silence")
            site.network.silence(name, "back")
            cut_at, taken = time.monotonic(), SQL.taken_again
            self._wait(lambda: _first(connection, taken, job, attempt) is not None, "no worker takes the report")
            took = f"after {time.monotonic() - cut_at:.1f} s"
        let_go = self._within(_LET_GO_SECONDS_MAX, lambda: "job-lost" in site.log(name))
        time.sleep(_ACKNOWLEDGED_SECONDS)
        site.network.silence(name, "back", healed=True)
        started = site.log(name).count("job-started")
        extra = iter(questions(self._jobs + 1_000, 0)[self._jobs :])

        def works_again() -> bool:
            if self._open() == 0:  # until it gets one of them
                days = [next(extra) for _ in range(4)]
                ask_all(client, days, 2)
                self._asked += len(days)
            return site.log(name).count("job-started") > started

        return took, let_go, self._within(_HEAL_SECONDS_MAX, works_again)

    def _limits(self) -> Iterable[Check]:
        for account in self._accounts:
            allowed = account.uncounted_max
            kept = account.counted <= account.limit <= account.counted + account.uncounted
            found = f"{account.counted} of {account.limit}"
            yield Check(f"{account.name}: never more by count than the limit, nor refused before", found, kept)
            if account.limit == _ANONYMOUS_LIMIT:  # few enough for the edge that is not cut off to serve them all
                yield Check(f"{account.name}: served to the limit by count", found, account.counted == account.limit)
            if allowed is not None:
                bound = allowed * EDGE_PROCESSES
                promise = f"{account.name}: without the state store only what an edge's processes may give"
                yield Check(promise, f"{account.uncounted} of at most {bound}", account.uncounted <= bound)

    def _answers(self) -> Iterable[Check]:
        usual = [tally for account in self._accounts for tally in account.tallies.values()]
        strange = {status for tally in usual for status in tally.usual} - _MAY
        yield Check("an edge that is not cut off answers as always", _counted(strange), not strange)
        whole = [account.tallies[_WHOLE] for account in self._accounts]
        uncounted = sum(tally.uncounted for tally in whole)
        yield Check("and counts all that it serves", f"{uncounted} uncounted", uncounted == 0)
        cut = {status for tally in usual for status in tally.disturbed} - _MAY - {503}
        yield Check("an edge that is cut off serves, refuses, or says 503", _counted(cut), not cut)
        without = sum(account.uncounted for account in self._accounts)
        yield Check("and serves some calls without the state store", f"{without} uncounted", without > 0)
        slowest = max(tally.slowest_seconds for tally in usual)
        yield Check("no caller waits for an answer in vain", f"{slowest:.1f} s at most", slowest < ANSWER_SECONDS_MAX)

    def _well(self, edge: str) -> bool:
        """Return whether both processes behind a front reach all stores."""
        client = self._clients[edge]
        for _ in range(_HEALTHY_ANSWERS):
            status, body = client.once("/ready")
            if status != 200 or any(part["state"] == "down" for part in decoded(body)["parts"]):
                return False
        return True

    def _open(self) -> int:
        with self._connection() as connection:
            row = connection.execute(SQL.open).fetchone()
            return int(row[0]) if row else 0

    def _connection(self) -> Connection:
        return connect(self._site.owner_url, application="drill", autocommit=True)

    def _within(self, seconds: float, over: Callable[[], bool]) -> bool:
        ends = min(self._ends, time.monotonic() + seconds)
        while time.monotonic() < ends:
            if over():
                return True
            time.sleep(_LOOK_SECONDS)
        return False

    def _wait(self, over: Callable[[], bool], what: str) -> None:
        if not self._within(float("inf"), over):
            raise StackError(f"the drill's time is over: {what}")


def _first(connection: Connection, query: str, *values: object) -> object:
    row = connection.execute(query, values).fetchone()
    return row[0] if row else None


def _counted(statuses: Iterable[int]) -> str:
    return ", ".join(str(status or "no answer") for status in sorted(statuses)) or "nothing else"
