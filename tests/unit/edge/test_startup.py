"""Which workers of an edge are judged to stand still: decided from their beats, without a process."""

import pytest

from edge.watchdog import BLOCKED_SECONDS, Watchdog


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
