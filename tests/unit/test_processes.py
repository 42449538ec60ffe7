"""Processes: what they import, what of them is supervised, and when one counts as standing still."""

import base64
import hashlib
import os
import pkgutil
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path
from socketserver import UnixStreamServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest
from click.testing import CliRunner
from joserfc.jwk import RSAKey

import workers
from deploy.ctl.healthcheck import healthy, main, wait_until_healthy
from deploy.ctl.stack import up
from deploy.local import postgres
from deploy.local.identity import CLIENT_ID, application
from deploy.local.nginx import render
from deploy.local.paths import Paths, free_port, port_is_free
from deploy.local.process import (
    Program,
    ServiceProcess,
    StackError,
    end_all_writing_below,
    group_lives,
    locked,
    writing_below,
)
from edge.startup import BLOCKED_SECONDS, Watchdog
from edge.storage.monitor import RunMarker
from edge.storage.redis_cluster import ClusterClient
from shared.errors import ConfigurationError
from shared.jobs.contract import DELIVER, DELIVER_QUEUE, EXECUTE, EXECUTE_PART, JOB_KINDS, QUEUES
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log
from tests.support.workers import RecordedMessages, services_of
from workers.dispatcher.dispatch import Dispatcher
from workers.handlers import job_handlers
from workers.jobs.progress import LOOP_SECONDS_MAX, PROCESS_SECONDS_MAX, WorkerProgress, kill_stuck, touch_while
from workers.worker import Worker, handlers_of

# A process of the service goes without pandas, which can still be imported, and without collections of what it
# imports.


_SCRIPT = """
import sys
from shared.processes import without_pandas
without_pandas()
import pyarrow as pa
assert pa.array([{"a": 1}, None]).null_count == 1
print("pandas" in sys.modules)
import pandas
print(pandas.Series([1]).sum())
"""


def test_conversions_import_no_pandas_and_it_can_be_imported() -> None:
    ran = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == ["False", "1"]


_COMMAND = """
import sys
from deploy.ctl.main import load_command
load_command("deploy.ctl.ingest:ingest")
import pyarrow as pa
assert pa.array([{"a": 1}, None]).null_count == 1
print("pandas" in sys.modules)
"""


def test_a_command_that_loads_files_imports_no_pandas() -> None:
    ran = subprocess.run([sys.executable, "-c", _COMMAND], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == ["False"]


_IMPORTS_FOR_GOOD = """
import gc
import weakref
from shared.processes import imports_for_good

class Knot:
    def __init__(self):
        self.own = self

before = gc.get_stats()
with imports_for_good():
    import email.mime.multipart, http.server, xml.dom.minidom
print(sum(now["collections"] - then["collections"] for now, then in zip(gc.get_stats(), before)))
print(gc.isenabled(), any(found is vars(http.server) for found in gc.get_objects()))
later = weakref.ref(Knot())
gc.collect()
print(later() is None)
"""


def test_what_is_imported_for_good_is_never_looked_at_and_later_garbage_is_collected() -> None:
    ran = subprocess.run([sys.executable, "-c", _IMPORTS_FOR_GOOD], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["0", "True", "False", "True"]


# Importing the workers reads no environment and connects to nothing: a process builds its services when it starts.


WEAK = {"TOKEN_PEPPER": "a", "STATE_TIMEOUT_SECONDS": "-5", "LOG_LEVEL": "nonsense"}


def test_every_module_can_be_imported_with_settings_that_no_process_would_start_with() -> None:
    found = [module.name for module in pkgutil.walk_packages(workers.__path__, "workers.")]
    # It loads scikit-learn, which takes longer than all others.
    modules = [name for name in found if name != "workers.articles.matching.training"]
    assert {"workers.worker", "workers.handlers"} <= set(modules)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]",
            *modules,
        ],
        env={**os.environ, **WEAK},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


# A worker's Celery application: what it does with which message, and what it is built from.


SETTINGS = Settings.from_environment({"BROKER_URL": "memory://"})


