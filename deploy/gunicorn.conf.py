"""gunicorn, in production and in the embedded stack. What differs between hosts comes from the environment."""

import os
from typing import Any

from shared.config import Settings
from shared.telemetry.http_server import keep_watch

worker_class = "edge.server.EdgeWorker"
bind = os.environ.get("EDGE_BIND", "127.0.0.1:8000")
workers = int(os.environ.get("EDGE_WORKERS", "1"))
# gunicorn's own control socket is shared by every gunicorn of a user; two edges would fight for it.
no_control_socket = True
# Longer than the longest stream that a restart must let finish.
graceful_timeout = int(os.environ.get("EDGE_GRACEFUL_SECONDS", "60"))
timeout = 40
keepalive = 75
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108, PTH112 - the heartbeat must not wait for a disk
umask = 0o077


def when_ready(server: Any) -> None:
    """Tell the metrics of all its processes where a setting says so; the one process without callers does it."""
    keep_watch(Settings.from_environment())


accesslog = None
errorlog = "-"
loglevel = "warning"
