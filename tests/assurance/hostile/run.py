"""`python -m tests.assurance.hostile.run --cases 20000 --seed 1`: tries the service from its own document, as long as asked.

Starts a stack of its own, or takes the one that `--url` and HOSTILE_TOKEN, HOSTILE_KEY, HOSTILE_BEARER name. Each round
has its own seed and favours another credential where an operation takes several. Exit status 1: there are findings.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.assurance.hostile.target import target

PROJECT = Path(__file__).parents[3]
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
PHASES = "examples,coverage,fuzzing,stateful"
_SCHEMES = {
    "PublicToken": 'api_key = "${HOSTILE_TOKEN}"',
    "ApiKey": 'api_key = "ApiKey ${HOSTILE_KEY}"',
    "IdToken": 'bearer = "${HOSTILE_BEARER}"',
}
# Where an operation takes any of several credentials, a scheme that is left out makes room for another.
CREDENTIALS = (("PublicToken", "ApiKey", "IdToken"), ("ApiKey",), ("IdToken", "ApiKey"))


@dataclass(frozen=True)
class Round:
    """What one round came to: how many cases, and the report if there was anything to tell."""

    cases: int
    clean: bool
    report: str


def one_round(
    url: str,
    credentials: Mapping[str, str],
    *,
    seed: int,
    examples: int,
    phases: str = PHASES,
    schemes: Sequence[str] = CREDENTIALS[0],
) -> Round:
    """Try every operation of the document, with up to `examples` random cases each."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        configuration, reported = Path(name) / "schemathesis.toml", Path(name) / "report.json"
        sections = [f"[auth.openapi.{scheme}]\n{_SCHEMES[scheme]}\n" for scheme in schemes]
        configuration.write_text("\n".join([CONFIGURATION.read_text(encoding="utf-8"), *sections]), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "schemathesis.cli",
            "--config-file",
            str(configuration),
            "run",
            f"{url}/v1/openapi.json",
            "--no-color",
            "--checks",
            "all",
            "--phases",
            phases,
            "--seed",
            str(seed),
            "--max-examples",
            str(examples),
            "--workers",
            "1",
            # Of what is made up for a text in a path most cannot stand there: that is the health of the search, not of the service.
            "--suppress-health-check",
            "filter_too_much",
            "--report-json-path",
            str(reported),
        ]
        environment = {**os.environ, **credentials}
        done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
        if not reported.exists():
            return Round(0, False, done.stdout + done.stderr)
        report = json.loads(reported.read_text(encoding="utf-8"))
        return Round(report["test_cases"]["generated"], done.returncode == 0, done.stdout)


def rounds(
    url: str, credentials: Mapping[str, str], cases: int, seed: int, examples: int, phases: str = PHASES
) -> bool:
    """Go round until so many cases were tried; return whether nothing was found."""
    tried, clean, number = 0, True, 0
    while tried < cases:
        schemes = CREDENTIALS[number % len(CREDENTIALS)]
        made = one_round(url, credentials, seed=seed + number, examples=examples, phases=phases, schemes=schemes)
        tried, clean, number = tried + made.cases, clean and made.clean, number + 1
        print(
            f"round {number}, seed {seed + number - 1}, {'+'.join(schemes)}: {made.cases} cases, {tried} in all, "
            f"{'nothing found' if made.clean else 'FINDINGS'}",
            flush=True,
        )
        if not made.clean:
            print(made.report)
        if not made.cases:
            break
    return clean and tried >= cases


def main() -> int:
    """Read the arguments and run."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    reader.add_argument("--cases", type=int, default=20_000, help="stop after so many")
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--examples", type=int, default=60, help="random cases per operation and round")
    reader.add_argument("--phases", default=PHASES, help="of schemathesis, separated by commas; default: all")
    reader.add_argument("--url", help="a service that runs already, without /v1")
    asked = reader.parse_args()
    if asked.url:
        return 0 if rounds(asked.url, {}, asked.cases, asked.seed, asked.examples, asked.phases) else 1
    with tempfile.TemporaryDirectory(prefix="hostile-") as name, target(Path(name)) as running:
        environment = running.environment()
        found = rounds(running.base_url, environment, asked.cases, asked.seed, asked.examples, asked.phases)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
