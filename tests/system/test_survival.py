"""A stack that is killed, in part or whole, leaves nothing behind and comes back."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deploy.ctl.healthcheck import healthy
from deploy.local.paths import Paths, free_port, port_is_free
from deploy.local.running_stack import read_state
from tests.support.processes import alive, children
from tests.system.conftest import COMMAND, PROJECT, Running, clean_environment, start

pytestmark = pytest.mark.xdist_group("survival")


def until(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Wait for a condition, and return whether it came true in time."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if condition():
            return True
        time.sleep(0.1)
    return False


def ready(running: Running) -> bool:
    """Return whether a stack answers through its nginx."""
    try:
        with closing(http.client.HTTPConnection("127.0.0.1", running.port, timeout=5)) as line:
            line.request("GET", "/v1/ready")
            response = line.getresponse()
            return response.status == 200 and b"data_version" in response.read()
    except (OSError, http.client.HTTPException):
        return False


def whole(running: Running, name: str) -> bool:
    """Return whether an edge has a living worker and answers at its own socket, which a frozen one leaves open."""
    bind = f"unix:{Paths.at(running.folder).socket(name)}"
    return any(map(alive, children(running.pid(name)))) and healthy({"EDGE_BIND": bind})


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A stack of which the test before may have killed a part that is not back yet."""
    running = start(tmp_path_factory.mktemp("own"), "--no-demo")
    yield running
    running.ctl("down", check=False)


@pytest.fixture
def own(damaged: Running) -> Running:
    """A whole stack: both its edges answer by themselves. A part that died often comes back after seconds only."""
    if read_state(Paths.at(damaged.folder)) is None:  # the test before has stopped it
        damaged.ctl("up", "--no-demo", "--detach", "--port", str(damaged.port))
    assert until(lambda: all(whole(damaged, name) for name in ("edge-a", "edge-b")), 60)
    return damaged


@pytest.fixture
def private_home() -> Iterator[Path]:
    """A folder where another user may come, as one may not to the tests' own."""
    home = Path(tempfile.mkdtemp(prefix="itemindex-home-", dir="/tmp"))
    yield home
    shutil.rmtree(home, ignore_errors=True)


def test_a_killed_part_comes_back(own: Running) -> None:
    for name in ("edge-a", "state", "postgres", "dispatcher"):
        pid = own.pid(name)
        os.kill(pid, signal.SIGKILL)
        assert until(lambda name=name, pid=pid: own.pid(name) != pid), name
    assert until(lambda: ready(own))


def test_a_killed_master_of_nginx_comes_back_although_its_workers_hold_the_port(own: Running) -> None:
    pid = own.pid("nginx")
    workers = children(pid)
    os.kill(pid, signal.SIGKILL)
    assert until(lambda: own.pid("nginx") != pid)
    assert until(lambda: not any(alive(worker) for worker in workers))
    assert until(lambda: ready(own))
    assert until(lambda: bool(children(own.pid("nginx"))))


def test_a_restart_of_the_edges_loses_no_request(own: Running) -> None:
    answers: list[object] = []
    for name in ("edge-a", "edge-b"):
        master = own.pid(name)
        former = children(master)
        os.kill(master, signal.SIGHUP)
        ends = time.monotonic() + 60.0
        while any(alive(worker) for worker in former) or not children(master):
            assert time.monotonic() < ends, "the former workers do not end"
            with closing(http.client.HTTPConnection("127.0.0.1", own.port, timeout=5)) as line:
                for _ in range(50):
                    try:
                        line.request("GET", "/v1/health")
                        response = line.getresponse()
                        response.read()
                        answers.append(response.status)
                    except (OSError, http.client.HTTPException) as error:
                        answers.append(repr(error))
                        break
                    time.sleep(0.01)  # one address may ask a thousand times a second
    assert len(answers) >= 100
    assert set(answers) == {200}


def test_an_edge_killed_under_load_loses_no_request_and_charges_none_twice(own: Running) -> None:
    token = own.ctl("tokens", "issue").strip()
    head = {"X-Service-Public-Token": token}
    statuses: list[int] = []
    for name in ("edge-a", "edge-b"):
        victims = [own.pid(name), *children(own.pid(name))]
        for number in range(15):
            with closing(http.client.HTTPConnection("127.0.0.1", own.port, timeout=30)) as line:
                line.request("GET", "/v1/index/brands", headers=head)
                response = line.getresponse()
                response.read()
                statuses.append(response.status)
            if number == 4:
                for pid in victims:
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.15)  # ten a second are allowed
        # The next victim must not be the only one that is left.
        assert until(lambda name=name, old=victims[0]: own.pid(name) != old and whole(own, name))
    assert set(statuses) == {200}
    with closing(http.client.HTTPConnection("127.0.0.1", own.port, timeout=5)) as line:
        line.request("GET", "/v1/quota", headers=head)
        assert json.loads(line.getresponse().read())["limits"][0]["used"] == len(statuses)


