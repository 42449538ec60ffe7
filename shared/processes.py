"""Processes of this host, and how this one works: without pandas, and at times without the collector of garbage."""

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from types import ModuleType


class _NoPandas(MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname, name=fullname)


@contextmanager
def pandas_hidden() -> Iterator[None]:
    """Let no import find pandas for as long as the block lasts, unless it was imported before.

    pyarrow imports it at its first conversion of values wherever it is installed, and looks for it only once: half a
    second of processor time and 50 MB in each process of a service that does not use it.
    """
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def without_pandas() -> None:
    """Have pyarrow not import pandas in this process, unless it has done so already: in an edge, callers would wait."""
    import pyarrow as pa  # only now: not every process of the service needs it

    with pandas_hidden():
        pa.array([None])


@contextmanager
def without_collector() -> Iterator[None]:
    """Let the collector of garbage rest while many objects are made that stay and have no cycles.

    It would look at all of them again and again: a third of the time of linking.
    """
    worked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if worked:
            gc.enable()


@contextmanager
def imports_for_good() -> Iterator[None]:
    """Import what stays until the process ends: the collector of garbage neither runs meanwhile nor looks at it later.

    It would look at some hundred thousand objects again and again while they are made, in each full collection, during
    which an edge answers no one, and when the process ends: half as much processor time as the imports themselves.
    """
    with without_collector():
        try:
            yield
        finally:
            gc.freeze()


def is_alive(pid: int) -> bool:
    """Return whether a process with this number exists, also one of another user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
