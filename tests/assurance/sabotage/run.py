"""`make sabotage`: plant each fault in a copy of the tree, and see that the tests or the drill named for it fail.

A fault that nothing notices, one whose place is gone from the code, and a test that fails without any fault are all
failures of this run.
"""

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from rich.console import Console

from tests.assurance.sabotage.faults import FAULTS
from tests.assurance.sabotage.planted import PlantedFault, planted

PROJECT = Path(__file__).parents[3]
# Bytecode is copied: it stays valid for each file but the one with the fault.
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".venv-judge", "var", "build", ".*_cache", ".hypothesis", "*.egg-info"
)
_SECONDS_MAX = 600.0
_TESTS_FAILED, _DRILL_FAILED = 1, 1


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one fault; `found` says it in words."""

    fault: PlantedFault
    noticed: bool
    found: str
    seconds: float


def try_fault(fault: PlantedFault, tree: Path) -> Verdict:
    """Plant a fault in the copy, run what must notice it, and take it out again."""
    began, file = time.monotonic(), tree / fault.file
    whole = file.read_text()
    try:
        file.write_text(planted(fault, whole))
        noticed, found = drill_fails(fault.drill, tree) if fault.drill else tests_fail(fault.tests, tree)
    except (ValueError, subprocess.TimeoutExpired) as error:
        noticed, found = False, str(error)
    finally:
        file.write_text(whole)
    return Verdict(fault, noticed, found, time.monotonic() - began)


def tests_fail(tests: Iterable[str], tree: Path) -> tuple[bool, str]:
    """Run tests in the copy; tell whether one of them failed, as against could not be run, and which."""
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile", "as-found"]
    command = [sys.executable, "-m", "pytest", *tests, *options]
    done = _run(command, tree)
    failed = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith("FAILED ")]
    if done.returncode == _TESTS_FAILED and failed:
        return True, failed[0].rpartition("/")[2]
    return False, f"pytest ended with {done.returncode}: {done.stdout.strip().splitlines()[-1:]}"


def drill_fails(arguments: Iterable[str], tree: Path) -> tuple[bool, str]:
    """Run a drill in the copy; tell whether it found a broken promise, as against broke off, and which."""
    done = _run([sys.executable, "-m", "tests.assurance.drills", *arguments, "--json"], tree)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return False, f"the drill broke off with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"
    checks = document["checks"] if isinstance(document, dict) else document
    broken = [check for check in checks if not check["kept"]]
    if done.returncode == _DRILL_FAILED and broken:
        first = broken[0]
        return True, str(first.get("promise") or f"{first['caller']}: {first['remark'] or first['saw']}")
    return False, f"the drill kept all of {len(checks)} promises"


def _run(command: list[str], tree: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS_MAX
    )


def controls() -> list[PlantedFault]:
    """Return changes that must not be called noticed: one that does no harm, one that no test can even be run with."""
    [fault] = [fault for fault in FAULTS if fault.name == "cursors are not signed"]

    def unreadable(node: ast.stmt) -> ast.stmt:
        assert isinstance(node, ast.FunctionDef)
        node.name = "if"
        return node

    def documented(node: ast.stmt) -> ast.stmt:
        assert isinstance(node, ast.FunctionDef)
        node.body.insert(0, ast.Expr(ast.Constant("Harmless.")))
        return node

    return [
        replace(fault, name="a harmless statement", change=documented),
        replace(fault, name="a file that cannot be read", change=unreadable),
    ]


def main() -> None:
    """Try all faults, or those whose names have the given word; exit code 1 where one goes unnoticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="Only the faults whose names have this in them.")
    parser.add_argument("--sample", type=int, help="Only so many of those that tests notice, drawn at random.")
    parser.add_argument("--seed", type=int, default=1, help="The same seed draws the same faults (default 1).")
    options = parser.parse_args()
    chosen = [fault for fault in FAULTS if options.only in fault.name]
    if options.sample is not None:
        tested = [fault for fault in chosen if fault.tests]
        chosen = Random(options.seed).sample(tested, min(options.sample, len(tested)))
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    with tempfile.TemporaryDirectory(prefix="sabotage-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(PROJECT, tree, ignore=LEFT_OUT)
        tests = sorted({test for fault in chosen for test in fault.tests})
        if tests:
            console.print(f"{len(tests)} tests without a fault …")
            calm = _run([sys.executable, "-m", "pytest", *tests, "-q", "-p", "no:cacheprovider"], tree)
            if calm.returncode:
                console.print(calm.stdout[-3_000:], markup=False)
                sys.exit("the tests fail without any fault")
        wrong = [control.name for control in controls() if try_fault(control, tree).noticed]
        if wrong:
            sys.exit(f"called noticed, which is wrong: {', '.join(wrong)}")
        verdicts = []
        for number, fault in enumerate(chosen, 1):
            verdict = try_fault(fault, tree)
            verdicts.append(verdict)
            reported = "noticed " if verdict.noticed else "UNNOTICED"
            line = f"{number:>3}/{len(chosen)}  {reported}  {fault.name:<60} {verdict.seconds:>4.0f} s  {verdict.found}"
            console.print(line, markup=False, soft_wrap=True)
    unnoticed = [verdict.fault.name for verdict in verdicts if not verdict.noticed]
    console.print(f"{len(verdicts) - len(unnoticed)} of {len(verdicts)} planted faults were noticed", markup=False)
    sys.exit(1 if unnoticed else 0)


if __name__ == "__main__":
    main()
