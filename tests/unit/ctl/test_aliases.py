"""Former names of commands."""

import pytest
from click.testing import CliRunner

from deploy.ctl.main import COMMANDS, RENAMED, cli


@pytest.mark.parametrize(("former", "current"), RENAMED.items())
def test_a_former_name_runs_the_command_with_a_warning(former: str, current: str) -> None:
    result = CliRunner().invoke(cli, [former, "--help"])
    assert result.exit_code == 0
    assert f"`{former}` is deprecated: use `{current}` instead" in result.stderr
    assert former not in COMMANDS


def test_former_names_of_drills_run_with_a_warning() -> None:
    result = CliRunner().invoke(cli, ["drill", "crowd", "--help"])
    assert (result.exit_code, "use `overload` instead" in result.stderr) == (0, True)


def test_help_lists_current_names_only() -> None:
    listed = CliRunner().invoke(cli, ["--help"]).output.split()
    assert set(COMMANDS) <= set(listed)
    assert "derive" not in listed
