"""A part goes away under callers: each sees what the policy of the outage allows, and all is well again afterwards."""

import json
import subprocess

import pytest

from tests.system.conftest import COMMAND, PROJECT, clean_environment

pytestmark = pytest.mark.xdist_group("outages")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("fault", ["PostgreSQL is down", "state store hangs"])
def test_callers_see_what_the_policy_allows(fault: str) -> None:
    done = subprocess.run([*COMMAND, "drill", "outages", "--seconds", "2", "--only", fault, "--json"], capture_output=True,
                          text=True, check=False, cwd=PROJECT, env=clean_environment(), timeout=280)  # fmt: skip
    found = json.loads(done.stdout)
    assert [seen for seen in found if not seen["kept"]] == [], done.stderr
    assert done.returncode == 0
    callers = {seen["caller"]: seen["saw"] for seen in found}
    assert len(callers) == 9
    assert set(callers["health"]) == {"200"}
    if fault == "PostgreSQL is down":
        assert "503" in callers["cohort"] and "401" not in callers["look-up"]
