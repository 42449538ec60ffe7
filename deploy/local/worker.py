"""How a worker is started; the same command in the embedded stack and by `itemindex worker`."""

import sys

WORKER_MODULE = "workers"


def worker_command(queues: str, concurrency: int, *, module: str = WORKER_MODULE) -> list[str]:
    """Return the command of a worker for these queues (comma-separated) with so many processes."""
    name = queues.replace(",", "-")
    return [sys.executable, "-m", module, "-Q", queues, "-c", str(concurrency), "-n", f"{name}@%h"]
