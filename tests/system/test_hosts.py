"""Several hosts in namespaces of their own: cut off, in silence or refused, and joined again."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.drills.network import Network, obstacle
from tests.system.conftest import DRILL, PROJECT, clean_environment

pytestmark = [
    pytest.mark.xdist_group("hosts"),
    pytest.mark.skipif(not os.environ.get("CI") and obstacle() is not None, reason=f"no hosts here: {obstacle()}"),
]


@pytest.fixture
def network() -> Iterator[Network]:
    with closing(Network({"front": "10.77.0", "back": "10.78.0"})) as made:
        made.add("one", front=[1], back=[1])
        made.add("two", back=[2])
        yield made


def test_a_release_holds_the_snapshot_that_it_names(network: Network) -> None:
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


def test_the_machines_own_network_is_not_touched(network: Network) -> None:
    own = {name for _, name in socket.if_nameindex()}
    assert not own & {"front", "back", "b-one", "f-one"}
    with network.hosts["two"].entered():
        assert {name for _, name in socket.if_nameindex()} == {"lo", "back"}


@pytest.mark.timeout(300)
def test_nothing_is_lost_and_nothing_served_over_a_limit_while_hosts_are_cut_off() -> None:
    command = [*DRILL, "partition", "--jobs", "8", "--seconds", "3", "--minutes", "4", "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=PROJECT, env=clean_environment(), timeout=290
    )
    assert done.stdout, done.stderr
    reported = json.loads(done.stdout)
    assert [check for check in reported["checks"] if not check["kept"]] == []
    assert done.returncode == 0
    assert len(reported["checks"]) == 26
    served = reported["served"]
    assert served["anonymous, before"]["counted"] == served["anonymous, during"]["counted"] == 3
    assert sum(account["uncounted"] for account in served.values()) > 0  # the cut was one


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a host a name of its own")
@pytest.mark.timeout(300)
def test_the_guides_chapter_on_several_hosts_is_as_it_happens() -> None:
    command = [*DRILL, "hosts", "--minutes", "4", "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=PROJECT, env=clean_environment(), timeout=290
    )
    assert done.stdout, done.stderr
    checks = json.loads(done.stdout)
    assert [check for check in checks if not check["kept"]] == []
    assert done.returncode == 0 and len(checks) == 8
