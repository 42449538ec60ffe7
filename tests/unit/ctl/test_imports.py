"""Commands that every start of a stack runs load no library of numbers and none of keys, which would take longer than all else they do."""

import subprocess
import sys

import pytest

_LOADED = "import sys, {0}; print(sorted({{'cryptography', 'numpy', 'pyarrow', 'scipy'}} & set(sys.modules)))"


@pytest.mark.parametrize("module", ["deploy.ctl.stack", "deploy.ctl.matches"])
def test_a_command_of_every_start_loads_no_library_of_numbers_or_keys(module: str) -> None:
    ran = subprocess.run([sys.executable, "-c", _LOADED.format(module)], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
