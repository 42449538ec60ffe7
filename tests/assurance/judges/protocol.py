"""The judge of the Model Context Protocol: its conformance suite, against a service that is started for it."""

from pathlib import Path

from deploy.local.paths import free_port
from tests.assurance.judges import reports
from tests.assurance.judges.findings import Finding
from tests.assurance.judges.programs import COMMANDS, read, run, script

# The scenarios that apply to a server which offers tools alone, by the revision that they judge; all others need prompts,
# resources, or tools made for the suite.
SCENARIOS = {
    "2025-11-25": ("server-initialize", "ping", "tools-list", "dns-rebinding-protection"),
    "2026-07-28": ("tools-list", "dns-rebinding-protection", "http-header-validation", "server-stateless", "caching"),
}


def conformance(scratch: Path) -> list[Finding]:
    """Run each scenario that applies. Raises NotInstalled without npm's judges."""
    suite = script("conformance")
    data, port = ["--data-dir", str(scratch / "data")], free_port()
    run([*COMMANDS, "up", "--no-demo", "--detach", "--port", str(port), *data])
    found: list[Finding] = []
    try:
        for revision, scenarios in SCENARIOS.items():
            for scenario in scenarios:
                results = scratch / revision / scenario
                address = ["--url", f"http://127.0.0.1:{port}/mcp"]
                chosen = ["--scenario", scenario, "--spec-version", revision, "--output-dir", str(results)]
                run([*suite, "server", *address, *chosen], 1)
                checks = [check for report in results.glob("*/checks.json") for check in read(report)]
                found += reports.conformance(checks, f"{revision}/{scenario}")
    finally:
        run([*COMMANDS, "down", *data])
    return found
