"""Commands that are kept out of the package: found in a checkout, refused with a reason outside of one."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.ctl import checkout
from deploy.ctl.main import COMMANDS, cli
from shared.errors import ConfigurationError


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_command_of_the_map_can_be_imported(name: str) -> None:
    assert checkout.load_command(COMMANDS[name][0]).name


def test_outside_of_a_checkout_the_command_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(checkout, "_ROOT", tmp_path)
    with pytest.raises(ConfigurationError, match="needs a checkout"):
        checkout.load_command("tests.perf.sizing.command:capacity")


def test_the_former_name_of_evaluate_still_works_and_warns() -> None:
    shown = CliRunner().invoke(cli, ["search", "judge", "--help"])
    assert shown.exit_code == 0
    assert "(DEPRECATED)" in shown.output.upper()


def test_the_installed_script_finds_the_checkout(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("itemindex")
    shown = subprocess.run([script, "capacity", "--help"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (shown.returncode, "--lookups" in shown.stdout) == (0, True), shown.stderr
