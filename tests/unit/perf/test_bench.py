"""What `make bench` says of its figures, and how it takes them."""

import subprocess
import sys

from tests.perf.bench import rows_of
from tests.perf.bench_servers import FASTAPI, LUA, OURS
from tests.perf.cpu import cpu_seconds


def test_a_row_is_shown_beside_its_own_look_up_and_the_cheapest_equal_peer() -> None:
    found = {
        ("look-up", OURS): [19.0, 20.0, 90.0],
        ("look-up", FASTAPI): [300.0],
        ("look-up", LUA): [30.0],
        ("brands", OURS): [50.0],
        ("brands", FASTAPI): [400.0],
        ("channels", OURS): [30.0],
    }
    rows = {(row["call"], row["server"]): row for row in rows_of(found)}
    assert list(rows) == list(found)
    assert rows["look-up", OURS] == {
        "call": "look-up",
        "server": OURS,
        "us": 20.0,
        "times_lookup": 1.0,
        "times_peer": 0.67,
    }
    assert (rows["brands", OURS]["times_lookup"], rows["brands", OURS]["times_peer"]) == (2.5, 0.12)
    assert (rows["brands", FASTAPI]["times_lookup"], rows["brands", FASTAPI]["times_peer"]) == (1.33, None)
    assert rows["channels", OURS]["times_peer"] is None


def test_the_time_of_another_process_is_its_own_cpu_time() -> None:
    program = "import sys, time\nwhile time.process_time() < 0.2: pass\nprint(flush=True)\nsys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        used = cpu_seconds(process.pid)
        assert process.stdin is not None
        process.stdin.close()
    assert 0.2 <= used < 5
    assert cpu_seconds(process.pid) == 0.0
