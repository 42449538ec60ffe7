"""How parts are started: by the same commands in the embedded stack and by `itemindex edge`, `worker`, `dispatcher`."""

import sys

from deploy.local.paths import PROJECT

EDGE_MODULE, WORKER_MODULE = "gunicorn", "workers"
DISPATCHER_COMMAND = [sys.executable, "-m", WORKER_MODULE, "dispatcher"]


def edge_command(module: str = EDGE_MODULE) -> list[str]:
    """Return the command of an edge, whose address is EDGE_BIND."""
    return [
        sys.executable,
        "-m",
        module,
        "-c",
        str(PROJECT / "deploy" / "gunicorn.conf.py"),
        "edge.server:create_runner",
    ]


def worker_command(queues: str, concurrency: int, *, module: str = WORKER_MODULE) -> list[str]:
    """Return the command of a worker for these queues (comma-separated) with `concurrency` processes."""
    name = queues.replace(",", "-")
    return [sys.executable, "-m", module, "-Q", queues, "-c", str(concurrency), "-n", f"{name}@%h"]
