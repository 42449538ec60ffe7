"""`make mutants`: change quotas, credentials and jobs at places drawn at random; tell which changes no test notices.

cosmic-ray finds the places and makes each change, in a copy of the tree; the tests of the package judge it. A survivor is a
test that is missing, or a change that makes no difference: a person decides. Exit code 1 where fewer are noticed than asked.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import NamedTuple

from rich.console import Console

from tests.assurance.judges.programs import run, tool
from tests.assurance.sabotage.run import LEFT_OUT, PROJECT, tests_fail

# The code of a subject, and the tests that judge it.
SUBJECTS = {
    "quota": (("edge/quota",), ("tests/unit/edge/quota", "tests/service/quota")),
    "auth": (
        ("edge/auth", "shared/organizations"),
        ("tests/unit/edge/auth", "tests/unit/shared/organizations", "tests/service/org"),
    ),
    "jobs": (("workers/jobs", "workers/dispatcher", "edge/jobs"), ("tests/unit/workers/jobs", "tests/service/jobs")),
}
# Unions of types are no sums: Python refuses such a change when it imports the module, whatever the tests are.
_OF_TYPES = "ReplaceBinaryOperator_BitOr_"


class Mutation(NamedTuple):
    """A change that cosmic-ray can make: of the file's places for the operator, the one of this number."""

    file: str
    operator: str
    occurrence: int
    line: int
    function: str


def mutations_of(folders: tuple[str, ...], tree: Path) -> list[Mutation]:
    """Return all changes of the modules in these folders."""
    configuration, session = tree / "mutants.toml", tree / "mutants.sqlite"
    configuration.write_text(
        f"[cosmic-ray]\nmodule-path = {json.dumps([str(tree / folder) for folder in folders])}\n"
        'timeout = 600.0\nexcluded-modules = []\ntest-command = "unused"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    run([tool("cosmic-ray"), "init", "--force", str(configuration), str(session)])
    found = []
    for line in run([tool("cosmic-ray"), "dump", str(session)]).splitlines():
        [one] = json.loads(line)[0]["mutations"]
        file = str(Path(one["module_path"]).relative_to(tree))
        if _OF_TYPES not in one["operator_name"]:
            place = (one["occurrence"], one["start_pos"][0], one["definition_name"] or "the module")
            found.append(Mutation(file, one["operator_name"], *place))
    return sorted(found)


def try_mutation(mutation: Mutation, tests: tuple[str, ...], tree: Path) -> tuple[bool, str]:
    """Make a change in the copy, run the tests, and take it back; tell whether a test noticed it, and which."""
    file = tree / mutation.file
    whole = file.read_text()
    try:
        run([tool("cosmic-ray"), "apply", str(file), mutation.operator, str(mutation.occurrence)])
        noticed, found = tests_fail(tests, tree)
    except subprocess.TimeoutExpired:
        return True, "the tests did not end"
    else:
        # A module that cannot be imported, and a test that cannot be collected, end pytest otherwise.
        return noticed or "pytest ended with 0" not in found, found
    finally:
        file.write_text(whole)


def main() -> int:
    """Draw changes of each subject, or of one, and print a line for each; return the exit code."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--only", choices=sorted(SUBJECTS), help="change this subject only")
    parser.add_argument("--sample", type=int, default=40, help="changes of each subject (default 40)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed draws the same changes (default 1)")
    parser.add_argument("--least", type=float, default=0.7, help="share that must be noticed (default 0.7)")
    options = parser.parse_args()
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    tried = noticed = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder).resolve() / "tree"
        shutil.copytree(PROJECT, tree, ignore=LEFT_OUT)
        for subject in [options.only] if options.only else SUBJECTS:
            folders, tests = SUBJECTS[subject]
            every = mutations_of(folders, tree)
            for mutation in Random(options.seed).sample(every, min(options.sample, len(every))):
                is_noticed, found = try_mutation(mutation, tests, tree)
                tried, noticed = tried + 1, noticed + is_noticed
                place = f"{mutation.file}:{mutation.line} {mutation.function}"
                line = f"{'noticed ' if is_noticed else 'SURVIVES'}  {place}  {mutation.operator.partition('/')[2]}  {found}"
                console.print(line, markup=False, soft_wrap=True)
    console.print(f"{noticed} of {tried} changes were noticed", markup=False)
    return 0 if noticed >= options.least * tried else 1


if __name__ == "__main__":
    sys.exit(main())
