"""How the judges' programs are found and run."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.assurance.judges.findings import JudgeFailed, NotInstalled
from tests.assurance.judges.reports import PROJECT

ENVIRONMENT = PROJECT / ".venv-judge"
DOCUMENT = "openapi.json"
COMMANDS = [sys.executable, "-m", "deploy.ctl.main"]
_SECONDS_MAX = 300.0


def tool(name: str) -> str:
    """Return a program of the judges' Python environment. Raises NotInstalled."""
    return installed(ENVIRONMENT / "bin" / name)


def script(name: str) -> list[str]:
    """Return the command of a package of npm, run by the newest Node there is. Raises NotInstalled."""
    return [node(), installed(ENVIRONMENT / "node_modules" / ".bin" / name)]


def installed(program: Path) -> str:
    """Return a program's path. Raises NotInstalled."""
    if not program.exists():
        raise NotInstalled(f"{program.name} is missing")
    return str(program)


def run(
    command: list[str],
    *accepted: int,
    errors: bool = False,
    cwd: Path = PROJECT,
    seconds_max: float = _SECONDS_MAX,
) -> str:
    """Return what a program prints, on stderr with `errors`; an exit code other than 0 and `accepted` is a failure."""
    environment = {**os.environ, "LOG_LEVEL": "error", "NO_COLOR": "1"}
    try:
        done = subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=seconds_max, check=False
        )
    except subprocess.TimeoutExpired:
        raise JudgeFailed(f"{Path(command[0]).name} took more than {seconds_max:.0f} s") from None
    if done.returncode not in (0, *accepted):
        raise JudgeFailed(f"{' '.join(command[:2])} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stderr if errors else done.stdout


def read(report: Path) -> Any:
    """Return a report in JSON. Raises JudgeFailed."""
    try:
        return json.loads(report.read_text())
    except (OSError, ValueError) as error:
        raise JudgeFailed(f"there is no report: {error}") from None


def document(scratch: Path) -> Path:
    """Write the OpenAPI document that the code makes, and return its path."""
    path = scratch / DOCUMENT
    path.write_text(run([sys.executable, "-m", "tests.support.openapi"]))
    return path


def node() -> str:
    """Return the Node that comes with Playwright, where the tests' tools are installed, else the machine's.

    Raises NotInstalled.
    """
    bundled = sorted(PROJECT.glob(".venv/lib/python3.*/site-packages/playwright/driver/node"))
    for candidate in [*map(str, bundled), "node"]:
        try:
            subprocess.run([candidate, "--version"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return candidate
    raise NotInstalled("node is missing")
