"""The tests' own order: groups stay together, and planted faults fit the code."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LONGEST_GROUPS
from tests.drills.__main__ import drill
from tests.sabotage.faults import FAULTS
from tests.sabotage.planted import PlantedFault
from tests.sabotage.run import PROJECT, planted

# Tests of one stack, or of one file, stay on one worker: versions that do not go together have spread them silently.


_ROOT = Path(__file__).parents[1]

_GROUP = 'pytestmark = pytest.mark.xdist_group("one")'

_TESTS = """import pytest
{group}
@pytest.mark.parametrize("number", range(6))
def test_something(number):
    assert number >= 0
"""

_CONFTEST = """from tests.support.scheduling import scheduler
def pytest_xdist_make_scheduler(config, log):
    return scheduler(config, log)
"""


def test_the_tests_of_a_group_or_a_file_run_on_one_worker(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(_CONFTEST)
    for name, group in {"a": _GROUP, "b": _GROUP, "c": "", "d": "", "e": ""}.items():
        (tmp_path / f"test_{name}.py").write_text(_TESTS.format(group=group))
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "-v", "-n", "2", "--dist", "loadgroup", "."]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(_ROOT.parent)}
    done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True, check=True)
    ran = re.findall(r"^\[(gw\d)\].* PASSED (test_\w)\.py", done.stdout, re.MULTILINE)
    assert len(ran) == 30
    workers = {file: {worker for worker, where in ran if where == file} for _, file in ran}
    assert [len(found) for found in workers.values()] == [1] * 5
    assert workers["test_a"] == workers["test_b"]
    assert len({worker for worker, _ in ran}) == 2


def test_each_of_the_longest_groups_is_one() -> None:
    files = {
        path for folder in ("browser", "drills", "service", "system") for path in (_ROOT / folder).rglob("test_*.py")
    }
    groups = {name for path in files for name in re.findall(r'xdist_group\("(\w+)"\)', path.read_text())}
    assert set(LONGEST_GROUPS) <= groups


def test_all_tests_with_the_shared_stack_or_browser_are_in_its_group() -> None:
    """A test outside of the group would start a second stack, or a second browser, on another worker."""
    for folder, fixtures, group in (
        ("system", "stack: Running|buyer: Buyer", "stack"),
        ("browser", "(visitor|member|reader): Visitor|browser: Browser", "browser"),
    ):
        for path in (_ROOT / folder).rglob("test_*.py"):
            for test, parameters in re.findall(r"^def (test_\w+)\((.*?)\) -> None", path.read_text(), re.M | re.S):
                if re.search(fixtures, parameters):
                    assert f'xdist_group("{group}")' in path.read_text(), f"{path.name}::{test}"


# The planted faults of `make sabotage` still fit the code and name what exists.


def named(test: str) -> bool:
    """Whether a test, or a module of tests, of this node id exists."""
    file, _, name = test.partition("::")
    path = PROJECT / file
    if not path.is_file():
        return False
    tree = ast.parse(path.read_text())
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return not name or name in functions


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_planted_fault_has_its_place_and_its_judge(fault: PlantedFault) -> None:
    text = planted(fault, (PROJECT / fault.file).read_text())
    if fault.file.endswith(".py"):
        ast.parse(text)
    assert bool(fault.tests) != bool(fault.drill)
    assert [test for test in fault.tests if not named(test)] == []
    assert not fault.drill or fault.drill[0] in drill.commands


def test_there_are_enough_of_them_and_each_has_its_own_name() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 20
