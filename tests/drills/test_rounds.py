"""A short round of the drills that two cores can bear; `python -m tests.drills` lets them run at length."""

import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.drills.network import Network, obstacle
from tests.support.s3 import environment, s3_server
from tests.system.conftest import completed

_DRILL = [sys.executable, "-m", "tests.drills"]


def drilled(*arguments: str, variables: dict[str, str] | None = None, seconds: float) -> Any:
    """Run a drill to its end, which must be a good one, and return what it reports."""
    done = completed([*_DRILL, *arguments, "--json"], variables, seconds=seconds)
    assert done.stdout, done.stderr
    reported = json.loads(done.stdout)
    checks = reported if isinstance(reported, list) else reported["checks"]  # what callers saw in an outage is a list
    assert [check for check in checks if not check["kept"]] == [], done.stderr
    assert done.returncode == 0
    return reported


@pytest.mark.xdist_group("drill")
@pytest.mark.timeout(420)
def test_nothing_is_lost_while_everything_is_killed() -> None:
    arguments = ["jobs", "--jobs", "16", "--kills", "8", "--minutes", "5"]
    reported = drilled(*arguments, variables={"LEASE_TTL_SECONDS": "4"}, seconds=400)
    assert len(reported["checks"]) == 13
    assert sum(reported["killed"].values()) == 8


@pytest.mark.xdist_group("drill")
def test_a_drill_kills_only_what_it_has_started() -> None:
    done = completed([*_DRILL, "jobs"], {"DATABASE_URL": "postgresql://another.host/production"})
    assert done.returncode == 1
    assert "only what it has started" in " ".join(done.stderr.split())


TRIED = (
    "PostgreSQL is down",
    "PostgreSQL is read-only",
    "the state store hangs",
    "the state store is emptied",
    "the state store's clock crosses midnight and back",
    "PostgreSQL's clock is set back while dispatcher and workers stand still",
    "the object store hangs",
    "one edge is blocked",
    "nginx's master is killed",
)


@pytest.mark.xdist_group("outages")
@pytest.mark.timeout(600)
def test_callers_see_what_the_policy_allows(tmp_path: Path) -> None:
    """A part goes away under callers: each sees what the policy of the outage allows, and all is well again afterwards."""
    only = [word for fault in TRIED for word in ("--only", fault)]
    with s3_server(tmp_path) as address:
        bucket = environment(address, "S3_BUCKET")
        found = drilled("outages", "--seconds", "2", "--pause", "0.3", *only, variables=bucket, seconds=580)
    saw = {(seen["fault"], seen["caller"]): set(seen["saw"]) for seen in found}
    assert {fault for fault, _ in saw} == set(TRIED)
    notices = {fault for fault, caller in saw if caller == "notice"}
    assert notices == {
        "the state store is emptied",
        "PostgreSQL's clock is set back while dispatcher and workers stand still",
    }
    assert len(saw) == len(TRIED) * (15 + 6) + len(notices)
    for fault in TRIED:  # only a front that is dead itself leaves a moment without an answer
        assert saw[fault, "health"] - ({"0"} if fault == "nginx's master is killed" else set()) == {"200"}
    assert "503" in saw["PostgreSQL is read-only", "cohort"] and saw["PostgreSQL is read-only", "search"] == {"200"}
    for fault in TRIED:
        if "clock" in fault:
            assert saw[fault, "lookup"] == saw[fault, "free lookup"] == {"200"}
    assert saw["one edge is blocked", "lookup"] == {"200"}
    assert "503" in saw["PostgreSQL is down", "cohort"] and "401" not in saw["PostgreSQL is down", "lookup"]
    assert saw["the state store hangs", "lookup"] == {"200"} and "503" in saw["the state store hangs", "ID token"]
    assert saw["the object store hangs", "download"] == {"503"} and saw["the object store hangs", "search"] == {"200"}


@pytest.mark.xdist_group("outages")
def test_a_fault_that_cannot_be_tried_is_said_before_anything_starts() -> None:
    done = completed([*_DRILL, "outages", "--only", "the object store"])
    assert done.returncode == 2
    assert "S3_ENDPOINT" in done.stderr


TRIED_CROWD = ("slow heads", "flood of connections", "oversized requests", "callers at once", "flood of dry runs")

_GROWN_MB_MAX = 100

# Twice the plan's 50 units a second, in each calendar second that an attack of at most some seconds touches.
_DRY_RUNS_MAX = 100 * 12


