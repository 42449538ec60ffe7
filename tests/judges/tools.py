"""The judges as programs: what each is started with, and on what.

They stand in an environment of their own, `.venv-judge`, which the Makefile makes from requirements-judge.lock and from
Spectral's package-lock.json: some of them pin packages that the service needs in other versions.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deploy.local import tls
from deploy.local.paths import Paths
from tests.judges import reports
from tests.judges.findings import Finding, JudgeFailed, NotInstalled
from tests.judges.reports import PROJECT

ENVIRONMENT = PROJECT / ".venv-judge"
DOCUMENT = "openapi.json"
_RULES = Path(__file__).parent / "spectral" / "rules.yaml"
_SECONDS_MAX = 300.0
_COMMANDS = [sys.executable, "-m", "deploy.ctl.main"]


def spectral(scratch: Path) -> list[Finding]:
    """Check the OpenAPI document that the code makes, by Spectral's rules for OpenAPI."""
    if shutil.which("node") is None:
        raise NotInstalled("node is missing")
    program = ENVIRONMENT / "node_modules" / ".bin" / "spectral"
    document, report = scratch / DOCUMENT, scratch / "spectral.json"
    document.write_text(_run([*_COMMANDS, "openapi"]))
    _run([_installed(program), "lint", str(document), "-r", str(_RULES), "-f", "json", "-o", str(report), "--quiet"], 1)
    return reports.spectral(_read(report), DOCUMENT)


def gixy(scratch: Path) -> list[Finding]:
    """Check the front's configuration, as it is written for plain HTTP and for TLS."""
    certificate = tls.local(Paths.below(scratch / "data"))
    with_tls = ["--tls-cert", str(certificate.chain), "--tls-key", str(certificate.key)]
    found: list[Finding] = []
    for name, options in (("plain.conf", []), ("tls.conf", with_tls)):
        rendered, report = scratch / name, scratch / f"{name}.json"
        rendered.write_text(_run([*_COMMANDS, "nginx", "render", *options]))
        words = _run([_tool("gixy"), "-f", "json", "-o", str(report), str(rendered)], 1, errors=True)
        if "File not found" in words:
            raise JudgeFailed("gixy could not open an included file")
        found += [one for one in reports.gixy(_read(report), rendered) if one not in found]
    return found


def bandit(scratch: Path) -> list[Finding]:
    """Check the code of the service, not of its tests."""
    report = scratch / "bandit.json"
    packages = ["edge", "workers", "shared", "deploy"]
    _run([_tool("bandit"), "-q", "-r", *packages, "-f", "json", "-o", str(report)], 1)
    return reports.bandit(_read(report))


def checkov(scratch: Path) -> list[Finding]:
    """Check the manifests of Kubernetes and the Dockerfile, without asking any service for policies."""
    kinds = ["--framework", "kubernetes", "dockerfile"]
    command = [_tool("checkov"), "-d", str(PROJECT / "deploy"), *kinds, "-o", "json", "--compact", "--skip-download"]
    report = scratch / "checkov.json"
    report.write_text(_run(command, 1))
    return reports.checkov(_read(report))


def detect_secrets(scratch: Path) -> list[Finding]:
    """Check every file that git tracks, without asking any service whether a secret works."""
    if not (PROJECT / ".git").exists():
        raise NotInstalled("the checkout's .git is missing, which lists the files")
    report = scratch / "secrets.json"
    report.write_text(_run([_tool("detect-secrets"), "scan", "--no-verify"]))
    return reports.detect_secrets(_read(report))


ALL: dict[str, Callable[[Path], list[Finding]]] = {
    "spectral": spectral,
    "gixy": gixy,
    "bandit": bandit,
    "checkov": checkov,
    "detect-secrets": detect_secrets,
}


def _tool(name: str) -> str:
    return _installed(ENVIRONMENT / "bin" / name)


def _installed(program: Path) -> str:
    if not program.exists():
        raise NotInstalled(f"{program.name} is missing")
    return str(program)


def _run(command: list[str], *accepted: int, errors: bool = False) -> str:
    """Return what a program prints, on stderr with `errors`; an exit code other than 0 and `accepted` is a failure."""
    environment = {**os.environ, "LOG_LEVEL": "CRITICAL", "NO_COLOR": "1"}
    try:
        done = subprocess.run(
            command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=_SECONDS_MAX, check=False
        )
    except subprocess.TimeoutExpired:
        raise JudgeFailed(f"{Path(command[0]).name} took more than {_SECONDS_MAX:.0f} s") from None
    if done.returncode not in (0, *accepted):
        raise JudgeFailed(f"{Path(command[0]).name} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stderr if errors else done.stdout


def _read(report: Path) -> Any:
    try:
        return json.loads(report.read_text())
    except (OSError, ValueError) as error:
        raise JudgeFailed(f"there is no report: {error}") from None
