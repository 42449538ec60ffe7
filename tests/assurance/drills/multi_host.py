"""A site of several hosts: the stores apart, edges with their fronts, workers with their dispatchers, and the callers."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from deploy.local import postgres, valkey
from deploy.local.part_commands import worker_command
from deploy.local.paths import PROJECT, Paths
from deploy.local.running_stack import StackError
from deploy.local.service_process import Program, ServiceProcess, tail
from shared.db.connect import connect
from shared.db.migrate import migrate
from shared.settings.settings import Settings
from tests.assurance.drills.network import Host, Network

EDGES = {"edge-1": 11, "edge-2": 12}
WORKERS = {"worker-1": 21, "worker-2": 22}
STORES, CALLERS = 1, 100
PORT = 8080
EDGE_PROCESSES = 2
_STATE_PORT, _CACHE_PORT = 6379, 6380
_STATE_TIMEOUT_SECONDS = 1.0
_READY_SECONDS = 90.0
_LEASE_SECONDS = 4
_CTL = [sys.executable, "-m", "deploy.ctl.main"]
_SAFE = {
    # What a dead client held must not wait for the two hours after which a kernel asks by itself.
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "10s",
    "shared_buffers": "64MB",
}


class MultiHostStack:
    """The hosts and everything that runs on them. QuotaClients are on the network `front`, the stores on `back`.

    `apart`: each host has its own name and its own directories, as machines do, and production's workers.
    """

    def __init__(self, paths: Paths, callers: int, *, apart: bool = False) -> None:
        self.paths = paths
        self.apart = apart
        self.network = Network({"front": "10.77.0", "back": "10.78.0"})
        self.stores = self.network.add("stores", back=[STORES])
        for name, number in EDGES.items():
            self.network.add(name, front=[number], back=[number])
        for name, number in WORKERS.items():
            self.network.add(name, back=[number])
        self.callers = self.network.add("callers", front=[CALLERS + n for n in range(callers + 1)])
        self.stores_address = self.network.address("back", STORES)
        self.settings = self._settings()
        self._children: list[tuple[Host, ServiceProcess]] = []

    def start_stores(self) -> None:
        """Start PostgreSQL and both Valkeys, and bring the schema up to date."""
        secrets, address = self.paths.secrets(), self.stores_address
        server = postgres.program(self.paths, secrets["owner_password"], {**_SAFE, "listen_addresses": address})
        with (self.paths.root / "postgres" / "pg_hba.conf").open("a") as file:
            file.write(f"host all all {self.network.address('back', 0)}/24 scram-sha-256\n")
        self._wait(self._start(self.stores, server))
        postgres.prepare(self.paths, secrets)
        for program, port in (
            (valkey.state(self.paths), _STATE_PORT),
            (valkey.cache(self.paths), _CACHE_PORT),
        ):
            listening = [*program.command, "--port", str(port), "--bind", address, "--protected-mode", "no"]
            self._wait(self._start(self.stores, replace(program, command=listening)))
        with connect(self.owner_url, application="migrate") as connection:
            migrate(connection)

    def start_service(self) -> None:
        """Start the edges with their fronts, the workers and the dispatchers, all at once."""
        # Nothing that differs between hosts needs a second edge on each; a host that is cut off has both.
        edges = [self._edge(name, which) for name in EDGES for which in ("a" if self.apart else "ab")]
        others = [program for name in WORKERS for program in self._worker(name)]
        for host, program in (*edges, *others):
            self._start(host, program)
        for _, child in self._children:
            self._wait(child)
        for name in EDGES:
            self._wait(self._start(*self._front(name)))

    def watch(self, over: Callable[[], bool]) -> None:
        """Keep every child alive until it is over. Children die with the thread that started them: this one."""
        while not over():
            for host, child in self._children:
                with host.entered():
                    child.revive()
            time.sleep(0.2)

    def stop(self) -> None:
        """Stop everything, the stores last, and let go of the hosts."""
        asked = [threading.Thread(target=child.stop) for _, child in reversed(self._children[3:])]
        for one in asked:
            one.start()
        for one in asked:
            one.join()
        for _, child in reversed(self._children[:3]):
            child.stop()
        self.network.close()

    @property
    def owner_url(self) -> str:
        """PostgreSQL as its owner, past every network: how the drill itself looks at it."""
        return postgres.url(self.paths, postgres.OWNER, self.paths.secrets()["owner_password"])

    @property
    def restarts(self) -> int:
        """How many processes had to be started again."""
        return sum(child.restarts for _, child in self._children)

    def environment(self, host: str) -> dict[str, str]:
        """Return the settings of a host's parts."""
        own = {name: str(self.paths.root / host / name) for name in ("RESULTS_DIR", "SEARCH_DIR", "MATCH_DIR")}
        return {**self.settings.environment(), "PYTHONPATH": str(PROJECT), **(own if self.apart else {})}

    def run(self, host: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run `itemindex` on a host to its end."""
        _, program = self._of(host, "", [*_CTL, *arguments])
        environment = {**os.environ, **program.environment, **more}
        with self.network.hosts[host].entered():
            return subprocess.run(program.command, capture_output=True, text=True, check=False, env=environment)

    def start_beside(self, program: Program) -> None:
        """Start a program beside the stores, and wait for it."""
        self._wait(self._start(self.stores, program))

    def log(self, name: str) -> str:
        """Return what a part wrote so far."""
        return self.paths.log(name).read_text(errors="replace")

    def _start(self, host: Host, program: Program) -> ServiceProcess:
        child = ServiceProcess(program)
        self._children.append((host, child))
        with host.entered():
            child.start()
        return child

    def _wait(self, child: ServiceProcess) -> None:
        if not child.wait_ready(_READY_SECONDS):
            log = child.program.log
            raise StackError(f"{child.program.name} did not start; the end of {log} says:\n{tail(log)}")

    def _settings(self) -> Settings:
        secrets, address, root = self.paths.secrets(), self.stores_address, self.paths.root

        def login(user: str, name: str) -> str:
            return f"postgresql://{user}:{secrets[f'{name}_password']}@{address}:5432/{postgres.DATABASE}"

        settings = Settings(
            edge_database_url=login(postgres.EDGE, "edge"),
            worker_database_url=login(postgres.WORKER, "worker"),
            state_url=f"redis://{address}:{_STATE_PORT}/0",
            broker_url=f"redis://{address}:{_STATE_PORT}/1",
            cache_url=f"redis://{address}:{_CACHE_PORT}/0",
            # A busy machine may stall a store for longer than the usual 0.1 s; only a cut is to be taken for an outage.
            state_timeout_seconds=_STATE_TIMEOUT_SECONDS,
            token_pepper=secrets["token_pepper"],
            signing_secret=secrets["signing_secret"],
            search_dir=root / "search",
            results_dir=root / "results",
            x_accel_location="/_stored/",
            access_log="",
            base_url=f"http://item-index.test:{PORT}/v1",
            lease_ttl_seconds=_LEASE_SECONDS,
            release_interval_hours=0,
        )
        return replace(settings, problem_base_url=f"{settings.base_url}/errors")

    def _run_dir(self, name: str) -> Path:
        folder = self.paths.run / name
        folder.mkdir(exist_ok=True, mode=0o700)
        return folder

    def _edge(self, name: str, which: str) -> tuple[Host, Program]:
        path = self._run_dir(name) / f"edge-{which}.sock"
        command = [*_CTL, "edge", "--bind", f"unix:{path}", "--processes", "1"]
        return self._of(name, f"{name}-{which}", command, lambda: _listens(path))

    def _front(self, name: str) -> tuple[Host, Program]:
        address, run = self.network.address("front", EDGES[name]), self._run_dir(name)
        command = [
            *_CTL,
            "nginx",
            "--listen",
            f"{address}:{PORT}",
            "--run-dir",
            str(run),
            "--log-dir",
            str(run),
            "--server-names",
            f"{name} {address}",
        ]
        pid = run / "nginx.pid"
        return self._of(name, f"{name}-nginx", command, pid.exists)

    def _worker(self, name: str) -> list[tuple[Host, Program]]:
        apart = ("reports,exports,maintenance", 2, "workers")
        queues, processes, module = apart if self.apart else ("reports", 1, "tests.assurance.drills.worker")
        command = worker_command(queues, processes, module=module)
        return [self._of(name, name, command), self._of(name, f"{name}-dispatcher", [*_CTL, "dispatcher"])]

    def _of(
        self, host: str, name: str, command: list[str], ready: Callable[[], bool] = lambda: True
    ) -> tuple[Host, Program]:
        environment = self.environment(host)
        if self.apart:
            command = ["unshare", "--uts", "sh", "-c", f'hostname {host}; exec "$@"', "sh", *command]
        program = Program(
            name=name,
            command=command,
            log=self.paths.log(name),
            environment=environment,
            ready=ready,
            stop_seconds=20.0,
        )
        return self.network.hosts[host], program


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        return line.connect_ex(str(path)) == 0
