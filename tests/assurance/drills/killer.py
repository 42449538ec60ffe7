"""Who kills: one process at a time, at random by a seed, always SIGKILL."""

import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable, Collection
from functools import partial

from deploy.local.stack import Stack
from tests.support.processes import children

_PAUSE_SECONDS = (0.1, 0.9)


class Killer(threading.Thread):
    """Kills processes of a stack until it has killed enough or is stopped.

    `only` names the kinds of its victims; a name that is none of these kinds is the beginning of a program's name.
    """

    def __init__(self, stack: Stack, seed: int, kills: int, only: Collection[str] = ()) -> None:
        super().__init__(name="chaos", daemon=True)
        self._stack = stack
        self._chance = random.Random(seed)
        self._kills = kills
        targets: dict[str, Callable[[], list[int]]] = {
            "worker": lambda: self._parts("worker"),
            "worker's child": lambda: [child for pid in self._parts("worker") for child in children(pid)],
            "dispatcher": lambda: self._parts("dispatcher"),
            "broker": lambda: self._parts("state"),
            "edge": lambda: [child for pid in self._parts("edge") for child in children(pid)],
            "edge's master": lambda: self._parts("edge"),
            "PostgreSQL": lambda: self._parts("postgres"),
            "PostgreSQL's backend": lambda: [child for pid in self._parts("postgres") for child in children(pid)],
        }
        self._targets = {name: targets.get(name) or partial(self._parts, name) for name in only or targets}
        self.enough = threading.Event()
        self.killed: Counter[str] = Counter()

    def run(self) -> None:
        """Kill, pause, kill. Each kind of target comes once in a round, so that a short drill has met them all."""
        names: list[str] = []
        while sum(self.killed.values()) < self._kills and not self.enough.wait(self._chance.uniform(*_PAUSE_SECONDS)):
            names = names or self._chance.sample(sorted(self._targets), len(self._targets))
            name = names.pop()
            pids = self._targets[name]()
            if pids and kill(self._chance.choice(sorted(pids))):
                self.killed[name] += 1

    def _parts(self, beginning: str) -> list[int]:
        """Return the processes that the stack itself has started under such a name."""
        children = [child for child in self._stack.children if child.program.name.startswith(beginning) and child.alive]
        return [child.process.pid for child in children if child.process is not None]


def kill(pid: int) -> bool:
    """Kill one process of ours; tell whether it was there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
