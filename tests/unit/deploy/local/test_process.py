"""A supervised program is one process group: no process of it outlives its main process for long."""

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deploy.local.process_table import end_all_writing_below, group_lives, writing_below
from deploy.local.service_process import Program, ServiceProcess

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