def test_a_worker_takes_the_three_messages_that_are_sent_and_no_other() -> None:
    celery = Worker(SETTINGS, job_handlers).celery
    assert {name for name in celery.tasks if not name.startswith("celery.")} == {EXECUTE, EXECUTE_PART, DELIVER}
    assert {queue.name for queue in celery.conf.task_queues} == set(QUEUES)


def test_a_worker_of_webhooks_alone_takes_no_message_that_names_a_job() -> None:
    assert DELIVER_QUEUE not in {kind.queue for kind in JOB_KINDS.values()}
    assert [handlers_of(queues) for queues in (DELIVER_QUEUE, f"{DELIVER_QUEUE},reports", None)] == [
        None,
        job_handlers,
        job_handlers,
    ]
    assert {name for name in Worker(SETTINGS, None).celery.tasks if not name.startswith("celery.")} == {DELIVER}


def test_every_kind_of_job_has_a_handler() -> None:
    services = services_of(SETTINGS, messages=RecordedMessages())
    assert job_handlers(services).keys() == JOB_KINDS.keys()


def test_two_workers_of_one_process_share_no_state() -> None:
    first, second = Worker(SETTINGS, job_handlers), Worker(SETTINGS, job_handlers)
    assert first.celery is not second.celery
    assert first.celery.tasks[EXECUTE] is not second.celery.tasks[EXECUTE]


def test_every_counter_whose_increase_an_alert_asks_for_begins_with_0() -> None:
    # Prometheus sees no increase in a counter that begins with its first event.
    alerts = Path("deploy/prometheus/alerts.yml").read_text()
    counters = {getattr(metrics, name) for name in re.findall(r"increase\(itemindex_(\w+)_total", alerts)}
    labelled = [counter for counter in counters if counter._labelnames]
    for counter in labelled:
        counter.clear()
    log = Log("tests")
    store = ClusterClient(
        "redis+cluster://h", name="state", deadline_seconds=1.0, hold_seconds=1.0, acked=True, log=log
    )
    RunMarker(store, log)
    Dispatcher(services_of(SETTINGS, messages=RecordedMessages()))
    Worker(SETTINGS, job_handlers)
    for counter in labelled:
        [family] = counter.collect()
        values = [sample.value for sample in family.samples if sample.name.endswith("_total")]
        assert values and not any(values), family.name


# The health check: a part that listens and does not answer is not healthy yet.


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/v1/health" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_waiting_ends_when_the_edge_answers_and_not_when_its_socket_listens(tmp_path: Path) -> None:
    environment = {"EDGE_BIND": f"unix:{tmp_path / 'edge.sock'}"}
    server = UnixStreamServer(str(tmp_path / "edge.sock"), _Answers)  # listens from here on
    starting = threading.Event()

    def start_workers() -> None:
        starting.wait(5)
        server.serve_forever(poll_interval=0.05)

    thread = threading.Thread(target=start_workers)
    thread.start()
    try:
        with socket.socket(socket.AF_UNIX) as client:
            assert client.connect_ex(str(tmp_path / "edge.sock")) == 0
        waiter = threading.Thread(target=lambda: results.append(wait_until_healthy(environment, 30)))
        results: list[bool] = []
        waiter.start()
        waiter.join(0.2)
        assert waiter.is_alive()
        starting.set()
        waiter.join(30)
        assert results == [True]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_part_that_never_answers_ends_the_wait_with_exit_code_1(tmp_path: Path) -> None:
    environment = {"EDGE_BIND": f"unix:{tmp_path / 'nothing.sock'}"}
    assert not healthy(environment)
    assert not wait_until_healthy(environment, 0.2)
    assert main([]) == 0  # a part without an address has nothing to check


# When a worker, or a process of its pool, counts as standing still: decided from beats, without a process.


class _Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


