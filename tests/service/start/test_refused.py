"""Every part refuses settings that weaken it: one line for each fault, no traceback, however the part is started."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from shared.settings.settings import Settings

PROJECT = Path(__file__).parents[3]
COMMANDS = {
    "gunicorn": ["-m", "gunicorn", "-c", "deploy/gunicorn.conf.py", "edge.server:create_runner"],
    "edge": ["-m", "deploy.ctl.main", "edge"],
    "worker": ["-m", "deploy.ctl.main", "worker"],
    "worker module": ["-m", "workers"],
    "dispatcher": ["-m", "deploy.ctl.main", "dispatcher"],
    "dispatcher module": ["-m", "workers", "dispatcher"],
    "nginx": ["-m", "deploy.ctl.main", "nginx", "render"],
    "migrate": ["-m", "deploy.ctl.main", "migrate"],
}


def start(command: str, settings: Settings, folder: Path, **more: str) -> tuple[int, str]:
    """Start a part as its operator does; return its exit code and what it printed."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = {**kept, **settings.environment(), "EDGE_BIND": f"unix:{folder}/edge.sock", **more, "COLUMNS": "300"}
    done = subprocess.run(
        [sys.executable, *COMMANDS[command]],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_part_that_is_set_up_weakly_does_not_start(settings: Settings, tmp_path: Path, command: str) -> None:
    code, printed = start(
        command, settings, tmp_path, TOKEN_PEPPER="a", TRUSTED_PROXIES="0.0.0.0/0", STATE_TIMEOUT_SECONDS="-5"
    )
    assert code == 1
    lines = [line.removeprefix("itemindex: ") for line in printed.splitlines()]
    assert sorted(line.split()[0] for line in lines) == ["STATE_TIMEOUT_SECONDS", "TOKEN_PEPPER", "TRUSTED_PROXIES"]
    assert all("; " in line for line in lines)


def test_a_missing_setting_is_one_line_through_gunicorn(settings: Settings, tmp_path: Path) -> None:
    code, printed = start("gunicorn", replace(settings, state_url="", signing_secret=""), tmp_path)
    (line,) = printed.splitlines()
    assert (code, line.startswith("itemindex: STATE_URL, SIGNING_SECRET must be set")) == (1, True)


@pytest.mark.parametrize("owner_is_named", [True, False])
def test_an_edge_does_not_start_as_the_owner_of_the_database(
    settings: Settings, tmp_path: Path, owner_is_named: bool
) -> None:
    as_owner = replace(settings, edge_database_url=settings.database_url)
    code, printed = start("gunicorn", as_owner if owner_is_named else replace(as_owner, database_url=""), tmp_path)
    (line,) = printed.splitlines()
    assert (code, line.startswith("itemindex: EDGE_DATABASE_URL ")) == (1, True)
    assert "owns the schema; use a login" in line
