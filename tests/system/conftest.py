"""A whole stack, started as a newcomer starts it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.local.paths import Paths, free_port
from deploy.local.running_stack import StackState, read_state

COMMAND = [sys.executable, "-m", "deploy.ctl.main"]
PROJECT = Path(__file__).parents[2]
_CUT_SECONDS = 120.0
# What a machine may have set for others, and no part of the service may take for its own.
_OF_OTHER_PROGRAMS = {
    "CELERY_BROKER_URL": "redis://127.0.0.1:9",
    "GUNICORN_CMD_ARGS": "--bind 127.0.0.1:9 --workers 9",
    "PGCLIENTENCODING": "LATIN1",
    "PGDATESTYLE": "German, DMY",
    "PGHOST": "127.0.0.1",
    "PGPORT": "9",
    "PGTZ": "Asia/Tokyo",
}
# For stacks that no test breaks: a machine full of tests is no outage.
PATIENT = {"DATABASE_TIMEOUT_SECONDS": "30", "STATE_TIMEOUT_SECONDS": "5", "OIDC_TIMEOUT_SECONDS": "30"}


@dataclass(frozen=True)
class Running:
    """A stack that runs below a folder."""

    folder: Path
    port: int

    def ctl(self, *arguments: str, check: bool = True, environment: Mapping[str, str] | None = None) -> str:
        """Run `itemindex` on this stack, with more variables if given, and return what it printed."""
        done = completed([*COMMAND, *arguments, "--data-dir", str(self.folder)], environment)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def state(self) -> StackState:
        """What `itemindex status --json` prints: read where it reads it, as a process of its own takes half a second."""
        state = read_state(Paths.at(self.folder))
        assert state is not None, "nothing runs"
        return state

    def pid(self, name: str) -> int:
        """Return a part's process."""
        return next(pid for child in self.state["children"] if child["name"] == name and (pid := child["pid"]))

    @property
    def pids(self) -> list[int]:
        """The processes of all parts, each of which must run."""
        found = [child["pid"] for child in self.state["children"]]
        pids = [pid for pid in found if pid is not None]
        assert len(pids) == len(found), "a part is down"
        return pids


def completed(
    command: list[str], environment: Mapping[str, str] | None = None, seconds: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run a command of the project to its end, in a clean environment with these variables."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env={**clean_environment(), **(environment or {})},
        timeout=seconds,
    )


def clean_environment() -> dict[str, str]:
    """Return the environment without what would bring a server from outside, and with what other programs have set."""
    return {name: value for name, value in os.environ.items() if not name.endswith("_URL")} | _OF_OTHER_PROGRAMS


def start(folder: Path, *options: str, environment: Mapping[str, str] | None = None) -> Running:
    """Start a stack in the background, with more variables if given."""
    running = Running(folder, free_port())
    running.ctl("up", "--detach", "--port", str(running.port), *options, environment=environment)
    return running


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One stack with the demo data, shared by all tests that break nothing."""
    own = {**PATIENT, "PGSSLMODE": "verify-full"}  # of another server: nothing is encrypted on a machine's own sockets
    running = start(tmp_path_factory.mktemp("stack & its data, ß"), environment=own)
    yield running
    running.ctl("down")


@pytest.fixture(scope="session")
def released_stack(stack: Running) -> Running:
    """The shared stack once the release exists that its first start cuts."""
    ends = time.monotonic() + _CUT_SECONDS
    while not json.loads(stack.ctl("releases", "list", "--json")):
        assert time.monotonic() < ends, stack.ctl("jobs", "list")
        time.sleep(0.5)
    return stack
