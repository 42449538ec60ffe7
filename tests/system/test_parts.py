"""Each part of the service runs by itself, as an orchestrator starts, probes and stops it."""

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
from tests.system.conftest import COMMAND, PROJECT, clean_environment

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


def probed(environment: dict[str, str], *options: str) -> bool:
    """Ask as an orchestrator does."""
    return subprocess.run([*_PROBE, *options], env=environment, cwd=PROJECT, check=False).returncode == 0


@contextmanager
def part(environment: dict[str, str], *arguments: str, stop: signal.Signals = signal.SIGTERM) -> Iterator[None]:
    """Run a part until the block is left; it is well before that and ends in order after it."""
    process = subprocess.Popen([*COMMAND, *arguments], env=environment, cwd=PROJECT)
    try:
        assert probed(environment, "--wait", "60") and process.poll() is None
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
    command = [*COMMAND, "nginx", "--print", "--run-dir", str(tmp_path), "--server-names"]
    environment = {**os.environ, "TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.1", "BASE_URL": "http://items.example/v1"}

    def printed(names: str) -> subprocess.CompletedProcess[str]:
        done = [*command, names]
        return subprocess.run(done, capture_output=True, text=True, check=False, env=environment, cwd=PROJECT)

    text = printed("api.example.org").stdout
    assert "server_name api.example.org items.example;" in text, "the host of the public address is never refused"
    assert "set_real_ip_from 10.0.0.0/8;" in text and "set_real_ip_from 192.0.2.1;" in text
    assert f'server "unix:{tmp_path}/edge-a.sock"' in text
    refused = printed("api.example.org, www.example.org")
    assert refused.returncode == 1 and "separate the names by blanks" in refused.stderr
