"""Tests of one stack stay on one worker: two versions that do not go together have spread them without a word."""

import os
import re
import subprocess
import sys
from pathlib import Path

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
