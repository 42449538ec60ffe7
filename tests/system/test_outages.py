"""Parts go away under callers, and crowds are cut off."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from deploy.local.paths import free_port
from shared.settings.settings import Settings
from tests.support.s3 import BUCKET, KEY_ID, SECRET, s3_server
from tests.system.conftest import COMMAND, DRILL, PROJECT, clean_environment, completed

# A part goes away under callers: each sees what the policy of the outage allows, and all is well again afterwards.


TRIED = (
    "PostgreSQL is down",
    "PostgreSQL is read-only",
    "the state store hangs",
    "the state store is emptied",
    "the state store's clock crosses midnight and back",
    "PostgreSQL's clock is set back while dispatcher and workers stand still",
    "the object store hangs",
    "one edge is blocked",
    "nginx's master is killed",
)


@pytest.mark.xdist_group("outages")
@pytest.mark.timeout(600)
def test_callers_see_what_the_policy_allows(tmp_path: Path) -> None:
    only = [word for fault in TRIED for word in ("--only", fault)]
    command = [*DRILL, "outages", "--seconds", "2", "--pause", "0.2", *only, "--json"]
    with s3_server(tmp_path) as address:
        bucket = {
            "S3_BUCKET": BUCKET,
            "S3_ENDPOINT": address,
            "S3_ACCESS_KEY_ID": KEY_ID,
            "S3_SECRET_ACCESS_KEY": SECRET,
        }
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=PROJECT,
            env={**clean_environment(), **bucket},
            timeout=580,
        )
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert [seen for seen in found if not seen["kept"]] == [], done.stderr
    assert done.returncode == 0
    saw = {(seen["fault"], seen["caller"]): set(seen["saw"]) for seen in found}
    assert {fault for fault, _ in saw} == set(TRIED)
    notices = {fault for fault, caller in saw if caller == "notice"}
    assert notices == {
        "the state store is emptied",
        "PostgreSQL's clock is set back while dispatcher and workers stand still",
    }
    assert len(saw) == len(TRIED) * (15 + 6) + len(notices)
    for fault in TRIED:  # only a front that is dead itself leaves a moment without an answer
        assert saw[fault, "health"] - ({"0"} if fault == "nginx's master is killed" else set()) == {"200"}
    assert "503" in saw["PostgreSQL is read-only", "cohort"] and saw["PostgreSQL is read-only", "search"] == {"200"}
    for fault in TRIED:
        if "clock" in fault:
            assert saw[fault, "lookup"] == saw[fault, "free lookup"] == {"200"}
    assert saw["one edge is blocked", "lookup"] == {"200"}
    assert "503" in saw["PostgreSQL is down", "cohort"] and "401" not in saw["PostgreSQL is down", "lookup"]
    assert saw["the state store hangs", "lookup"] == {"200"} and "503" in saw["the state store hangs", "ID token"]
    assert saw["the object store hangs", "download"] == {"503"} and saw["the object store hangs", "search"] == {"200"}


@pytest.mark.xdist_group("outages")
def test_a_fault_that_cannot_be_tried_is_said_before_anything_starts() -> None:
    done = completed([*DRILL, "outages", "--only", "the object store"])
    assert done.returncode == 2
    assert "S3_ENDPOINT" in done.stderr


# Slow, many and oversized callers are cut off or refused; ordinary callers are served all the while.
#
# How long they wait is for `python -m tests.drills overload` to measure: a test on a busy machine could not tell.


TRIED_CROWD = ("slow heads", "flood of connections", "oversized requests", "callers at once", "flood of dry runs")

_GROWN_MB_MAX = 100

# Twice the plan's 50 units a second, in each calendar second that an attack of at most some seconds touches.
_DRY_RUNS_MAX = 100 * 12


@pytest.mark.xdist_group("outages")
@pytest.mark.timeout(300)
def test_under_load_all_other_callers_are_served() -> None:
    only = [word for attack in TRIED_CROWD for word in ("--only", attack)]
    command = [*DRILL, "overload", "--seconds", "1", "--rounds", "1", "--ratio-max", "0", *only, "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=PROJECT, env=clean_environment(), timeout=280
    )
    assert done.stdout, done.stderr
    found = {measured["attack"]: measured for measured in json.loads(done.stdout)}
    assert set(found) == set(TRIED_CROWD)
    for measured in found.values():
        assert measured["failures"] == {} and measured["calls"] == 100
        assert measured["unanswered"] == 0, measured["attackers"]
        assert measured["grown_mb"] < _GROWN_MB_MAX
    assert "served" not in found["oversized requests"]["attackers"]
    assert {"refused 413", "refused 414", "refused 431"} <= set(found["oversized requests"]["attackers"])
    assert "refused 400" in found["flood of connections"]["attackers"]
    assert found["callers at once"]["attackers"]["served"] >= 2_000
    # One that a busy machine starves may stay below its limit; that refusals come is for tests/service/quota to show.
    assert 0 < found["flood of dry runs"]["attackers"]["served"] <= _DRY_RUNS_MAX
    assert done.returncode == 0


_PROBE = [sys.executable, "-m", "deploy.ctl.healthcheck"]


def ask(port: int, path: str) -> tuple[int, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as line:
        line.request("GET", path, headers={"Host": "localhost"})
        answer = line.getresponse()
        return answer.status, answer.read().decode()


def wait(until: Callable[[], bool]) -> None:
    """Wait until it is so; the test's own time limit ends it."""
    while not until():
        time.sleep(0.1)


