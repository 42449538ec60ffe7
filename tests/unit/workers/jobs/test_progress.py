"""When a worker, or a process of its pool, counts as standing still: decided from beats, without a process."""

import signal
import subprocess
import sys
import threading
from itertools import count
from pathlib import Path

import pytest

from workers.jobs.progress import LOOP_SECONDS_MAX, PROCESS_SECONDS_MAX, WorkerProgress, kill_stuck, touch_while


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
    progress.note_turn()
    clock.now += LOOP_SECONDS_MAX
    assert progress.healthy
    clock.now += 1
    assert not progress.healthy
    progress.note_turn()
    assert progress.healthy
    clock.now += LOOP_SECONDS_MAX + 1
    progress.note_loop_end()
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
