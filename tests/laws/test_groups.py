"""Tests of one stack stay on one worker: two versions that do not go together have spread them without a word."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import LONGEST_GROUPS

_ROOT = Path(__file__).parents[1]
_TESTS = """import pytest
pytestmark = pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(6))
def test_something(number):
    assert number >= 0
"""


def test_the_tests_of_a_group_run_on_one_worker(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"test_{name}.py").write_text(_TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "-v", "-n", "2", "--dist", "loadgroup", "."]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True, check=True)
    workers = re.findall(r"^\[(gw\d)\].* PASSED ", done.stdout, re.MULTILINE)
    assert len(workers) == 12
    assert len(set(workers)) == 1


def test_each_of_the_longest_groups_is_one() -> None:
    files = {path for folder in ("browser", "service", "system") for path in (_ROOT / folder).rglob("test_*.py")}
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