def probed(environment: dict[str, str]) -> bool:
    """Ask as an orchestrator does."""
    return subprocess.run(_PROBE, env=environment, cwd=PROJECT, check=False).returncode == 0


@contextmanager
def part(environment: dict[str, str], *arguments: str, stop: signal.Signals = signal.SIGTERM) -> Iterator[None]:
    """Run a part until the block is left; it is well before that and ends in order after it."""
    process = subprocess.Popen([*COMMAND, *arguments], env=environment, cwd=PROJECT)
    try:
        wait(lambda: process.poll() is not None or probed(environment))
        assert process.poll() is None
        yield
        process.send_signal(stop)
        assert process.wait(60) == 0
        assert not probed(environment)
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def environment(settings: Settings, tmp_path: Path) -> dict[str, str]:
    """The environment of a part, as an orchestrator gives it."""
    given = {**clean_environment(), **settings.environment(), "ACCESS_LOG": "-", "DRAIN_SECONDS": "0.1"}
    given["METRICS_DIR"] = str(tmp_path / "metrics")
    return {name: value for name, value in given.items() if name != "DATABASE_URL"}


def test_a_front_and_its_two_edges(environment: dict[str, str], tmp_path: Path) -> None:
    port, front, telling = free_port(), free_port(), free_port()
    sockets = tmp_path / "run"
    sockets.mkdir()
    edge = {**environment, "EDGE_BIND": f"unix:{sockets}/edge-a.sock", "METRICS_LISTEN": f"127.0.0.1:{telling}"}
    other = {**environment, "EDGE_BIND": f"unix:{sockets}/edge-b.sock", "METRICS_DIR": str(tmp_path / "metrics-b")}
    nginx = {
        **clean_environment(),
        "NGINX_LISTEN": f"127.0.0.1:{port}",
        "NGINX_METRICS_LISTEN": f"127.0.0.1:{front}",
        "NGINX_RUN_DIR": str(sockets),
        "BASE_URL": f"http://127.0.0.1:{port}/v1",
    }
    with part(edge, "edge"), part(other, "edge"), part(nginx, "nginx", stop=signal.SIGQUIT):
        status, body = ask(port, "/v1/health")
        assert (status, json.loads(body)["status"]) == (200, "ok")
        assert ask(port, "/metrics")[0] == 404
        assert 'itemindex_processes{part="edge"' in ask(telling, "/metrics")[1]
        frame = subprocess.run(
            [*COMMAND, "top", "--once", "--interval", "0.3", "--url", f"http://127.0.0.1:{telling}/metrics"],
            capture_output=True,
            text=True,
            check=True,
            env=clean_environment(),
            cwd=PROJECT,
        )
        assert "1 edge" in frame.stdout


@pytest.mark.parametrize(
    "command", [["dispatcher"], ["worker", "--queues", "reports", "--concurrency", "1"]], ids=["dispatcher", "worker"]
)
def test_a_part_of_the_sync_tier(environment: dict[str, str], command: list[str]) -> None:
    telling = free_port()
    with part({**environment, "METRICS_LISTEN": f"127.0.0.1:{telling}"}, *command):
        wait(lambda: f'itemindex_processes{{part="{command[0]}"' in ask(telling, "/metrics")[1])
        assert ask(telling, "/health")[0] == 200


def test_a_part_without_what_it_needs_says_what(environment: dict[str, str]) -> None:
    lacking = {name: value for name, value in environment.items() if name != "TOKEN_PEPPER"}
    done = subprocess.run([*COMMAND, "edge"], capture_output=True, text=True, check=False, env=lacking, cwd=PROJECT)
    assert done.returncode == 1
    assert "TOKEN_PEPPER must be set" in done.stderr
    assert lacking["EDGE_DATABASE_URL"] not in done.stderr


def test_nginx_reads_the_rendered_configuration(tmp_path: Path) -> None:
    text = subprocess.run(
        [*COMMAND, "nginx", "--print", "--server-names", "api.example.org", "--run-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.1"},
        cwd=PROJECT,
    ).stdout
    assert "server_name api.example.org;" in text
    assert "set_real_ip_from 10.0.0.0/8;" in text and "set_real_ip_from 192.0.2.1;" in text
    assert f"server unix:{tmp_path}/edge-a.sock" in text
