"""The command line on the test's database."""

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from deploy.ctl import run_load
from deploy.ctl.main import cli
from shared.settings.settings import Settings

Command = Callable[..., Result]


@pytest.fixture
def command(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs `itemindex` with these arguments; no worker builds a search index here."""
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(run_load, "_INDEX_WAIT_SECONDS", 0.0)
    return lambda *arguments: CliRunner().invoke(cli, arguments)
