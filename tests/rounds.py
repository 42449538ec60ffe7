"""`make rounds`: a short round of every program of the tests, so that none of them stops working unseen.

A round shows that a program still runs and that its checks hold on small data; how fast something is, it cannot tell on a
busy machine. `make truth`, `make drill`, `make hostile`, `make sabotage`, `make mutants`, `make judge`, `make bench` and
`make load` run them at length. A law test compares this list with the programs that there are.

Exit code 1: a round failed, or took longer than ten minutes. Hosts of their own need root: without it their rounds are
left out, but not in CI.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.assurance.drills.network import obstacle
from tests.assurance.judges import tools

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


def _perf(name: str, *options: str) -> list[str]:
    return [f"tests.assurance.perf.{name}", *options]


_SMALL = ("--items", "500", "--observations", "20000", "--rounds", "1")
_BRIEF = str(_PROJECT / "tests" / "assurance" / "perf" / "load" / "scenarios" / "brief.toml")
# Stands for a folder of the round's own.
_INVENTED, _MARKET = "{scratch}/invented", "{scratch}/market"
# The longest first: that they end together. How long callers wait under load, and what a lookup by barcode costs beside one
# by IID, is measured at length: a busy machine could not tell.
ROUNDS: dict[str, list[str]] = {
    "outages": ["tests.assurance.drills", "outages", "--bucket", "--seconds", "2", "--pause", "0.3", *_only(_FAULTS)],
    # The clone's own data: a folder that is not there.
    "truth": ["tests.assurance.truth", "--questions", "1", "--food-prices-from", "2021", "--data", "{scratch}/none"],
    "hostile": [
        "tests.assurance.hostile.run",
        "--cases",
        "300",
        "--examples",
        "3",
        "--phases",
        "examples,fuzzing,stateful",
    ],
    "first calls": ["tests.assurance.judges.first_calls"],
    "jobs": ["tests.assurance.drills", "jobs", "--jobs", "16", "--kills", "8", "--minutes", "5"],
    "capacity": _perf(
        "capacity_bench", "--items", "4000", "--observations", "20000", "--calls", "200", "--rounds", "1"
    ),
    "sabotage": ["tests.assurance.sabotage.run", "--only", "cursors are not signed"],
    "mutants": ["tests.assurance.sabotage.mutants", "--only", "quota", "--sample", "1", "--least", "0"],
    "overload": [
        "tests.assurance.drills",
        "overload",
        "--seconds",
        "1",
        "--rounds",
        "1",
        "--ratio-max",
        "0",
        *_only(_ATTACKS),
    ],
    "partition": ["tests.assurance.drills", "partition", "--jobs", "8", "--seconds", "3", "--minutes", "4"],
    "hosts": ["tests.assurance.drills", "hosts", "--minutes", "4"],
    "restore": ["tests.assurance.drills", "restore", "--moments", "2"],
    "night": ["tests.assurance.drills", "night"],
    "webhooks": [
        "tests.assurance.drills",
        "webhooks",
        "--events",
        "60",
        "--receivers",
        "5",
        "--kills",
        "3",
        "--minutes",
        "4",
    ],
    "pages": [
        "tests.assurance.judges.pages",
        "--no-performance",
        *_only(("/v1/docs/reference", "/items/", "/dashboard/jobs/")),
    ],
    "load": ["tests.assurance.perf.load", _BRIEF, "--report", "{scratch}/load.html"],
    "bench": _perf("bench", "--requests", "200", "--rounds", "1"),
    "exports": _perf("export_bench", *_SMALL),
    "forms": _perf("forms_bench", "--rows", "2000"),
    "scale": _perf("scale_bench", "--observations", "15000", "--per-item", "5"),
    **{judge: ["tests.assurance.judges.run", "--brief", "--only", judge] for judge in sorted(tools.ALL)},
    "matching": ["tests.assurance.judges.matching", "service", _INVENTED],
    "tables": ["tests.assurance.judges.tables", _INVENTED, "--least", "0.99"],
    "matching offers": ["tests.assurance.judges.matching", "offers", _MARKET, "--f1-min", "0.75"],
    "matching peers": ["tests.assurance.judges.matching", "peers", _INVENTED],
    "resolve": _perf("resolve_bench", "--requests", "200", "--rounds", "1", "--ratio-max", "0"),
    "loads": _perf("ingest_bench", *_SMALL),
    "reports": _perf("reports_bench", "--items", "3000", "--observations", "30000", "--rounds", "1"),
    "watches": _perf("watches_bench", *_SMALL, "--watches", "500"),
    "candidates": _perf("matching_bench", "--old", "2000", "--new", "300"),
    "relevance": _perf("search_commands", "evaluate", str(_PROJECT / "tests" / "data" / "search" / "judged.csv")),
    "search": _perf("search_commands", "bench", "--items", "1000", "--queries", "10"),
    "reloads": _perf("reload_bench", "--reloads", "3", "--requests", "5000"),
    "generate": _perf("generate", "--items", "200", "--observations", "2000", "--out", "{scratch}/made.parquet"),
    "sizing": _perf("sizing", "--json"),
}
# What writes the files that a round reads.
_BEFORE = {
    name: ["tests.assurance.judges.matching", "invented", _INVENTED]
    for name in ("matching", "matching peers", "tables")
}
_BEFORE["matching offers"] = ["tests.assurance.judges.matching", "market", _MARKET]
_OF_HOSTS = {"partition", "hosts"}
_VARIABLES = {"jobs": {"LEASE_TTL_SECONDS": "4"}}


def run_round(name: str) -> tuple[bool, float, str]:
    """Run a round to its end; return whether it passed, the seconds that it took, and what it printed."""
    began, printed = time.monotonic(), ""
    environment = {**os.environ, **_VARIABLES.get(name, {})}
    with tempfile.TemporaryDirectory(prefix="itemindex-round-") as scratch:
        for arguments in filter(None, (_BEFORE.get(name), ROUNDS[name])):
            command = [sys.executable, "-m", *(word.replace("{scratch}", scratch) for word in arguments)]
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
                printed += f"{(late.stdout or b'').decode(errors='replace')}\nit did not end"
                return False, time.monotonic() - began, printed
            printed += done.stdout
            if done.returncode:
                return False, time.monotonic() - began, printed
    return True, time.monotonic() - began, printed


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
            print(f"{running[ended]:<21} {'passed' if passed else 'FAILED'} {seconds:>4.0f} s", flush=True)
            if not passed:
                print(printed, flush=True)
            all_passed &= passed
    return 0 if all_passed else 1


if __name__ == "__main__":
    sys.exit(main())
