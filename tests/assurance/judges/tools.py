"""The judges as programs: what each is started with, and on what.

They stand in an environment of their own, `.venv-judge`, which the Makefile makes from requirements/judge.lock and
from tests/assurance/judges/node/package-lock.json: some of them pin packages that the service needs in other versions.
"""

from collections.abc import Callable
from pathlib import Path

from deploy.local import self_signed
from deploy.local.paths import Paths
from tests.assurance.judges import documents, protocol, readers, reports, webhooks
from tests.assurance.judges.findings import Finding, JudgeFailed, NotInstalled
from tests.assurance.judges.programs import COMMANDS, read, run, tool
from tests.assurance.judges.reports import PROJECT


def gixy(scratch: Path) -> list[Finding]:
    """Check the front's configuration, as it is written for plain HTTP and for TLS."""
    certificate = self_signed.certificate_of(Paths.below(scratch / "data"))
    with_tls = ["--tls-cert", str(certificate.chain), "--tls-key", str(certificate.key)]
    found: list[Finding] = []
    for name, options in (("plain.conf", []), ("tls.conf", with_tls)):
        rendered, report = scratch / name, scratch / f"{name}.json"
        address = f"BASE_URL={'https' if options else 'http'}://localhost"
        rendered.write_text(run(["env", address, *COMMANDS, "nginx", "--print", *options]))
        words = run([tool("gixy"), "-f", "json", "-o", str(report), str(rendered)], 1, errors=True)
        if "File not found" in words:
            raise JudgeFailed("gixy could not open an included file")
        found += [one for one in reports.gixy(read(report), rendered) if one not in found]
    return found


def bandit(scratch: Path) -> list[Finding]:
    """Check the code of the service, not of its tests."""
    report = scratch / "bandit.json"
    packages = ["edge", "workers", "shared", "deploy"]
    run([tool("bandit"), "-q", "-r", *packages, "-f", "json", "-o", str(report)], 1)
    return reports.bandit(read(report))


def checkov(scratch: Path) -> list[Finding]:
    """Check the manifests of Kubernetes and the Dockerfile, without asking any service for policies."""
    kinds = ["--framework", "kubernetes", "dockerfile"]
    command = [tool("checkov"), "-d", str(PROJECT / "deploy"), *kinds, "-o", "json", "--compact", "--skip-download"]
    report = scratch / "checkov.json"
    report.write_text(run(command, 1))
    return reports.checkov(read(report))


def detect_secrets(scratch: Path) -> list[Finding]:
    """Check every file that git tracks, without asking any service whether a secret works."""
    if not (PROJECT / ".git").exists():
        raise NotInstalled("the checkout's .git is missing, which lists the files")
    report = scratch / "secrets.json"
    report.write_text(run([tool("detect-secrets"), "scan", "--no-verify"]))
    return reports.detect_secrets(read(report))


ALL: dict[str, Callable[[Path], list[Finding]]] = {
    "spectral": documents.spectral,
    "redocly": documents.redocly,
    "openapi-python-client": documents.python_generator,
    "hey-api": documents.typescript_generator,
    "typescript": documents.typescript_client,
    "mlcroissant": documents.mlcroissant,
    "mcp-conformance": protocol.conformance,
    "standardwebhooks": webhooks.standardwebhooks,
    "readers": readers.readers,
    "gixy": gixy,
    "bandit": bandit,
    "checkov": checkov,
    "detect-secrets": detect_secrets,
}
