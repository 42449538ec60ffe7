"""Names of files that survive a failure of power."""

import os
from pathlib import Path


def fsync(path: Path) -> None:
    """Write a file, or the names in a folder, to the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