def test_a_blocked_loop_is_unhealthy_and_no_loop_is_healthy(clock: _Clock) -> None:
    progress = WorkerProgress(clock)
    clock.now += 10 * LOOP_SECONDS_MAX
    assert progress.healthy, "the broker is unavailable, or the worker is still starting"
    progress.turned()
    clock.now += LOOP_SECONDS_MAX
    assert progress.healthy
    clock.now += 1
    assert not progress.healthy
    progress.turned()
    assert progress.healthy
    clock.now += LOOP_SECONDS_MAX + 1
    progress.left_loop()
    assert progress.healthy


def test_a_process_that_no_longer_beats_is_stuck_and_one_that_never_did_is_not(clock: _Clock) -> None:
    progress = WorkerProgress(clock)
    pool = [(0, 100), (1, 101), (2, 102)]
    for _ in range(round(PROCESS_SECONDS_MAX) + 3):
        clock.now += 1
        progress.beat(0)
        if clock.now < 1003:
            progress.beat(1)
        found = progress.stuck(pool)
    assert found == [101]


def test_a_look_that_comes_late_judges_no_process(clock: _Clock) -> None:
    progress = WorkerProgress(clock)
    progress.beat(0)
    clock.now += 10 * PROCESS_SECONDS_MAX
    assert progress.stuck([(0, 100)]) == []
    clock.now += 1
    assert progress.stuck([(0, 100)]) == []


def test_a_stuck_process_is_killed(clock: _Clock) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    progress = WorkerProgress(clock)
    progress.beat(0)
    for _ in range(4):
        assert process.poll() is None
        clock.now += PROCESS_SECONDS_MAX / 3
        kill_stuck(progress, [(0, process.pid)])
    assert process.wait(30) == -signal.SIGKILL


def test_a_heartbeat_that_could_not_be_written_once_is_written_again(tmp_path: Path) -> None:
    heartbeat, looks, twice, over = tmp_path / "missing" / "heartbeat", count(1), threading.Event(), threading.Event()

    def healthy() -> bool:
        if next(looks) == 2:
            twice.set()
        return not over.is_set()

    touch_while(healthy, heartbeat, beat_seconds=0.05)
    assert twice.wait(10)  # the first touch has failed
    heartbeat.parent.mkdir()
    try:
        for _ in range(1_000):
            if heartbeat.exists():
                break
            over.wait(0.01)
        assert heartbeat.exists()
    finally:
        over.set()


# Which workers are judged to stand still: decided from their beats, without a process.


class _Machine:
    """A clock and the last beats of workers, moved by the test."""

    def __init__(self) -> None:
        self.now = 100.0
        self.beats: dict[int, float] = {}
        self.watchdog = Watchdog(lambda: self.beats.items(), lambda: self.now)

    def passes(self, seconds: float, *beating: int) -> list[int]:
        """Let time pass in looks of a tenth of a second while some workers beat; return what the last look found."""
        found: list[int] = []
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            self.beats |= dict.fromkeys(beating, self.now)
            found = self.watchdog.stuck()
        return found


@pytest.fixture
def machine() -> _Machine:
    return _Machine()


def test_only_the_worker_that_stopped_beating_is_stuck(machine: _Machine) -> None:
    assert machine.passes(5.0, 1, 2) == []
    assert machine.passes(BLOCKED_SECONDS - 0.1, 2) == []
    assert machine.passes(0.3, 2) == [1]


def test_a_worker_that_is_still_starting_is_not_stuck_however_long_it_takes(machine: _Machine) -> None:
    machine.beats[1] = 1_700_000_000.0  # gunicorn makes the file with the time of day; beats are monotonic
    assert machine.passes(60.0) == []
    machine.beats[2] = machine.now
    assert machine.passes(60.0) == []


def test_a_machine_that_stood_still_as_a_whole_costs_no_worker(machine: _Machine) -> None:
    assert machine.passes(5.0, 1) == []
    machine.now += 30.0
    assert machine.watchdog.stuck() == []
    assert machine.passes(5.0, 1) == []


