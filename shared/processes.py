"""Processes of this host, and what this one does not import."""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType


class _NoPandas(MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname, name=fullname)


def without_pandas() -> None:
    """Have pyarrow not import pandas in this process, unless it has done so already.

    pyarrow does it at its first conversion of values wherever pandas is installed: half a second of processor time and
    50 MB in each process of a service that does not use it, and in an edge while callers wait.
    """
    import pyarrow as pa  # only now: not every process of the service needs it

    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([None])  # pyarrow looks for pandas once
    finally:
        sys.meta_path.remove(finder)


def is_alive(pid: int) -> bool:
    """Return whether a process with this number exists, also one of another user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