class _Crowd:
    """Callers on kept connections, each of which asks again as soon as it has its answer."""

    def __init__(self, port: int) -> None:
        self.port, self.over = port, threading.Event()
        self.statuses: list[object] = []
        self._threads = [threading.Thread(target=self._ask) for _ in range(8)]

    def __enter__(self) -> "_Crowd":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.over.set()
        for thread in self._threads:
            thread.join()

    def _ask(self) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as line:
            while not self.over.is_set():
                try:
                    line.request("GET", "/v1/health")
                    response = line.getresponse()
                    response.read()
                    self.statuses.append(response.status)
                except (OSError, http.client.HTTPException) as error:
                    self.statuses.append(repr(error))
                    line.close()
                time.sleep(0.06)  # what they ask costs more than what the test is about

    def go_on(self, answers: int = 100) -> None:
        """Wait until so many more are answered."""
        wanted = len(self.statuses) + answers
        assert until(lambda: len(self.statuses) >= wanted)


@pytest.mark.parametrize("part", ["worker", "master", "both"])
def test_a_frozen_edge_is_replaced_and_costs_no_request(own: Running, part: str) -> None:
    assert until(lambda: len(children(own.pid("edge-a"))) == 1)  # a former worker may still finish its requests
    master = own.pid("edge-a")
    (worker,) = children(master)
    frozen = {"worker": [worker], "master": [master], "both": [master, worker]}[part]
    with _Crowd(own.port) as crowd:
        crowd.go_on()
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        crowd.go_on()
        assert until(lambda: not any(map(alive, frozen)))
        assert until(lambda: whole(own, "edge-a"))
        crowd.go_on()
    assert set(crowd.statuses) == {200}


@pytest.mark.skipif(not shutil.which("ss"), reason="ss shows how many connections a socket queues")
def test_the_edges_queue_four_thousand_connections(own: Running) -> None:
    listed = subprocess.run(["ss", "-lxH"], capture_output=True, text=True, check=True).stdout.splitlines()
    most = int(Path("/proc/sys/net/core/somaxconn").read_text())
    for name in ("edge-a", "edge-b"):
        (line,) = [line for line in listed if str(Paths.below(own.folder).socket(name)) in line]
        assert int(line.split()[3]) == min(4096, most)


def test_gunicorn_opens_no_control_socket(own: Running) -> None:
    for name in ("edge-a", "edge-b"):
        opened = [path.readlink() for path in Path(f"/proc/{own.pid(name)}/fd").iterdir()]
        inodes = {str(path)[8:-1] for path in opened if str(path).startswith("socket:[")}
        unix = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
        paths = {fields[7] for fields in unix if fields[6] in inodes and len(fields) > 7}
        assert paths == {str(Paths.below(own.folder).socket(name))}


def test_another_users_stack_lives_beside_it_and_ctrl_c_stops_all_of_that_one(own: Running, private_home: Path) -> None:
    other = Running(private_home / "data", free_port())
    command = [*COMMAND, "up", "--no-demo", "--port", str(other.port), "--data-dir", str(other.folder)]
    environment = {**clean_environment(), "HOME": str(private_home)}
    prefix, identity = _another_user(private_home)
    process = subprocess.Popen(
        [*prefix, *command], cwd=PROJECT, env=environment, stdout=subprocess.PIPE, text=True, **identity
    )  # type: ignore[call-overload]
    assert until(lambda: ready(other), 60)
    assert until(lambda: "children" in other.ctl("status", "--json", check=False))
    assert ready(own)
    busy = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, env=environment, check=False)
    assert busy.returncode == 1
    assert "already runs" in busy.stderr
    assert json.loads(other.ctl("status", "--json"))["children"] == other.state["children"]
    pids = other.pids
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "stopped" in printed
    assert not any(alive(pid) for pid in pids)
    assert ready(own)


def test_a_killed_supervisor_leaves_no_orphan_and_the_next_start_finds_its_data(own: Running) -> None:
    token = own.ctl("tokens", "issue").strip()
    state = own.state
    pids = own.pids
    assert all(alive(pid) for pid in pids)
    os.kill(state["pid"], signal.SIGKILL)
    assert until(lambda: not any(alive(pid) for pid in pids)), [pid for pid in pids if alive(pid)]
    own.ctl("up", "--no-demo", "--detach", "--port", str(own.port))
    assert ready(own)
    assert token.removeprefix("iixp_free_")[:10] in own.ctl("tokens", "list", "--json")


def test_down_leaves_nothing_behind_although_supervisor_and_masters_were_killed(own: Running) -> None:
    state = own.state
    masters = [own.pid(name) for name in ("nginx", "edge-a", "worker-reports")]
    parts = set(own.pids)
    parts |= {worker for master in masters for worker in children(master)}
    # The supervisor first, or it would start the parts anew.
    for pid in (state["pid"], *masters):
        os.kill(pid, signal.SIGKILL)
    own.ctl("down")
    assert not [pid for pid in parts if alive(pid)]
    assert port_is_free(own.port)


def _another_user(home: Path) -> tuple[list[str], dict[str, object]]:
    """Give the folder to an ordinary user, and return what runs a command as that user: what to put before it, options.

    Without root's rights this process is one already. Where another user could not read the project, it becomes one in a
    namespace of its own.
    """
    if os.getuid() != 0:
        return [], {}
    if not _reachable(PROJECT) or not _reachable(Path(COMMAND[0])):
        return ["unshare", "-U", "--map-user=1000", "--map-group=1000"], {}
    os.chown(home, 65534, 65534)
    return [], {"user": 65534, "group": 65534, "extra_groups": []}


def _reachable(path: Path) -> bool:
    """Return whether another user may come as far as this path."""
    return all(parent.stat().st_mode & 0o001 for parent in path.resolve().parents)
