"""The judges as programs: what each is started with, and on what.

They stand in an environment of their own, `.venv-judge`, which the Makefile makes from requirements-judge.lock and
from tests/judges/node/package-lock.json: some of them pin packages that the service needs in other versions.
"""

import json
import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from deploy.local import certificates
from deploy.local.paths import Paths
from shared.bulk.schema import DATASETS, arrow_schema
from tests.judges import documents, protocol, readers, reports, webhooks
from tests.judges.findings import Finding, JudgeFailed, NotInstalled
from tests.judges.programs import COMMANDS, read, run, tool
from tests.judges.reports import PROJECT

GUIDE = PROJECT / "deploy" / "guides" / "bulk-data.md"
_ROW = {
    **{"iid": "IID-99D2F-46WJ3-4S6N3", "day": date(2026, 7, 1), "kind": "sale", "source": "a", "currency": "HKD"},
    **{"price": Decimal("1.0000"), "list_price": None, "list_minor": None, "units": 1, "outlier": None},
}


def gixy(scratch: Path) -> list[Finding]:
    """Check the front's configuration, as it is written for plain HTTP and for TLS."""
    certificate = certificates.certificate_of(Paths.below(scratch / "data"))
    with_tls = ["--tls-cert", str(certificate.chain), "--tls-key", str(certificate.key)]
    found: list[Finding] = []
    for name, options in (("plain.conf", []), ("tls.conf", with_tls)):
        rendered, report = scratch / name, scratch / f"{name}.json"
        rendered.write_text(run([*COMMANDS, "nginx", "render", *options]))
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


def daft(scratch: Path) -> list[Finding]:
    """Let Daft run the guide's example over files as releases have them, and hold its sums against pyarrow's."""
    folder = scratch / "data" / "observations" / "17"
    folder.mkdir(parents=True)
    for number in range(2):
        rows = [{**_ROW, "channel": f"shop-{row % 3}", "price_minor": 100 * number + row} for row in range(1_000)]
        pq.write_table(pa.Table.from_pylist(rows, arrow_schema(DATASETS["observations"])), folder / f"{number}.parquet")
    [example] = re.findall(r"```python\n(import daft.*?)```", GUIDE.read_text(), re.DOTALL)
    said = json.loads(run([tool("python"), "-c", f"import json\n{example}"], cwd=scratch))
    table = pq.read_table(folder).group_by("channel").aggregate([("price_minor", "sum"), ("iid", "count")])
    expected = sorted(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))
    found = sorted(zip(said["channel"], said["price_minor"], said["rows"], strict=True))
    return [] if found == expected else [Finding("daft", "sums", GUIDE.name, f"{found} instead of {expected}")]


ALL: dict[str, Callable[[Path], list[Finding]]] = {
    "spectral": documents.spectral,
    "redocly": documents.redocly,
    "openapi-python-client": documents.python_generator,
    "hey-api": documents.typescript_generator,
    "typescript": documents.typescript_client,
    "mlcroissant": documents.mlcroissant,
    "daft": daft,
    "mcp-conformance": protocol.conformance,
    "standardwebhooks": webhooks.standardwebhooks,
    "readers": readers.readers,
    "gixy": gixy,
    "bandit": bandit,
    "checkov": checkov,
    "detect-secrets": detect_secrets,
}
