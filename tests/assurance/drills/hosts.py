"""Several hosts, as the guide says: each with its own disk; first with the settings of one host, then with a bucket."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from botocore.exceptions import BotoCoreError

from deploy.local.paths import Paths
from deploy.local.running_stack import StackError
from deploy.local.service_process import Program
from shared.db.connect import connect
from tests.assurance.drills.checks import SQL, Check
from tests.assurance.drills.client import Client, decoded
from tests.assurance.drills.in_thread import run_while
from tests.assurance.drills.multi_host import EDGES, PORT, WORKERS, MultiHostStack
from tests.support import s3
from tests.support.accounts import issue_key
from tests.support.demo import load_prices

_S3_PORT = 8333
_LOOK_SECONDS = 0.2


@dataclass
class HostsDrill:
    """The drill on a site of its own."""

    paths: Paths
    seconds_max: float
    report_progress: Callable[[str], None]
    checks: list[Check] = field(default_factory=list)

    def run(self) -> list[Check]:
        """Do all of it. Whatever happens, the site is stopped afterwards."""
        self._ends = time.monotonic() + self.seconds_max
        self._site = site = MultiHostStack(self.paths, callers=1, apart=True)
        try:
            self.report_progress("starting the stores")
            site.start_stores()
            self._refused()
            self._with_a_bucket()
            self.report_progress("starting the service")
            site.start_service()

            def among_the_callers() -> None:
                with site.callers.entered():
                    self._work()

            run_while(site.watch, among_the_callers)
        finally:
            site.stop()
        return self.checks

    def _check(self, promise: str, found: str, *, kept: bool) -> None:
        self.checks.append(Check(promise, found, kept))

    def _refused(self) -> None:
        """The first host records its directories; the parts of a second one end with the guide's sentence."""
        first, second = EDGES
        self._site.run(first, "doctor", DATABASE_URL=self._site.owner_url)
        done = self._site.run(second, "dispatcher")
        sentence = f"results: {self.paths.root}/{second}/RESULTS_DIR on this host ({second}) is not"
        kept = done.returncode == 1 and sentence in done.stderr and f"of the host {first}; set S3_BUCKET" in done.stderr
        self._check("with the settings of one host, a second one does not start", done.stderr.strip()[:160], kept=kept)
        done = self._site.run(second, "doctor", DATABASE_URL=self._site.owner_url)
        self._check("the doctor says what to set", "", kept="set S3_BUCKET on every host" in done.stdout + done.stderr)

    def _with_a_bucket(self) -> None:
        """Set what the guide's table says; record it once."""
        site, address = self._site, f"http://{self._site.stores_address}:{_S3_PORT}"
        command = [sys.executable, "-m", "moto.server", "-H", site.stores_address, "-p", str(_S3_PORT)]

        def made() -> bool:
            with site.stores.entered():
                try:
                    s3.client(address).create_bucket(Bucket=s3.BUCKET)
                except BotoCoreError:
                    return False
            return True

        site.start_beside(Program(name="s3", command=command, log=self.paths.log("s3"), ready=made))
        settings = s3.in_bucket(site.settings, address)
        site.settings = replace(settings, search_in_store=True, x_accel_location="")
        done = site.run(next(iter(EDGES)), "migrate", "--directories", DATABASE_URL=site.owner_url)
        self._check("the bucket is recorded once", done.stdout.strip(), kept=done.returncode == 0)

    def _work(self) -> None:
        site = self._site
        load_prices(replace(site.settings, database_url=site.owner_url, match_dir=self.paths.root / "match"))
        with connect(site.owner_url, application="drill", autocommit=True) as connection:
            connection.execute(SQL.lift_institutional)
            key = issue_key(connection, site.settings.token_pepper)
            [(_, slug)] = connection.execute(SQL.some_item).fetchall()
        edges = {name: site.network.address("front", number) for name, number in EDGES.items()}
        one, two = (Client(address, PORT, key, self._ends) for address in edges.values())
        self._wait(lambda: all(decoded(edge.get("/ready")[1])["status"] == "ready" for edge in (one, two)))
        found = [len(decoded(edge.get("/index/search?q=milk")[1])["data"]) for edge in (one, two)]
        self._check("both edges search the index that a worker made", f"{found} items", kept=found[0] == found[1] > 0)
        path = f"/index/cohorts?brand={slug}&from=2025-01-01&to=2026-12-31"
        ordered = decoded(one.get(path, Prefer="respond-async")[1])
        self._wait(lambda: decoded(two.get(f"/jobs/{ordered['id']}")[1])["state"] in ("succeeded", "failed"))
        results = [edge.get(f"/jobs/{ordered['id']}/result") for edge in (one, two)]
        same = results[0] == results[1] and results[0][0] == 200
        self._check("a report that one edge took is served by both", f"{len(results[0][1])} bytes", kept=same)
        makers = [name for name in WORKERS if "job-started" in site.log(name)]
        self._check("workers of other hosts made it", ", ".join(makers), kept=bool(makers))
        kept = [name for name in (*EDGES, *WORKERS) if any((self.paths.root / name / "RESULTS_DIR").glob("*/*/*"))]
        self._check("no host has results on its own disk", ", ".join(kept) or "none", kept=not kept)
        self._check("no process had to be started again", str(site.restarts), kept=site.restarts == 0)

    def _wait(self, over: Callable[[], bool]) -> None:
        while not over():
            if time.monotonic() > self._ends:
                raise StackError("the drill's time is over")
            time.sleep(_LOOK_SECONDS)
