"""Processes of this host."""

import os


def is_alive(pid: int) -> bool:
    """Return whether a process with this number exists, also one of another user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
