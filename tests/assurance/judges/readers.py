"""The judge of the releases: the tools that people read them with, against a service that is started for it.

They stand in an environment of their own below that of the other judges, made from requirements/readers.lock: DuckDB's
extensions come as wheels for one version of DuckDB, which is not the service's. Spark needs Java, which is Debian's
default-jre-headless.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from deploy.local.paths import Paths, free_port
from deploy.local.running_stack import settings_of
from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.assurance.judges.findings import Finding, JudgeFailed
from tests.assurance.judges.programs import COMMANDS, ENVIRONMENT, installed, run
from tests.assurance.judges.reports import PROJECT
from tests.support.releases import without_column

SCRIPT = "tests/assurance/judges/read_releases.py"
PAGES = ("edge/dashboard/connections.toml", "docs/guides/bulk-data.md")
_SHARED = ("manifest", "delta_sharing")
# Of each way in one client: files, bucket, Iceberg, DuckLake, and the end of them all.
_BRIEF = ("manifest", "pyarrow", "polars", "pyiceberg", "ducklake", "ended")
_CUT_SECONDS, _REVOKED_SECONDS = 120.0, 1.0
# Spark and Ray listen here alone, and Ray and Daft report nothing to their makers.
_SETTINGS = {
    "DAFT_ANALYTICS_ENABLED": "0",
    "POLARS_ICEBERG_PLANNER": "pyiceberg",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "300",
    "SPARK_LOCAL_IP": "127.0.0.1",
}


def readers(scratch: Path, *, brief: bool = False) -> list[Finding]:
    """Let each client read the observations; what differs from the manifest is a finding. Raises NotInstalled.

    When brief, a client for each way reads the first release alone.
    """
    python = installed(ENVIRONMENT / "readers" / "bin" / "python")
    data, port = ["--data-dir", str(scratch / "releases")], free_port()
    run([*COMMANDS, "up", "--detach", "--port", str(port), *data])
    try:
        organization = run([*COMMANDS, "orgs", "create", "Reader", "--plan", "institutional", *data]).strip()
        key = run([*COMMANDS, "keys", "issue", organization, *data]).strip()
        wait_for_release(data)
        arguments = [str(PROJECT / name) for name in (SCRIPT, *PAGES)]
        environment = {**os.environ, **_SETTINGS, "ITEMINDEX_URL": f"http://127.0.0.1:{port}/v1", "ITEMINDEX_KEY": key}
        lines: list[dict[str, object]] = []
        if not brief:
            _cut_more(scratch / "releases", data)
            lines += _read_shared([sys.executable, *arguments, *_SHARED], scratch, environment)
        # Warnings of the tools go to the terminal: nobody reads a pipe until the script has ended.
        with subprocess.Popen(
            [python, *arguments, *(_BRIEF if brief else ())],
            cwd=scratch,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as script:
            assert script.stdin is not None and script.stdout is not None
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


def _read_shared(command: list[str], scratch: Path, environment: dict[str, str]) -> list[dict[str, object]]:
    """Let the client of Delta Sharing read, which is one of the tests' own packages."""
    shared = subprocess.run(command, cwd=scratch, env=environment, text=True, stdout=subprocess.PIPE, check=False)
    lines = [json.loads(line) for line in shared.stdout.splitlines() if line.startswith("{")]
    if shared.returncode or len(lines) != len(_SHARED):
        raise JudgeFailed(f"the client of Delta Sharing ended with {shared.returncode}")
    return lines


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


def _cut_more(folder: Path, data: list[str]) -> None:
    """Make the first release one of older code, which lacked a column, and cut two more of other contents."""
    found = settings_of(Paths.at(folder))
    [(version,)] = _asked(found, "SELECT max(data_version) FROM releases")
    without_column(found, "brands", version, "first_seen_on")
    iids = [row[0] for row in _asked(found, "SELECT iid FROM items WHERE status = 'active' ORDER BY iid LIMIT 3")]
    for act in (("withdraw", iids[0]), ("merge", iids[1], iids[2])):
        run([*COMMANDS, "items", *act, *data])
        run([*COMMANDS, "releases", "cut", "--wait", *data])


def _asked(found: Settings, query: str) -> list[tuple[Any, ...]]:
    with connect(found.database_url, application="judge") as connection:
        return connection.execute(query).fetchall()


def wait_for_release(data: list[str]) -> None:
    """Wait until the stack of this data directory has a release. Raises JudgeFailed."""
    ends = time.monotonic() + _CUT_SECONDS
    while not json.loads(run([*COMMANDS, "releases", "list", "--json", *data])):
        if time.monotonic() > ends:
            raise JudgeFailed("no release was published after the start")
        time.sleep(0.5)
