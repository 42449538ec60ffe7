"""The map of commands: each can be imported, and none needs the tests, which an installed package does not have."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.ctl.main import COMMANDS, cli, load_command

PROJECT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_command_of_the_map_can_be_imported(name: str) -> None:
    assert load_command(COMMANDS[name][0]).name


def test_no_command_imports_the_tests() -> None:
    modules = sorted({target.partition(":")[0] for target, _ in COMMANDS.values()})
    code = f"import sys, importlib\n[importlib.import_module(name) for name in {modules}]\n"
    code += "print([name for name in sys.modules if name == 'tests' or name.startswith('tests.')])"
    found = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_help_lists_every_command() -> None:
    listed = CliRunner().invoke(cli, ["--help"]).output.split()
    assert set(COMMANDS) <= set(listed)