def test_a_worker_that_does_not_beat_again_after_the_machine_stood_still_is_left_to_gunicorn(machine: _Machine) -> None:
    machine.passes(5.0, 1)
    machine.now += 30.0
    assert machine.passes(5.0) == []


def test_a_number_that_is_used_again_belongs_to_a_new_worker(machine: _Machine) -> None:
    machine.passes(5.0, 1)
    machine.beats.clear()
    machine.passes(1.0)
    machine.beats[1] = machine.now
    assert machine.passes(5.0) == []


# What the embedded stack makes once is complete or not there, whenever its first start was killed.


KILLED = '#!/bin/sh\ntouch "$2/PG_VERSION"\nkill -9 $$\n'


def test_a_database_whose_making_was_killed_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths, real = Paths.below(tmp_path), postgres.binary
    script = tmp_path / "initdb"
    script.write_text(KILLED)
    script.chmod(0o755)
    monkeypatch.setattr(postgres, "identity", lambda: ([], None))
    monkeypatch.setattr(postgres, "binary", lambda name: str(script))
    with pytest.raises(StackError, match="initdb failed"):
        postgres.initialize(paths, "secret")
    assert not (paths.run / "pw").exists()
    monkeypatch.undo()
    assert postgres.binary is real
    made = postgres.initialize(paths, "secret")
    assert "listen_addresses = ''" in (made / "postgresql.conf").read_text()
    assert sorted(path.name for path in tmp_path.glob("postgres*")) == ["postgres"]


def test_sockets_have_a_path_for_the_kernel_and_for_addresses_whatever_the_folder_is_called() -> None:
    assert Paths.at(Path("/srv/items")).run == Path("/srv/items/run")
    for folder in ("/srv/" + "a" * 90, "/srv/" + "数据" * 15, "/srv/a,b", "/srv/a b", "/srv/a&b", "/srv/a%20b"):
        path = str(Paths.at(Path(folder)).socket("worker-webhooks"))
        assert len(path) <= 107 and re.fullmatch(r"[a-z0-9/._-]+", path)


def test_a_port_that_was_given_is_given_to_no_one_else_and_a_server_may_take_it() -> None:
    port = free_port()
    other = subprocess.run(
        [sys.executable, "-c", f"import socket; socket.socket().bind(('127.0.0.1', {port}))"], capture_output=True
    )
    assert b"Address already in use" in other.stderr
    with socket.create_server(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port), timeout=5):
        assert not port_is_free(port)
    assert port_is_free(port)


def test_a_second_start_leaves_the_log_of_the_stack_that_runs(tmp_path: Path) -> None:
    paths = Paths.below(tmp_path)
    paths.log("supervisor").write_text("Sign in as ada")
    with locked(paths):
        done = CliRunner().invoke(up, ["--detach", "--data-dir", str(tmp_path)])
    assert "a stack already runs on" in str(done.exception)
    assert paths.log("supervisor").read_text() == "Sign in as ada"


def test_workers_of_nginx_fit_its_limit_of_memory_on_a_host_of_any_size() -> None:
    for cores, expected in ((2, 2), (64, 16)):
        code = f"import os; os.cpu_count = lambda: {cores}; from deploy.local import nginx; print(nginx._DEFAULTS)"
        assert f"'WORKERS': '{expected}'" in subprocess.check_output([sys.executable, "-c", code], text=True)


def test_nginx_is_given_no_path_that_it_would_read_as_something_else() -> None:
    for folder in ("/srv/a[b]", "/srv/*", '/srv/"a', "/srv/$a"):
        with pytest.raises(ConfigurationError, match="cannot name this path"):
            render({"RUN_DIR": Path(folder)})


def test_secrets_are_written_whole_and_for_their_owner_only(tmp_path: Path) -> None:
    paths = Paths.below(tmp_path)
    made = paths.secrets()
    assert paths.secrets() == made
    assert (tmp_path / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "secrets.new").exists()


# The local identity provider with several sign-ins at a time: each code is redeemed for its own token.


