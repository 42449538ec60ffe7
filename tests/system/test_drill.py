"""The drill, short: work of known outcome while everything is killed; nothing may be lost, doubled or half."""

import json
import subprocess

import pytest

from tests.system.conftest import DRILL, PROJECT, clean_environment

pytestmark = [pytest.mark.xdist_group("drill"), pytest.mark.timeout(420)]


def test_nothing_is_lost_while_everything_is_killed() -> None:
    command = [*DRILL, "jobs", "--jobs", "16", "--kills", "8", "--minutes", "5", "--json"]
    environment = {**clean_environment(), "LEASE_TTL_SECONDS": "4"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=PROJECT, env=environment, timeout=400
    )
    assert done.stdout, done.stderr
    reported = json.loads(done.stdout)
    assert [check for check in reported["checks"] if not check["kept"]] == [], reported
    assert len(reported["checks"]) == 13
    assert done.returncode == 0
    assert sum(reported["killed"].values()) == 8


def test_a_drill_kills_only_what_it_has_started() -> None:
    environment = {**clean_environment(), "DATABASE_URL": "postgresql://another.host/production"}
    done = subprocess.run([*DRILL, "jobs"], capture_output=True, text=True, check=False, cwd=PROJECT, env=environment)
    assert done.returncode == 1
    assert "only what it has started" in " ".join(done.stderr.split())
