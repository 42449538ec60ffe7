"""Where the embedded stack keeps things, and the secrets that it makes on its first start."""

import hashlib
import json
import os
import re
import secrets
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[2]
# A unix socket's path has 107 usable bytes; the longest name below a run directory needs about 30 of them. The path
# also stands in addresses, where a comma would end a host, and a question mark the path.
_RUN_PATH = re.compile(r"[A-Za-z0-9/._-]{1,72}")
# Below those that kernels give to clients: one would be taken from a server that is down for a moment.
_PORTS = range(10_000, 32_768)
_RESERVED: list[socket.socket] = []
_SECRETS = ("owner_password", "edge_password", "worker_password", "token_pepper", "signing_secret")


def default_data_dir() -> Path:
    """The data directory when none is named: `var` in the project, so that two clones never share one."""
    return PROJECT / "var"


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders of one stack. `run` holds sockets and pid files: short enough for the kernel, and plain."""

    root: Path
    run: Path

    @classmethod
    def at(cls, data_dir: Path) -> "Paths":
        """Return where a stack's folders are below its data directory. Creates nothing."""
        root = data_dir.expanduser().resolve()
        run = root / "run"
        if not _RUN_PATH.fullmatch(str(run)):
            name = hashlib.blake2b(str(root).encode(), digest_size=6).hexdigest()
            run = Path(tempfile.gettempdir()) / f"itemindex-{os.getuid()}-{name}"
        return cls(root, run)

    @classmethod
    def below(cls, data_dir: Path) -> "Paths":
        """Create a stack's folders below its data directory, private to this user."""
        paths = cls.at(data_dir)
        root, run = paths.root, paths.run
        for folder in (root, run, root / "log", root / "search", root / "results", run / "metrics"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if run.stat().st_uid != os.getuid():
            raise PermissionError(f"{run} belongs to another user; choose another --data-dir")
        return paths

    @property
    def lock(self) -> Path:
        """Held by the running supervisor; the kernel frees it when that dies, however it dies."""
        return self.root / "lock"

    @property
    def state(self) -> Path:
        """The state that the running supervisor writes."""
        return self.run / "stack.json"

    def log(self, name: str) -> Path:
        return self.root / "log" / f"{name}.log"

    def socket(self, name: str) -> Path:
        return self.run / f"{name}.sock"

    def heartbeat(self, name: str) -> Path:
        """File that one child touches as long as it makes progress."""
        return self.run / f"{name}.heartbeat"

    def secrets(self) -> dict[str, str]:
        """Return the stack's own secrets; made once, readable by this user only."""
        path = self.root / "secrets.json"
        if not path.exists():
            made = {name: secrets.token_urlsafe(32) for name in _SECRETS}
            write_private(path, json.dumps(made).encode())
        kept: dict[str, str] = json.loads(path.read_text())
        return kept

    def signing_key(self) -> Path:
        """Return the file of the key that signs releases; made once, readable by this user only."""
        path = self.root / "release-key.pem"
        if not path.exists():
            from shared.bulk.signing import new_key  # only now: it loads cryptography

            write_private(path, new_key())
        return path


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only this user may read, whole or not at all: a secret is made once, and must be complete."""
    beside = path.with_suffix(".new")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def port_is_free(port: int) -> bool:
    """Return whether a server could listen there now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a port that is free and that no other call, in any process, is given while this process runs.

    A socket holds it that does not listen: a server that reuses addresses, as all here do, may still take it.
    Without that, two stacks that start at one moment now and then chose the same.
    """
    holder = socket.socket()
    while True:
        try:
            holder.bind(("127.0.0.1", port := secrets.choice(_PORTS)))
        except OSError:
            continue
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _RESERVED.append(holder)
        return port
