"""How a worker is started; the same command in the embedded stack and by `itemindex worker`."""

import sys

WORKER_APP = "workers.app:app"


def worker_command(queues: str, concurrency: int, *, app: str = WORKER_APP) -> list[str]:
    """Return the command of a worker for these queues (comma-separated) with so many processes."""
    name = queues.replace(",", "-")
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    serve = ["worker", "-Q", queues, "-c", str(concurrency), "-n", f"{name}@%h"]
    return [sys.executable, "-m", "celery", "--quiet", "-A", app, *serve, *quiet]
