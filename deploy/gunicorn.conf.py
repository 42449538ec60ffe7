"""gunicorn, in production and in the embedded stack. Settings that differ between hosts come from the environment."""

import importlib
import os

from gunicorn.arbiter import Arbiter

from edge.startup import check_role, read_settings
from edge.watchdog import watch_workers
from shared.processes import imports_for_good, without_pandas
from shared.settings.settings import convert, settings_or_exit
from shared.telemetry.http_server import serve_metrics

# Settings that must not be used end gunicorn here, with a line for each instead of a worker's traceback.
_SETTINGS = settings_or_exit(read_settings)

# Before gunicorn imports the worker class by itself, in the process from which its workers are forked.
with imports_for_good():
    without_pandas()
    importlib.import_module("edge.server")

worker_class = "edge.server.EdgeWorker"
bind = os.environ.get("EDGE_BIND", "127.0.0.1:8000")
workers = int(os.environ.get("EDGE_WORKERS", "1"))
# gunicorn's own control socket is shared by every gunicorn of a user; two edges would fight for it.
control_socket_disable = True
# Connections that may wait until a worker takes them; edge/server.py asks for the same, nginx.conf sends no more.
backlog = 4096
# Longer than the longest stream that a restart must let finish.
graceful_timeout = settings_or_exit(
    lambda: convert("EDGE_GRACEFUL_SECONDS", os.environ.get("EDGE_GRACEFUL_SECONDS", "60"), 60)
)
# The second net, for a worker that never began to beat; edge/watchdog.py ends the others within a second.
timeout = 40
keepalive = 75
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108, PTH112 - the heartbeat must not wait for a disk
umask = 0o077


def on_starting(server: Arbiter) -> None:
    """Refuse to run with the rights of the schema's owner."""
    settings_or_exit(lambda: check_role(_SETTINGS))


def when_ready(server: Arbiter) -> None:
    """Serve the metrics of all processes, and watch the workers: the master is the one process without callers."""
    settings_or_exit(lambda: serve_metrics(_SETTINGS))
    watch_workers(server, _SETTINGS.heartbeat_file)


accesslog = None
errorlog = "-"
loglevel = "warning"
