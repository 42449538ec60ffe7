"""What is supervised in a data directory: its running stack, as other processes see it, and how a worker is started."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from typing import Any

from deploy.local.paths import Paths
from deploy.local.process import end_all_writing_below
from shared.errors import ConfigurationError
from shared.settings.settings import Settings

# A data directory's running stack, as other processes see it: its lock, its state file, what it left behind.


class StackError(Exception):
    """The stack cannot start or continue; the text says why and what to do."""


@contextmanager
def locked(paths: Paths) -> Iterator[None]:
    """Hold the stack's lock; raise StackError that names the running one where another holds it."""
    with paths.lock.open("a") as file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except OSError:
            running = read_state(paths)
            where = f"pid {running['pid']}, {running['base_url']}" if running else "it is just starting or stopping"
            raise StackError(f"a stack already runs on {paths.root} ({where}); stop it with `itemindex down`") from None
        yield


def end_left_behind(paths: Paths) -> list[int]:
    """End every part of a stack that has no supervisor, and return the numbers of these processes.

    Call it under the stack's lock: a part is known by its log, which the parts of a running stack write as well.
    """
    return end_all_writing_below(paths.root / "log")


def read_state(paths: Paths) -> dict[str, Any] | None:
    """Return the state of the running stack, or None if none runs. A stale file counts as none."""
    try:
        document: dict[str, Any] = json.loads(paths.state.read_text())
    except (OSError, ValueError):
        return None
    return document if supervised(paths) else None


def supervised(paths: Paths) -> bool:
    """Return whether a supervisor lives. By its lock: its number may stay for a while after it has ended."""
    try:
        file = paths.lock.open("rb")
    except FileNotFoundError:
        return False
    with file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except OSError:
            return True
    return False


def settings_of(paths: Paths) -> Settings:
    """Return the settings of the running stack; raise ConfigurationError where none runs."""
    state = read_state(paths)
    if state is None:
        raise ConfigurationError(
            "no stack runs here; start one with `itemindex up`, or set DATABASE_URL and the others"
        )
    return Settings.from_environment(
        {**state["environment"], **{k: v for k, v in os.environ.items() if k == "LOG_LEVEL"}}
    )


# How a worker is started; the same command in the embedded stack and by `itemindex worker`.


WORKER_MODULE = "workers"


def worker_command(queues: str, concurrency: int, *, module: str = WORKER_MODULE) -> list[str]:
    """Return the command of a worker for these queues (comma-separated) with so many processes."""
    name = queues.replace(",", "-")
    return [sys.executable, "-m", module, "-Q", queues, "-c", str(concurrency), "-n", f"{name}@%h"]
