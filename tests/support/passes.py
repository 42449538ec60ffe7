"""How often a flow passes from file to file of the product."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

_ROOT = Path(__file__).parents[2]
_PRODUCT = tuple(f"{_ROOT / tier}/" for tier in ("edge", "workers", "shared"))


class FilePass(NamedTuple):
    """A call from another file: the function's name, and the task in which it is called; None in a callback."""

    name: str
    task: asyncio.Task[Any] | None


@contextmanager
def file_passes() -> Iterator[list[FilePass]]:
    """Yield a list that grows by each call of this thread from one file of the product into another.

    A coroutine that continues was called before: it does not count again.
    """
    loop = asyncio.get_running_loop()
    files: list[str] = []
    called: list[FilePass] = []
    known: dict[int, FrameType] = {}  # held, so that no other frame gets the id of one of them

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(_PRODUCT):
            return
        if event == "return":
            if files:
                files.pop()
            return
        if id(frame) not in known and files and files[-1] != code.co_filename:
            called.append(FilePass(code.co_qualname, asyncio.current_task(loop)))
        known[id(frame)] = frame
        files.append(code.co_filename)

    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(None)
