"""A data directory's running stack, as other processes see it: its lock, its state file, what it left behind."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from typing import TypedDict

from deploy.local.paths import Paths
from deploy.local.process_table import end_all_writing_below
from shared.errors import ConfigurationError, ItemIndexError
from shared.settings.settings import Settings


class StackError(ItemIndexError):
    """The stack cannot start or continue; the text says why and what to do."""


class StackPart(TypedDict):
    """A part of a running stack; `pid` is None while it is down."""

    name: str
    pid: int | None
    started: str
    restarts: int
    log: str


class StackState(TypedDict):
    """What runs on a data directory, as its supervisor writes it down for other processes."""

    pid: int
    ready: bool
    port: int
    certificate: str | None
    metrics_port: int
    base_url: str
    environment: dict[str, str]
    children: list[StackPart]


@contextmanager
def lock_stack(paths: Paths) -> Iterator[None]:
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


def read_state(paths: Paths) -> StackState | None:
    """Return the state of the running stack, or None if none runs. A stale file counts as none."""
    try:
        document: StackState = json.loads(paths.state.read_text())
    except (OSError, ValueError):
        return None
    return document if is_supervised(paths) else None


def is_supervised(paths: Paths) -> bool:
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
