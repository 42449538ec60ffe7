"""A whole service of its own for the judge: started, filled through the command line, and stopped again."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deploy.local.paths import free_port
from tests.assurance.truth.client import Client
from tests.assurance.truth.sets import Set, World

_COMMAND = [sys.executable, "-m", "deploy.ctl.main"]
_PROJECT = Path(__file__).parents[3]
_SECONDS_MAX = 600
_REJECTS_MAX = 1_000_000


@dataclass(frozen=True)
class Stack:
    """A running service below a data directory."""

    folder: Path
    base_url: str
    summaries: dict[str, dict[str, Any]] = field(default_factory=dict)

    def ctl(self, *arguments: str) -> str:
        """Run `itemindex` on this service and return what it prints; raise RuntimeError where it fails."""
        environment = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
        done = subprocess.run(
            [*_COMMAND, *arguments, "--data-dir", str(self.folder)],
            capture_output=True,
            text=True,
            check=False,
            cwd=_PROJECT,
            env=environment,
            timeout=_SECONDS_MAX,
        )
        if done.returncode:
            raise RuntimeError(f"itemindex {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def load(self, one: Set) -> dict[str, Any]:
        """Load a set through its mapping; return the load's summary, with the file and line of each reject."""
        files = [str(file) for file in one.files]
        summary = dict(json.loads(self.ctl("ingest", "run", "--mapping", str(one.mapping), "--json", *files))[0])
        rejects = self._rejects(summary["load"]) if summary["counts"]["rejected"] else []
        summary["refused"] = sorted({(row["file"], row["line"]) for row in rejects})
        self.summaries[one.name] = summary
        return summary

    def _rejects(self, load: str) -> list[dict[str, Any]]:
        return list(json.loads(self.ctl("loads", "rejects", load, "--json", "--limit", str(_REJECTS_MAX)))["rejects"])

    def client(self) -> Client:
        """Return a client with the key of a new Institutional organization."""
        organization = self.ctl("orgs", "create", "The judge", "--plan", "institutional").strip()
        return Client(self.base_url, self.ctl("keys", "issue", organization).strip())


@contextmanager
def running(world: World) -> Iterator[Stack]:
    """Run a service with everything of a world for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="itemindex-truth-") as name:
        port = free_port()
        stack = Stack(Path(name), f"http://127.0.0.1:{port}/v1")
        stack.ctl("up", "--detach", "--no-demo", "--port", str(port))
        try:
            for one in world.sets:
                stack.load(one)
            for iid in world.withdrawn:
                stack.ctl("items", "withdraw", iid)
            for iid, survivor in world.merged:
                stack.ctl("items", "merge", iid, survivor)
            stack.ctl("releases", "cut", "--wait")
            yield stack
        finally:
            stack.ctl("down")
