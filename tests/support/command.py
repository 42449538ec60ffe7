"""`itemindex` in the test's own process, on the test's database."""

import os
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from deploy.ctl.main import main
from shared.settings.settings import Settings

Run = Callable[..., tuple[int, str, str]]


def runner(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs a command: arguments in, exit code, standard output and standard error out.

    Named values are variables of the environment beside those of the test's database.
    """
    own = {
        "DATABASE_URL": settings.database_url,
        "TOKEN_PEPPER": settings.token_pepper,
        "SIGNING_SECRET": settings.signing_secret,
    }

    def called(*arguments: str, **environment: Any) -> tuple[int, str, str]:
        with patch.dict(os.environ, {**own, **environment}), pytest.raises(SystemExit) as ended:
            main(list(arguments))
        written = capsys.readouterr()
        return int(str(ended.value.code)), written.out, written.err

    return called
