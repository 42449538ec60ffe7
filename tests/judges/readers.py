"""The judge of the releases: the tools that people read them with, against a service that is started for it.

They stand in an environment of their own below that of the other judges, made from requirements-readers.lock: DuckDB's
extensions come as wheels for one version of DuckDB, which is not the service's. Spark needs Java, which is Debian's
default-jre-headless.
"""

import json
import os
import subprocess
import time
from pathlib import Path

from deploy.local.paths import free_port
from tests.judges.findings import Finding, JudgeFailed
from tests.judges.programs import COMMANDS, ENVIRONMENT, installed, run
from tests.judges.reports import PROJECT

SCRIPT = "tests/judges/read_releases.py"
PAGES = ("edge/dashboard/connections.toml", "deploy/guides/bulk-data.md")
_CUT_SECONDS, _REVOKED_SECONDS = 120.0, 1.0
# Spark and Ray listen here alone, and Ray and Daft report nothing to their makers.
_SETTINGS = {
    "DAFT_ANALYTICS_ENABLED": "0",
    "POLARS_ICEBERG_PLANNER": "pyiceberg",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "300",
    "SPARK_LOCAL_IP": "127.0.0.1",
}


def readers(scratch: Path) -> list[Finding]:
    """Let each client read the observations; what differs from the manifest is a finding. Raises NotInstalled."""
    python = installed(ENVIRONMENT / "readers" / "bin" / "python")
    data, port = ["--data-dir", str(scratch / "releases")], free_port()
    run([*COMMANDS, "up", "--detach", "--port", str(port), *data])
    try:
        organization = run([*COMMANDS, "orgs", "create", "Reader", "--plan", "institutional", *data]).strip()
        key = run([*COMMANDS, "keys", "issue", organization, *data]).strip()
        _wait_for_release(data)
        command = [python, *(str(PROJECT / name) for name in (SCRIPT, *PAGES))]
        environment = {**os.environ, **_SETTINGS, "ITEMINDEX_URL": f"http://127.0.0.1:{port}/v1", "ITEMINDEX_KEY": key}
        # Warnings of the tools go to the terminal: nobody reads a pipe until the script has ended.
        with subprocess.Popen(
            command, cwd=scratch, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as script:
            assert script.stdin is not None and script.stdout is not None
            lines = []
            for line in script.stdout:
                if line == "ready\n":
                    run([*COMMANDS, "keys", "revoke", organization, *data])
                    time.sleep(_REVOKED_SECONDS)
                    script.stdin.write("\n")
                    script.stdin.flush()
                else:
                    lines.append(json.loads(line))
        if script.returncode:
            raise JudgeFailed(f"the readers ended with {script.returncode}")
        return differing(lines)
    finally:
        run([*COMMANDS, "down", *data])


def differing(lines: list[dict[str, object]]) -> list[Finding]:
    """Return a finding for each client that failed, or found other figures than the first, which reads the manifest."""
    expected = lines[0]
    found = []
    for line in lines:
        name = str(line["client"])
        if "error" in line:
            found.append(Finding("readers", name, SCRIPT, str(line["error"])))
        elif name != "ended" and (line["rows"], line["sum"]) != (expected["rows"], expected["sum"]):
            text = (
                f"{line['rows']} rows, prices of {line['sum']}; the manifest has {expected['rows']}, {expected['sum']}"
            )
            found.append(Finding("readers", name, SCRIPT, text))
    return found


def _wait_for_release(data: list[str]) -> None:
    ends = time.monotonic() + _CUT_SECONDS
    while not json.loads(run([*COMMANDS, "releases", "list", "--json", *data])):
        if time.monotonic() > ends:
            raise JudgeFailed("no release was published after the start")
        time.sleep(0.5)
