"""A part goes away under callers: each sees what the policy of the outage allows, and all is well again afterwards."""

import json
import subprocess

import pytest

from deploy.drill.faults import FAULTS
from tests.system.conftest import COMMAND, PROJECT, clean_environment

pytestmark = pytest.mark.xdist_group("outages")

TRIED = ("PostgreSQL is down", "the state store hangs", "the store of results is away")


@pytest.mark.timeout(300)
def test_callers_see_what_the_policy_allows() -> None:
    only = [word for fault in TRIED for word in ("--only", fault)]
    done = subprocess.run([*COMMAND, "drill", "outages", "--seconds", "2", *only, "--json"], capture_output=True,
                          text=True, check=False, cwd=PROJECT, env=clean_environment(), timeout=280)  # fmt: skip
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert [seen for seen in found if not seen["kept"]] == [], done.stderr
    assert done.returncode == 0
    saw = {(seen["fault"], seen["caller"]): set(seen["saw"]) for seen in found}
    assert {fault for fault, _ in saw} == set(TRIED)
    assert len(saw) == len(TRIED) * (13 + 3)
    for fault in TRIED:
        assert saw[fault, "health"] == {"200"}
    assert "503" in saw["PostgreSQL is down", "cohort"] and "401" not in saw["PostgreSQL is down", "look-up"]
    assert saw["the state store hangs", "look-up"] == {"200"} and "503" in saw["the state store hangs", "ID token"]
    assert saw["the store of results is away", "download"] == {"503"}


def test_the_guide_tells_what_each_fault_does() -> None:
    guide = (PROJECT / "deploy/guides/operate.md").read_text()
    table = guide.partition("## What each failure does")[2].partition("\n## ")[0]
    assert [fault.name for fault in FAULTS if f"| {fault.name[0].upper()}{fault.name[1:]} |" not in table] == []