@pytest.mark.xdist_group("outages")
@pytest.mark.timeout(300)
def test_under_load_all_other_callers_are_served() -> None:
    """Slow, many and oversized callers are cut off or refused; ordinary callers are served all the while.

    How long they wait is for `python -m tests.drills overload` to measure: a test on a busy machine could not tell.
    """
    only = [word for attack in TRIED_CROWD for word in ("--only", attack)]
    reported = drilled("overload", "--seconds", "1", "--rounds", "1", "--ratio-max", "0", *only, seconds=280)
    found = {measured["attack"]: measured for measured in reported}
    assert set(found) == set(TRIED_CROWD)
    for measured in found.values():
        assert measured["failures"] == {} and measured["calls"] == 100
        assert measured["unanswered"] == 0, measured["attackers"]
        assert measured["grown_mb"] < _GROWN_MB_MAX
    assert "served" not in found["oversized requests"]["attackers"]
    assert {"refused 413", "refused 414", "refused 431"} <= set(found["oversized requests"]["attackers"])
    assert "refused 400" in found["flood of connections"]["attackers"]
    assert found["callers at once"]["attackers"]["served"] >= 2_000
    # One that a busy machine starves may stay below its limit; that refusals come is for tests/service/quota to show.
    assert 0 < found["flood of dry runs"]["attackers"]["served"] <= _DRY_RUNS_MAX


# Several hosts in namespaces of their own: cut off, in silence or refused, and joined again.


_OBSTACLE = obstacle()  # it tries to make a host
_HOSTS = pytest.mark.skipif(not os.environ.get("CI") and _OBSTACLE is not None, reason=f"no hosts here: {_OBSTACLE}")


@pytest.fixture
def network() -> Iterator[Network]:
    with closing(Network({"front": "10.77.0", "back": "10.78.0"})) as made:
        made.add("one", front=[1], back=[1])
        made.add("two", back=[2])
        yield made


@pytest.mark.xdist_group("hosts")
@_HOSTS
def test_hosts_are_cut_off_in_silence_or_refused_and_joined_again(network: Network) -> None:
    """Silence is no answer at all, a refusal is one at once, and what is joined again is as before."""
    one, two = network.hosts["one"], network.hosts["two"]
    with two.entered():
        server = socket.create_server(("10.78.0.2", 5000))

    def call(seconds: float = 5.0) -> socket.socket:
        with one.entered():
            return socket.create_connection(("10.78.0.2", 5000), timeout=seconds)

    with server, call() as line:
        network.refuse("one", "10.78.0.2")
        with pytest.raises(ConnectionRefusedError):
            call()
        line.sendall(b"x")
        with pytest.raises(ConnectionResetError):
            line.recv(1)
        network.refuse("one", "10.78.0.2", healed=True)
        network.silence("one", "back")
        with pytest.raises(TimeoutError):
            call(0.5)
        with two.entered(), pytest.raises(OSError, match="unreachable"):
            socket.create_connection(("10.77.0.1", 5000), timeout=0.5)  # of the other network it knows nothing
        network.silence("one", "back", healed=True)
        with call():
            pass


@pytest.mark.xdist_group("hosts")
@_HOSTS
def test_the_machines_own_network_is_not_touched(network: Network) -> None:
    own = {name for _, name in socket.if_nameindex()}
    assert not own & {"front", "back", "b-one", "f-one"}
    with network.hosts["two"].entered():
        assert {name for _, name in socket.if_nameindex()} == {"lo", "back"}


@pytest.mark.xdist_group("hosts")
@_HOSTS
@pytest.mark.timeout(300)
def test_nothing_is_lost_and_nothing_served_over_a_limit_while_hosts_are_cut_off() -> None:
    reported = drilled("partition", "--jobs", "8", "--seconds", "3", "--minutes", "4", seconds=290)
    assert len(reported["checks"]) == 26
    served = reported["served"]
    assert served["anonymous, before"]["counted"] == served["anonymous, during"]["counted"] == 3
    assert sum(account["uncounted"] for account in served.values()) > 0  # the cut was one


@pytest.mark.xdist_group("hosts")
@_HOSTS
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a host a name of its own")
@pytest.mark.timeout(300)
def test_the_guides_chapter_on_several_hosts_is_as_it_happens() -> None:
    assert len(drilled("hosts", "--minutes", "4", seconds=290)["checks"]) == 8