PORT, ORIGIN = 8999, "http://127.0.0.1:8998"

PASSWORDS = {"ada": "of ada", "grace": "of grace"}

VERIFIER = "v" * 43


@pytest.fixture(scope="module")
def provider() -> Any:
    key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": "a"})
    kept = {"jwk": key.as_dict(private=True), "secret_key": "s" * 40, "client_secret": "c", "passwords": PASSWORDS}
    return application(kept, PORT, ORIGIN)


def code_of(provider: Any, name: str, nonce: str) -> str:
    """Sign in as a person, and return the code with which the browser is sent back."""
    return _signed_in(provider, name, nonce)[1]


def _signed_in(provider: Any, name: str, nonce: str) -> tuple[Any, str]:
    browser = provider.test_client()
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
    asked = {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": f"{ORIGIN}/dashboard/sign-in/callback",
        "scope": "openid profile email",
        "state": "state",
        "nonce": nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    page = browser.get(f"/oauth/authorize?{urlencode(asked)}", follow_redirects=True)
    for field, text in (("login", name), ("password", PASSWORDS[name])):
        tokens = re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', page.text)
        page = browser.post(page.request.path, data={"csrf_token": tokens[0], field: text})
        while page.status_code in (302, 303) and not page.headers["Location"].startswith(ORIGIN):
            page = browser.get(page.headers["Location"])
    return browser, parse_qs(urlsplit(page.headers["Location"]).query)["code"][0]


def test_nobody_changes_the_address_that_makes_them_an_operator(provider: Any) -> None:
    browser, _ = _signed_in(provider, "grace", "nonce")
    assert browser.get("/profile/grace").status_code == 404
    assert browser.get("/", follow_redirects=True).status_code == 200


def test_codes_that_are_redeemed_in_any_order_name_their_own_people(provider: Any) -> None:
    names = ["ada", "grace", "ada", "grace"]
    codes = [code_of(provider, name, f"nonce {number}") for number, name in enumerate(names)]
    redeemed = []
    for code in codes:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": f"{ORIGIN}/dashboard/sign-in/callback",
            "code_verifier": VERIFIER,
        }
        answer = provider.test_client().post("/oauth/token", data=form, auth=(CLIENT_ID, "c"))
        assert answer.status_code == 200, answer.text
        redeemed.append(jwt.decode(answer.json["id_token"], options={"verify_signature": False}))
    assert [(one["email"], one["nonce"]) for one in redeemed] == [
        (f"{name}@example.org", f"nonce {number}") for number, name in enumerate(names)
    ]


# A supervised program is one process group: no process of it outlives its main process for long.


# A main process with a worker that ignores whether its parent lives; the worker writes its number down.
_PARENT = """
import os, signal, sys, time
if os.fork() == 0:
    {before}
    open(sys.argv[1], 'w').write(str(os.getpid()))
    time.sleep(600)
signal.pause()
"""

_STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"


@pytest.fixture
def make_child(tmp_path: Path) -> Iterator[Callable[[str], ServiceProcess]]:
    """Start a program whose worker ignores its parent's death; `before` runs in the worker first."""
    made: list[ServiceProcess] = []

    def make(before: str = "pass") -> ServiceProcess:
        (tmp_path / "worker").unlink(missing_ok=True)
        command = [sys.executable, "-c", _PARENT.format(before=before), str(tmp_path / "worker")]
        child = ServiceProcess(Program(name="part", command=command, log=tmp_path / "part.log"))
        child.start()
        made.append(child)
        assert until(lambda: (tmp_path / "worker").exists() and (tmp_path / "worker").read_text() != "")
        return child

    yield make
    for child in made:
        child.stop()


