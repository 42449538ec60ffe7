"""`itemindex drill`: break things on purpose, on a stack of its own, and count what is lost."""

import json
import os
import sys
import tempfile
from pathlib import Path

import click

from deploy.ctl.ui import console, json_option, show
from deploy.drill.run import Drill, Outcome
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
    rows = (
        {"promise": c.promise, "found": c.found, "": "[green]kept[/]" if c.kept else "[red]BROKEN[/]"}
        for c in outcome.checks
    )
    show(
        rows,
        as_json=False,
        title=f"{number} jobs, seed {seed}, {outcome.seconds:.0f} s, asked again {outcome.asked_again} times",
    )
