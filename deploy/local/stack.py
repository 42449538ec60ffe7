"""The whole embedded stack: which programs there are, in which order they start, and who is brought from outside."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from deploy.local import identity, nginx, postgres, valkey
from deploy.local.derived import bring_up_to_date
from deploy.local.identity import LocalIdentity
from deploy.local.part_commands import DISPATCHER_COMMAND, EDGE_MODULE, WORKER_MODULE, edge_command, worker_command
from deploy.local.paths import Paths, free_port, port_is_free, write_private
from deploy.local.process_table import port_holder
from deploy.local.running_stack import StackError, StackPart, StackState, end_left_behind
from deploy.local.service_process import Program, ServiceProcess, tail
from deploy.local.tls import Certificate
from shared.clock import utc_now
from shared.db.connect import connect
from shared.db.migrate import migrate
from shared.redis.urls import is_cluster
from shared.settings.checks import OUTBOX_URL
from shared.settings.settings import Settings

_STORES = ("postgres", "state", "cache")
_READY_SECONDS = 60.0
_WATCH_SECONDS = 0.2
# A dispatcher or a worker has no callers who wait: it may be slow for a while before it counts as stuck.
_HEARTBEAT_SECONDS = 10.0
# Each queue has workers of its own: name, queue, processes.
WORKERS = (
    ("worker", "maintenance", 1),
    ("worker-reports", "reports", 2),
    ("worker-exports", "exports", 2),
    ("worker-webhooks", "webhooks", 1),
)
OnStep = Callable[[str], None]


@dataclass
class Stack:
    """One embedded stack below one data directory."""

    paths: Paths
    port: int
    edge_workers: int = 1
    children: list[ServiceProcess] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)
    metrics_port: int = 0
    workers: tuple[tuple[str, str, int], ...] = WORKERS
    worker_module: str = WORKER_MODULE
    edge_module: str = EDGE_MODULE
    loads: bool = True
    """Whether feeds, uploads and decisions on pairs are acted upon."""
    identity: LocalIdentity | None = None
    identity_port: int = 0
    """The port of the identity provider, if a proxy listens at its address; 0: its address."""
    certificate: Certificate | None = None
    """The certificate of nginx; None: it speaks plain HTTP."""

    def start_servers(self, on_step: OnStep) -> None:
        """Start PostgreSQL and both Valkeys, unless their addresses come from outside; bring the schema up to date."""
        secrets = self.paths.secrets()
        outside = Settings.from_environment()
        if is_cluster(outside.state_url) and not outside.broker_url:
            raise StackError("BROKER_URL must be set where STATE_URL is a cluster: Celery's queues cannot lie in one")
        own_database = not outside.database_url
        if own_database:
            on_step("PostgreSQL")
            self.start(postgres.program(self.paths, secrets["owner_password"]))
            postgres.prepare(self.paths, secrets)
        for name, given, made in (
            ("state", outside.state_url, valkey.state),
            ("cache", outside.cache_url, valkey.cache),
        ):
            if not given:
                on_step(f"Valkey ({name})")
                self.start(made(self.paths))
        self.settings = self._settings(outside, secrets)
        on_step("migrations and indexes")
        with connect(self.settings.database_url, application="migrate") as connection:
            migrate(connection)
        bring_up_to_date(self.settings, lambda done: None)

    def start_service(self, on_step: OnStep) -> None:
        """Start the edges, the dispatcher, a worker for each queue, and nginx in front."""
        on_step("edges")
        for left in (self.paths.run / "metrics").glob("*.db"):
            left.unlink()  # of processes that are no more; their counts would only make every reading slower
        for program in (
            *([self._identity(self.identity)] if self.identity is not None else []),
            self._edge("edge-a"),
            self._edge("edge-b"),
            self._program_with_heartbeat("dispatcher", DISPATCHER_COMMAND),
            *(
                (
                    self._command("matches", "apply", "--watch"),
                    self._command("feeds", "run", "--data-dir", str(self.paths.root)),  # what it examines on request
                )
                if self.loads
                else ()
            ),
            *self._workers(),
        ):
            self._spawn(program)
        self.metrics_port = free_port()
        on_step("nginx")
        listen, metrics = f"127.0.0.1:{self.port}", f"127.0.0.1:{self.metrics_port}"
        for child in self.children:
            if child.program.name.startswith(("edge", "identity")) and not child.wait_ready(_READY_SECONDS):
                raise self._did_not_start(child)
        self.start(
            nginx.program(
                self.paths,
                self.settings,
                listen=listen,
                metrics_listen=metrics,
                certificate=self.certificate,
            )
        )

    def require_free_port(self) -> None:
        """Raise StackError, which names the process, where another one listens on the port of nginx."""
        if not port_is_free(self.port):
            raise _port_taken(self.port, "stop it, or choose another port with --port")

    def watch(self, stopping: Callable[[], bool]) -> None:
        """Keep every child alive until `stopping` returns True."""
        while not stopping():
            for child in self.children:
                child.end_if_stuck()
            revived = [child.revive() for child in self.children]
            if any(revived):
                self.write_state()
            time.sleep(_WATCH_SECONDS)

    def stop(self) -> None:
        """Stop everything, nginx first and the stores last; independent parts end at the same time."""
        proxy = [child for child in self.children if child.program.name == "nginx"]
        stores = [child for child in self.children if child.program.name in _STORES]
        rest = [child for child in self.children if child not in proxy and child not in stores]
        for together in (proxy, rest, stores):
            for child in together:
                child.ask_to_end()
            for child in together:
                child.ensure_ended()
        end_left_behind(self.paths)
        self.paths.state.unlink(missing_ok=True)
        if self.paths.run.parent != self.paths.root:
            shutil.rmtree(self.paths.run, ignore_errors=True)  # it is not removed with the data directory

    def write_state(self, *, ready: bool = True) -> None:
        """Write down what runs, for `status`, `down` and `doctor`."""
        document: StackState = {
            "pid": os.getpid(),
            "ready": ready,
            "port": self.port,
            "certificate": str(self.certificate.chain) if self.certificate else None,
            "metrics_port": self.metrics_port,
            "base_url": self.settings.base_url,
            "environment": self.settings.environment(),
            "children": [_as_dict(child) for child in self.children],
        }
        write_private(self.paths.state, json.dumps(document, indent=1).encode())

    def start(self, program: Program) -> None:
        """Start a program, wait until it can be used, and keep it alive with the others."""
        child = self._spawn(program)
        if not child.wait_ready(_READY_SECONDS):
            raise self._did_not_start(child)

    def _spawn(self, program: Program) -> ServiceProcess:
        child = ServiceProcess(program)
        self.children.append(child)
        child.start()
        return child

    def _did_not_start(self, child: ServiceProcess) -> StackError:
        program = child.program
        if program.port is not None and not child.alive and not port_is_free(program.port):
            return _port_taken(program.port, "stop it, or choose another port")
        return StackError(f"{program.name} did not start; the end of {program.log} says:\n{tail(program.log)}")

    def _settings(self, outside: Settings, secrets: dict[str, str]) -> Settings:
        paths = self.paths
        own = {
            "token_pepper": secrets["token_pepper"],
            "signing_secret": secrets["signing_secret"],
            # A demo has no operator to wait for.
            "plan_approval": "none",
            "search_dir": paths.root / "search",
            "match_dir": paths.root / "match",
            "feeds_dir": paths.root / "feeds",
            "results_dir": paths.root / "results",
            "release_signing_key_file": paths.signing_key(),
            "x_accel_location": "" if outside.s3_bucket else "/_stored/",
            "metrics_dir": paths.run / "metrics",
            "access_log": str(paths.root / "log" / "access.log"),
            "security_contact": "mailto:operator@localhost",
            "smtp_url": OUTBOX_URL,
            "mail_from": "alerts@localhost",
            "base_url": f"{'https' if self.certificate else 'http'}://127.0.0.1:{self.port}/v1",
        }
        if not outside.database_url:
            own["database_url"] = postgres.url(paths, postgres.OWNER, secrets["owner_password"])
            own["edge_database_url"] = postgres.url(paths, postgres.EDGE, secrets["edge_password"])
            own["worker_database_url"] = postgres.url(paths, postgres.WORKER, secrets["worker_password"])
        for name in ("state", "cache"):
            if not getattr(outside, f"{name}_url"):
                own[f"{name}_url"] = valkey.url(paths, name)
        if not outside.oidc_issuer:
            self.identity = identity.prepare(paths, self.port)
            own["oidc_issuer"] = identity.issuer(self.identity["port"])
            own["oidc_client_id"] = identity.CLIENT_ID
            own["oidc_email_verified"] = "always"  # it sends no such claim, and decision 0260 says whom it registers
            own["oidc_client_secret"] = self.identity["client_secret"]
            own["staff"] = outside.staff or identity.STAFF
        given = {name.lower() for name in os.environ}
        merged = {name: value for name, value in own.items() if name not in given}
        return Settings.from_environment({**os.environ, **{k.upper(): str(v) for k, v in merged.items()}})

    def _edge(self, name: str) -> Program:
        socket = self.paths.socket(name)
        socket.unlink(missing_ok=True)
        environment = {
            **self._environment(),
            "EDGE_BIND": f"unix:{socket}",
            "HEARTBEAT_FILE": str(self.paths.heartbeat(name)),
            "EDGE_WORKERS": str(self.edge_workers),
        }
        return Program(
            name=name,
            command=edge_command(self.edge_module),
            log=self.paths.log(name),
            environment=environment,
            ready=socket.exists,
            stop_seconds=70.0,
            heartbeat=self.paths.heartbeat(name),
        )

    def _identity(self, prepared: LocalIdentity) -> Program:
        port = int(prepared["port"])
        listen = self.identity_port or port
        if not port_is_free(listen):
            raise _port_taken(listen, "stop it, or set OIDC_ISSUER, so that no local identity provider is needed")
        origin = self.settings.base_url.removesuffix("/v1")
        # The provider confirms no address: where mails leave this machine, anybody could have them sent to anybody.
        reserved = self.settings.staff_addresses if self.settings.smtp_url == OUTBOX_URL else None
        return identity.program(self.paths, port, origin, listen, reserved)

    def _command(self, name: str, *arguments: str) -> Program:
        return Program(
            name=name,
            command=[sys.executable, "-m", "deploy.ctl.main", name, *arguments],
            log=self.paths.log(name),
            environment=self._environment(),
            stop_seconds=30.0,
        )

    def _workers(self) -> Iterator[Program]:
        for name, queues, concurrency in self.workers:
            command = worker_command(queues, concurrency, module=self.worker_module)
            yield self._program_with_heartbeat(name, command, stop_seconds=30.0)

    def _program_with_heartbeat(self, name: str, command: list[str], *, stop_seconds: float = 10.0) -> Program:
        heartbeat = self.paths.heartbeat(name)
        return Program(
            name=name,
            command=command,
            log=self.paths.log(name),
            environment={**self._environment(), "HEARTBEAT_FILE": str(heartbeat)},
            heartbeat=heartbeat,
            heartbeat_seconds=_HEARTBEAT_SECONDS,
            stop_seconds=stop_seconds,
        )

    def _environment(self) -> dict[str, str]:
        # All processes of the host write their metrics beside each other; any edge serves them all.
        # Only one of them could have the address of a metrics server, and nginx's listener shows the same.
        metrics = {"PROMETHEUS_MULTIPROC_DIR": str(self.paths.run / "metrics"), "METRICS_LISTEN": ""}
        return {**self.settings.environment(), **metrics}


def _port_taken(port: int, remedy: str) -> StackError:
    return StackError(f"port {port} is taken by {port_holder(port)}; {remedy}")


def _as_dict(child: ServiceProcess) -> StackPart:
    uptime = max(0.0, time.monotonic() - child.started_at)
    return {
        "name": child.program.name,
        "pid": child.process.pid if child.process else None,
        "started": (utc_now() - timedelta(seconds=uptime)).isoformat(timespec="seconds"),
        "restarts": child.restarts,
        "log": str(child.program.log),
    }