def until(condition: Callable[[], bool], seconds: float = 15.0) -> bool:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("before", ["pass", _STUBBORN])
def test_a_program_starts_anew_only_after_its_whole_group_has_ended(
    make_child: Callable[[str], ServiceProcess], before: str
) -> None:
    child = make_child(before)
    assert child.process is not None
    group = child.process.pid
    child.process.kill()
    child.process.wait()
    assert group_lives(group), "the worker must outlive its parent, or this test shows nothing"
    assert until(child.revive)
    assert not group_lives(group)
    assert child.restarts == 1


def test_a_program_gets_no_settings_that_other_programs_would_take_from_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", "redis://127.0.0.1:9")
    monkeypatch.setenv("GUNICORN_CMD_ARGS", "--workers 9")
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    child = ServiceProcess(Program(name="part", command=["env"], log=tmp_path / "log", environment={"OURS": "1"}))
    child.start()
    assert child.process is not None and child.process.wait(30) == 0
    given = (tmp_path / "log").read_text()
    assert "OURS=1" in given and not re.search("^(CELERY|GUNICORN|PG)", given, re.MULTILINE)


def test_a_stop_ends_the_group_of_a_program_that_is_already_dead(make_child: Callable[[], ServiceProcess]) -> None:
    child = make_child()
    assert child.process is not None
    child.process.kill()
    child.stop()
    assert until(lambda: not group_lives(child.process.pid))  # type: ignore[union-attr]


def test_a_process_is_found_by_its_log_and_ended_however_its_parents_died(
    make_child: Callable[[], ServiceProcess], tmp_path: Path
) -> None:
    child = make_child()
    assert child.process is not None
    worker = int((tmp_path / "worker").read_text())
    assert set(writing_below(tmp_path)) == {child.process.pid, worker}
    os.kill(child.process.pid, signal.SIGKILL)
    child.process.wait()
    assert writing_below(tmp_path) == [worker]
    assert end_all_writing_below(tmp_path) == [worker]
    assert writing_below(tmp_path) == []


def test_a_process_that_writes_elsewhere_is_left_alone(
    make_child: Callable[[], ServiceProcess], tmp_path: Path
) -> None:
    child = make_child()
    (tmp_path / "part").mkdir()
    assert end_all_writing_below(tmp_path / "part") == []
    assert child.alive


_BEATING = """
import pathlib, sys, time
while True:
    pathlib.Path(sys.argv[1]).touch()
    time.sleep(0.02)
"""


def _beating(folder: Path, seconds_max: float, clock: Callable[[], float] = time.monotonic) -> ServiceProcess:
    heartbeat = folder / "part.heartbeat"
    command = [sys.executable, "-c", _BEATING, str(heartbeat)]
    program = Program(
        name="part", command=command, log=folder / "part.log", heartbeat=heartbeat, heartbeat_seconds=seconds_max
    )
    child = ServiceProcess(program, clock)
    child.start()
    assert until(heartbeat.exists)
    return child


def _looked(child: ServiceProcess) -> bool:
    time.sleep(0.01)
    return child.end_if_stuck()


def test_a_program_whose_heartbeat_stops_is_killed_and_restarted(tmp_path: Path) -> None:
    child = _beating(tmp_path, 1.0)
    assert child.process is not None
    pid = child.process.pid
    assert not any(_looked(child) for _ in range(200))
    os.kill(pid, signal.SIGSTOP)
    assert until(lambda: _looked(child))
    assert until(child.revive)
    assert child.process.pid != pid
    assert until(lambda: not _looked(child) and (tmp_path / "part.heartbeat").exists())
    child.stop()


def test_a_supervisor_that_stood_still_itself_judges_nothing(tmp_path: Path) -> None:
    # Looks in time at a heartbeat that has stopped, one that comes late, and again in time until the interval is over.
    moments = iter((0.1, 0.2, 0.3, 1.0, 1.1, 1.2, 1.25, 1.35))
    child = _beating(tmp_path, 0.3, lambda: next(moments))
    assert child.process is not None
    os.kill(child.process.pid, signal.SIGSTOP)
    assert [child.end_if_stuck() for _ in range(8)] == [False] * 7 + [True]
    child.stop()
