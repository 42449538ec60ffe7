"""Node.js for tests: the one that comes with Playwright's wheel, so that nothing else has to be installed."""

import os
import subprocess
from pathlib import Path

from playwright._impl._driver import compute_driver_executable

NODE = Path(compute_driver_executable()[0])


def node(*arguments: str | Path, seconds: float = 120, **environment: str) -> str:
    """Run Node and return what it prints. Raises AssertionError with its output where it ends with a fault."""
    done = subprocess.run(
        [NODE, *arguments], capture_output=True, text=True, timeout=seconds, env={**os.environ, **environment}
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    return done.stdout
