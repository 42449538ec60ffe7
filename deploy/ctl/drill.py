"""`itemindex drill`: break things on purpose, on a stack of its own, and count what is lost."""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from deploy.ctl.ui import console, json_option, show
from deploy.drill.hosts import HostsDrill
from deploy.drill.network import obstacle
from deploy.drill.outages import OutageDrill, Seen
from deploy.drill.run import Drill, Outcome
from deploy.drill.verdict import Check
from deploy.local.places import Places
from shared.errors import ItemIndexError


@click.group()
def drill() -> None:
    """Break things on purpose, on a stack of its own, and count what is lost."""


@drill.command("jobs", epilog="Example: itemindex drill jobs --jobs 500 --kills 60 --seed 7")
@click.option("--jobs", "number", default=500, show_default=True, type=click.IntRange(2, 10_000), help="Jobs to order.")
@click.option("--kills", default=60, show_default=True, type=click.IntRange(0, 1_000), help="Processes to kill.")
@click.option("--seed", default=1, show_default=True, help="The same seed draws the same victims.")
@click.option("--minutes", default=15.0, show_default=True, help="When to give up.")
@json_option
def jobs(number: int, kills: int, seed: int, minutes: float, as_json: bool) -> None:
    """Order jobs through the front while workers, children, relay, broker, edges and PostgreSQL are killed.

    Everything runs on loopback below a temporary directory and is gone afterwards. Every job must end, once, with the
    right digest or with a reason. Exit code 1 when a promise was broken.
    """
    if os.environ.get("DATABASE_URL") or os.environ.get("STATE_URL"):
        raise ItemIndexError("DATABASE_URL and STATE_URL must not be set: a drill kills, and only what it has started")
    with tempfile.TemporaryDirectory(prefix="drill-") as folder, console.status("drilling …") as status:
        told = (lambda text: None) if as_json else (lambda text: status.update(f"{text} …"))
        outcome = Drill(Places.below(Path(folder)), number, kills, seed, minutes * 60, told).run()
    _tell(outcome, number, seed, as_json=as_json)
    sys.exit(0 if outcome.passed else 1)


def _tell(outcome: Outcome, number: int, seed: int, *, as_json: bool) -> None:
    if as_json:
        checks = [{"promise": check.promise, "found": check.found, "kept": check.kept} for check in outcome.checks]
        click.echo(
            json.dumps({"checks": checks, "killed": outcome.killed, "asked_again": outcome.asked_again}, indent=1)
        )
        return
    show(({"killed": what, "times": times} for what, times in sorted(outcome.killed.items())), as_json=False)
    show(
        _verdicts(outcome.checks),
        as_json=False,
        title=f"{number} jobs, seed {seed}, {outcome.seconds:.0f} s, asked again {outcome.asked_again} times",
    )


@drill.command("outages", epilog="Example: itemindex drill outages --seconds 6 --only PostgreSQL")
@click.option(
    "--seconds", default=6.0, show_default=True, type=click.FloatRange(1, 120), help="How long each fault lasts."
)
@click.option("--only", default="", help="Only the faults whose name has this in it.")
@json_option
def outages(seconds: float, only: str, as_json: bool) -> None:
    """Let one part after another go down, hang or restart, while callers go on; show what each of them saw.

    Everything runs on loopback below a temporary directory and is gone afterwards. Exit code 1 when a caller saw what
    the policy of the outage does not allow, or when a healed service did not come back.
    """
    if os.environ.get("DATABASE_URL") or os.environ.get("STATE_URL"):
        raise ItemIndexError("DATABASE_URL and STATE_URL must not be set: a drill kills, and only what it has started")
    with tempfile.TemporaryDirectory(prefix="drill-") as folder, console.status("drilling …") as status:
        told = (lambda text: None) if as_json else (lambda text: status.update(f"{text} …"))
        found = OutageDrill(Places.below(Path(folder)), seconds, told, only).run()
    if as_json:
        listed = [{"fault": s.fault, "caller": s.call, "saw": dict(s.statuses), "slowest_seconds": s.slowest_seconds,
                   "kept": s.kept} for s in found]  # fmt: skip
        click.echo(json.dumps(listed, indent=1))
    else:
        show(_grid(found), as_json=False, title=f"outages of {seconds:.0f} s each: what each caller saw")
    sys.exit(0 if found and all(seen.kept for seen in found) else 1)


@drill.command("hosts", epilog="Example: itemindex drill hosts --seconds 20")
@click.option(
    "--jobs", "number", default=40, show_default=True, type=click.IntRange(4, 1_000), help="Reports to order."
)
@click.option(
    "--seconds", default=8.0, show_default=True, type=click.FloatRange(2, 120), help="How long each cut lasts."
)
@click.option("--minutes", default=6.0, show_default=True, help="When to give up.")
@json_option
def hosts(number: int, seconds: float, minutes: float, as_json: bool) -> None:
    """Run stores, two edges and two workers on hosts of their own; cut one off, join it again, count what was lost.

    The hosts are network namespaces, reachable from nowhere else, and gone afterwards. It takes root, or
    `unshare --user --map-root-user --net`. Exit code 1 when a promise was broken.
    """
    reason = obstacle()
    if reason is not None:
        raise ItemIndexError(f"no hosts can be made here: {reason}")
    with tempfile.TemporaryDirectory(prefix="drill-") as folder, console.status("drilling …") as status:
        told = (lambda text: None) if as_json else (lambda text: status.update(f"{text} …"))
        found = HostsDrill(Places.below(Path(folder)), number, seconds, minutes * 60, told).run()
    if as_json:
        served = {one.name: {"counted": one.counted, "uncounted": one.uncounted} for one in found.accounts}
        checks = [{"promise": check.promise, "found": check.found, "kept": check.kept} for check in found.checks]
        click.echo(json.dumps({"checks": checks, "served": served, "seconds": found.seconds}, indent=1))
    else:
        show(_verdicts(found.checks), as_json=False, title=f"hosts, cut off for {seconds:.0f} s, {found.seconds:.0f} s")
    sys.exit(0 if found.passed else 1)


def _verdicts(checks: list[Check]) -> Iterator[dict[str, Any]]:
    for check in checks:
        verdict = "[green]kept[/]" if check.kept else "[red]BROKEN[/]"
        yield {"promise": check.promise, "found": check.found, "": verdict}


def _grid(found: list[Seen]) -> list[dict[str, Any]]:
    """Make a row for each fault and a column for each caller; red where a caller saw what must not be."""
    callers = list(dict.fromkeys(seen.call for seen in found if seen.statuses))
    rows = []
    for fault in dict.fromkeys(seen.fault for seen in found):
        cells = {seen.call: seen for seen in found if seen.fault == fault}
        row: dict[str, Any] = {"fault": fault}
        for caller in callers:
            seen = cells.get(caller) or cells.get("all")
            text = "/".join(str(status or "none") for status in sorted(seen.statuses)) if seen else "–"
            row[caller] = text if seen is None or seen.kept else f"[red]{text or 'not healed'}[/]"
        row["slowest"] = f"{max(seen.slowest_seconds for seen in cells.values()):.1f} s"
        rows.append(row)
    return rows
