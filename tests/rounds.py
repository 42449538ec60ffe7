"""`make rounds`: a short round of each drill and of hostile input; `make drill` and `make hostile` run them at length.

Exit code 1: a round failed, or took longer than ten minutes. Hosts of their own need root: without it their rounds are
left out, but not in CI.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.drills.network import obstacle

_PROJECT = Path(__file__).parents[1]
_SECONDS_MAX = 600.0
# Rounds wait about as long as they work: one more than cores.
_AT_ONCE = (os.cpu_count() or 1) + 1
_FAULTS = (
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
_ATTACKS = ("slow heads", "flood of connections", "oversized requests", "callers at once", "flood of dry runs")


def _only(names: tuple[str, ...]) -> list[str]:
    return [word for name in names for word in ("--only", name)]


# The longest first. How long callers wait under load is measured at length: a busy machine could not tell.
ROUNDS: dict[str, list[str]] = {
    "outages": ["tests.drills", "outages", "--bucket", "--seconds", "2", "--pause", "0.3", *_only(_FAULTS)],
    "hostile": ["tests.hostile.run", "--cases", "300", "--examples", "3", "--phases", "examples,fuzzing,stateful"],
    "jobs": ["tests.drills", "jobs", "--jobs", "16", "--kills", "8", "--minutes", "5"],
    "overload": ["tests.drills", "overload", "--seconds", "1", "--rounds", "1", "--ratio-max", "0", *_only(_ATTACKS)],
    "partition": ["tests.drills", "partition", "--jobs", "8", "--seconds", "3", "--minutes", "4"],
    "hosts": ["tests.drills", "hosts", "--minutes", "4"],
}
_OF_HOSTS = {"partition", "hosts"}
_VARIABLES = {"jobs": {"LEASE_TTL_SECONDS": "4"}}


def run_round(name: str) -> tuple[bool, float, str]:
    """Run a round to its end; return whether it passed, the seconds that it took, and what it printed."""
    began, environment = time.monotonic(), {**os.environ, **_VARIABLES.get(name, {})}
    command = [sys.executable, "-m", *ROUNDS[name]]
    try:
        done = subprocess.run(
            command,
            cwd=_PROJECT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_SECONDS_MAX,
        )
    except subprocess.TimeoutExpired as late:
        return False, time.monotonic() - began, f"{(late.stdout or b'').decode(errors='replace')}\nit did not end"
    return done.returncode == 0, time.monotonic() - began, done.stdout


def main() -> int:
    """Run all rounds, or those that are named; print a line for each, and all of one that failed."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    reader.add_argument("rounds", nargs="*", help=f"any of {', '.join(ROUNDS)}; default: all")
    chosen: list[str] = reader.parse_args().rounds or list(ROUNDS)
    if unknown := [name for name in chosen if name not in ROUNDS]:
        reader.error(f"there is no round {', '.join(unknown)}; there are {', '.join(ROUNDS)}")
    if _OF_HOSTS & set(chosen) and not os.environ.get("CI") and (reason := obstacle()):
        print(f"left out: {', '.join(sorted(_OF_HOSTS & set(chosen)))} ({reason})")
        chosen = [name for name in chosen if name not in _OF_HOSTS]
    all_passed = True
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        running = {pool.submit(run_round, name): name for name in chosen}
        for ended in as_completed(running):
            passed, seconds, printed = ended.result()
            print(f"{running[ended]:<10} {'passed' if passed else 'FAILED'} {seconds:>4.0f} s", flush=True)
            if not passed:
                print(printed, flush=True)
            all_passed &= passed
    return 0 if all_passed else 1


if __name__ == "__main__":
    sys.exit(main())
