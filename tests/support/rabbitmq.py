"""RabbitMQ from the system's package, as a plain process with data, cookie and ports of its own."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from deploy.local.paths import free_port
from deploy.local.service_process import Program, ServiceProcess, tail

_START_SECONDS = 90


def scripts() -> Path | None:
    """Return the folder of the package's own scripts, past the wrapper that changes to another user; None without."""
    found = shutil.which("rabbitmq-server")
    folder = Path(found).resolve().parent if found else None
    return folder if folder and shutil.which("epmd") else None


class RabbitMq:
    """One node."""

    def __init__(self, folder: Path) -> None:
        bin_folder = scripts()
        assert bin_folder is not None
        self._folder = folder
        self._bin = bin_folder
        self.port, self._epmd_port = free_port(), free_port()
        for name in ("data", "log", "home"):
            (folder / name).mkdir(exist_ok=True)
        (folder / "plugins").write_text("[].\n")
        (folder / "rabbitmq.conf").write_text(f"listeners.tcp.1 = 127.0.0.1:{self.port}\n")
        self._environment = {
            "HOME": str(folder / "home"),
            "ERL_CRASH_DUMP": str(folder / "erl_crash.dump"),
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"n{self.port}@localhost",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_CONF_ENV_FILE": str(folder / "no-such-file"),
        }
        self._epmd = ServiceProcess(
            Program(
                name="epmd", command=[str(shutil.which("epmd")), "-port", str(self._epmd_port)], log=folder / "epmd.log"
            )
        )
        program = Program(
            name="rabbitmq",
            command=[str(self._bin / "rabbitmq-server")],
            log=folder / "rabbitmq.log",
            environment=self._environment,
            ready=self._listens,
        )
        self._server = ServiceProcess(program)

    @property
    def url(self) -> str:
        """The address for Celery."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def start(self) -> None:
        """Start the node, and the port mapper that it needs."""
        if not self._epmd.alive:
            self._epmd.start()
        self._server.start()
        assert self._server.wait_ready(_START_SECONDS), tail(self._folder / "rabbitmq.log", 30)

    def kill(self) -> None:
        """Kill the node with everything that it has started."""
        assert self._server.process is not None
        os.killpg(self._server.process.pid, signal.SIGKILL)
        self._server.process.wait()

    def stop(self) -> None:
        """End both."""
        if self._server.alive:
            self.kill()
        self._epmd.stop()

    def queues(self) -> dict[str, str]:
        """Return each queue's type."""
        command = [str(self._bin / "rabbitmqctl"), "-q", "list_queues", "--no-table-headers", "name", "type"]
        done = subprocess.run(
            command, env={**os.environ, **self._environment}, capture_output=True, text=True, check=True
        )
        return dict(line.split("\t") for line in done.stdout.splitlines())

    def _listens(self) -> bool:
        with socket.socket() as line:
            line.settimeout(1)
            if line.connect_ex(("127.0.0.1", self.port)):
                time.sleep(0.2)
                return False
            try:
                line.sendall(b"AMQP\x00\x00\x09\x01")
                return line.recv(8)[:1] == b"\x01"  # the first frame: it is ready to talk, not only to listen
            except OSError:
                return False
