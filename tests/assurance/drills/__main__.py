"""`python -m tests.assurance.drills`: cause failures on purpose, on a stack of its own, and count the losses."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from deploy.ctl.console import console, errors, for_programs, json_option, print_json, show
from deploy.ctl.main import run
from deploy.ctl.parameter_types import FiniteRange
from deploy.local.paths import Paths
from deploy.terminal import Styled, safe
from shared.clock import utc_now
from shared.errors import ItemIndexError
from shared.settings.settings import Settings
from tests.assurance.drills.attackers import AT_ONCE
from tests.assurance.drills.faults import chosen, faults_of
from tests.assurance.drills.network import obstacle
from tests.assurance.drills.probes import PAUSE_SECONDS, Seen
from tests.assurance.drills.table import markdown
from tests.support import s3

if TYPE_CHECKING:
    from tests.assurance.drills.checks import Check, Outcome
    from tests.assurance.drills.overload import Measured

# What a drill needs is imported when it is run: all of them together import for more than a second.


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def drill() -> None:
    """Cause failures on purpose, on a stack of its own, and count the losses."""


@drill.command("jobs", epilog="Example: python -m tests.assurance.drills jobs --jobs 500 --kills 60 --seed 7")
@click.option("--jobs", "number", default=500, show_default=True, type=click.IntRange(2, 10_000), help="Jobs to order.")
@click.option("--kills", default=60, show_default=True, type=click.IntRange(0, 1_000), help="Processes to kill.")
@click.option("--seed", default=1, show_default=True, help="The same seed draws the same victims.")
@click.option("--minutes", default=15.0, show_default=True, help="Minutes after which the drill fails.")
@json_option
def jobs(number: int, kills: int, seed: int, minutes: float) -> None:
    """Order jobs through the front while workers, children, dispatcher, broker, edges and PostgreSQL are killed.

    Everything runs on loopback below a temporary directory and is gone afterwards. Every job must end, once, with the
    right digest or with a reason. Exit code 1 when a promise was broken.
    """
    with _stage() as (paths, report_progress):
        from tests.assurance.drills.run import Drill

        outcome = Drill(paths, number, kills, seed, minutes * 60, report_progress).run()
    again = outcome.more["asked_again"]
    _show(outcome, f"{number} jobs, seed {seed}, asked again {again} times")


@drill.command("outages", epilog="Example: python -m tests.assurance.drills outages --seconds 6 --only PostgreSQL")
@click.option("--seconds", default=6.0, show_default=True, type=FiniteRange(1, 120), help="How long each fault lasts.")
@click.option(
    "--pause", default=PAUSE_SECONDS, show_default=True, type=FiniteRange(0.01, 10), help="Between two calls."
)
@click.option("--only", multiple=True, help="Only the faults whose name contains this; may be repeated.")
@click.option(
    "--bucket", is_flag=True, help="Store results in a bucket of the drill's own: the object store fails too."
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the table of the operators' guide.")
@json_option
def outages(seconds: float, pause: float, only: tuple[str, ...], bucket: bool, as_markdown: bool) -> None:
    """Stop, freeze, slow or restart one part after another while callers continue; show the answers that they got.

    Everything runs on loopback below a temporary directory and is gone afterwards. Exit code 1 when a caller saw what
    the policy of the outage does not allow, when an accepted job came to nothing, or when the service did not heal.
    With S3_BUCKET and S3_ENDPOINT=http://HOST:PORT the bucket is that one.
    """
    faults = faults_of(bucket=bucket or bool(Settings.from_environment().s3_bucket))
    if unknown := [word for word in only if not chosen(faults, (word,))]:
        raise click.UsageError(f"no fault is named {', '.join(unknown)}; those of the object store need --bucket")
    with _stage(quiet=as_markdown) as (paths, report_progress), ExitStack() as beside:
        from tests.assurance.drills.outages import OutageDrill

        if bucket:
            os.environ |= s3.environment(beside.enter_context(s3.s3_server(paths.root)), "S3_BUCKET")
        found = OutageDrill(paths, seconds, report_progress, only, pause).run()
    if for_programs():
        listed = [
            {
                "fault": s.fault,
                "caller": s.call,
                "saw": dict(s.statuses),
                "slowest_seconds": s.slowest_seconds,
                "remark": s.remark,
                "kept": s.kept,
            }
            for s in found
        ]
        click.echo(json.dumps(listed, indent=1))
    elif as_markdown:
        console.pass_on(markdown(found, seconds, utc_now().date().isoformat()))
    else:
        show(_grid(found), title=f"faults of {seconds:.0f} s each: what callers saw")
    sys.exit(0 if all(seen.kept for seen in found) else 1)


@drill.command(
    "overload", epilog="Example: python -m tests.assurance.drills overload --seconds 12 --rounds 3 --only slow"
)
@click.option(
    "--seconds",
    default=12.0,
    show_default=True,
    type=FiniteRange(1, 120),
    help="Seconds of each phase, calm and crowded.",
)
@click.option(
    "--rounds", default=3, show_default=True, type=click.IntRange(1, 50), help="Times that calm and crowd alternate."
)
@click.option("--only", multiple=True, help="Only the attacks whose name contains this; may be repeated.")
@click.option(
    "--ratio-max",
    default=2.0,
    show_default=True,
    help="Largest ratio of p99 under attack to p99 in calm that passes; 0: any, and the calm is not measured.",
)
@json_option
def overload(seconds: float, rounds: int, only: tuple[str, ...], ratio_max: float) -> None:
    """Compare the latency of ordinary callers in calm with that during slow, many or oversized requests.

    Everything runs on loopback below a temporary directory and is gone afterwards. Exit code 1 when an ordinary caller
    was not served, or waited longer than `--ratio-max` allows, one of many who came at once met no answer, an attacker
    was served what must be refused, or the service took more than 100 MB for it.
    """
    with _stage() as (paths, report_progress):
        from tests.assurance.drills.overload import OverloadDrill

        found = OverloadDrill(paths, seconds, rounds, report_progress, only, in_calm=ratio_max > 0).run()
    if for_programs():
        click.echo(json.dumps([_measured(one) for one in found], indent=1))
    else:
        show(map(_row, found), title=f"{seconds:.0f} s of calm and of crowd by turns, {rounds} times")
    # Two thousand who come at once are callers as well, and have their share of the time.
    late = [one for one in found if ratio_max and one.ratio > ratio_max and one.attack != AT_ONCE]
    sys.exit(1 if late or not found or not all(one.kept for one in found) else 0)


def _measured(one: "Measured") -> dict[str, Any]:
    return {
        "attack": one.attack,
        "calls": len(one.crowd),
        "failures": dict(one.failures),
        "unanswered": one.unanswered,
        "calm_ms": {"p50": _ms(one.calm, 0.5), "p99": _ms(one.calm, 0.99)},
        "crowd_ms": {"p50": _ms(one.crowd, 0.5), "p99": _ms(one.crowd, 0.99)},
        "ratio": round(one.ratio, 2),
        "attackers": dict(one.met),
        "kept": one.kept,
        "broken": one.broken,
        "grown_mb": round(one.grown_bytes / 1e6, 1),
    }


def _row(one: "Measured") -> dict[str, Any]:
    measured = _measured(one)
    calm, crowd = measured["calm_ms"], measured["crowd_ms"]
    return {
        "attack": one.attack,
        "calls": len(one.crowd),
        "not served": ", ".join(f"{what} × {n}" for what, n in one.failures.items()) or "none",
        "calm p50 / p99": f"{calm['p50']} / {calm['p99']} ms",
        "crowd p50 / p99": f"{crowd['p50']} / {crowd['p99']} ms",
        "ratio": f"{measured['ratio']:.2f}",
        "attackers met": ", ".join(f"{what} × {n:,}" for what, n in sorted(one.met.items())) or "nothing yet",
        "memory": f"+{measured['grown_mb']} MB",
        "broken": "; ".join(one.broken) or "nothing",
    }


def _ms(seconds: list[float], share: float) -> float:
    from tests.assurance.drills.overload import percentile

    return round(percentile(seconds, share) * 1_000, 1)


@contextmanager
def _stage(*, quiet: bool = False) -> Iterator[tuple[Paths, Callable[[str], None]]]:
    """Give a drill a place of its own and a way to tell what it does."""
    if os.environ.get("DATABASE_URL") or os.environ.get("STATE_URL"):
        raise ItemIndexError("DATABASE_URL and STATE_URL must not be set: a drill kills, and only what it has started")
    with tempfile.TemporaryDirectory(prefix="drill-") as folder, console.status("drilling …") as status:
        # An operator who does not watch reads afterwards which step went wrong.
        live = console.is_terminal and not (quiet or for_programs())
        report_progress = (lambda text: status.update(safe(f"{text} …"))) if live else errors.pass_on
        yield Paths.below(Path(folder)), report_progress


@drill.command("partition", epilog="Example: python -m tests.assurance.drills partition --seconds 20")
@click.option(
    "--jobs", "number", default=40, show_default=True, type=click.IntRange(4, 1_000), help="Reports to order."
)
@click.option("--seconds", default=8.0, show_default=True, type=FiniteRange(2, 120), help="How long each cut lasts.")
@click.option("--minutes", default=6.0, show_default=True, help="Minutes after which the drill fails.")
@json_option
def partition(number: int, seconds: float, minutes: float) -> None:
    """Run stores, two edges and two workers on hosts of their own; cut one off, join it again, count what was lost.

    The hosts are network namespaces, reachable from nowhere else, and gone afterwards. It takes root, or
    `unshare --user --map-root-user --net`. Exit code 1 when a promise was broken.
    """
    reason = obstacle()
    if reason is not None:
        raise ItemIndexError(f"no hosts can be made here: {reason}")
    with tempfile.TemporaryDirectory(prefix="drill-") as folder, console.status("drilling …") as status:
        report_progress = (lambda text: None) if for_programs() else (lambda text: status.update(safe(f"{text} …")))
        from tests.assurance.drills.partition import PartitionDrill

        found = PartitionDrill(Paths.below(Path(folder)), number, seconds, minutes * 60, report_progress).run()
    _show(found, f"hosts, cut off for {seconds:.0f} s")


@drill.command("hosts", epilog="Example: python -m tests.assurance.drills hosts")
@click.option("--minutes", default=6.0, show_default=True, help="Minutes after which the drill fails.")
@json_option
def hosts(minutes: float) -> None:
    """Do what the guide's chapter on several hosts says: two hosts with edges, two with workers, each with its own disk.

    With the settings of one host the second must refuse to start; with a bucket, each host must serve what another has
    made. It takes root. Exit code 1 when a promise was broken.
    """
    if reason := obstacle():
        raise ItemIndexError(f"no hosts can be made here: {reason}")
    with _stage() as (paths, report_progress):
        from tests.assurance.drills.checks import Outcome
        from tests.assurance.drills.hosts import HostsDrill

        checks = HostsDrill(paths, minutes * 60, report_progress).run()
    _show(Outcome(checks), "several hosts")


@drill.command("night", epilog="Example: python -m tests.assurance.drills night --rows 5000000")
@click.option("--rows", default=0, show_default=True, type=click.IntRange(0), help="Rows of observations to back up.")
@json_option
def night(rows: int) -> None:
    """Try the commands of the page for the night that no outage tries, and measure how long each takes.

    Exit code 1 when a command did not mend what it should.
    """
    with _stage() as (paths, report_progress):
        from tests.assurance.drills.checks import Outcome
        from tests.assurance.drills.night import NightDrill

        checks = NightDrill(paths.root, rows, report_progress).run()
    _show(Outcome(checks), "what mends at night")


def _show(found: "Outcome", title: str) -> None:
    """Print the verdicts, and exit with 1 when a promise was broken."""
    if for_programs():
        checks = [asdict(check) for check in found.checks]
        print_json({"checks": checks, "killed": found.killed, "seconds": found.seconds, **found.more})
    else:
        if found.killed:
            show(({"killed": what, "times": times} for what, times in sorted(found.killed.items())))
        show(_verdicts(found.checks), title=f"{title}, {found.seconds:.0f} s")
    sys.exit(0 if found.passed else 1)


@drill.command(
    "webhooks", epilog="Example: python -m tests.assurance.drills webhooks --events 10000 --kills 40 --seed 7"
)
@click.option("--events", default=10_000, show_default=True, type=click.IntRange(10, 1_000_000), help="Events to log.")
@click.option(
    "--receivers",
    default=20,
    show_default=True,
    type=click.IntRange(5, 200),
    help="Organizations with a webhook each; 30 per cent of their receivers fail, hang or are killed.",
)
@click.option("--kills", default=40, show_default=True, type=click.IntRange(0, 1_000), help="Processes to kill.")
@click.option("--rate", default=50.0, show_default=True, type=FiniteRange(1, 1_000), help="Events per second.")
@click.option("--seed", default=1, show_default=True, help="The same seed draws the same victims.")
@click.option("--minutes", default=20.0, show_default=True, help="Minutes after which the drill fails.")
@json_option
def webhooks(events: int, receivers: int, kills: int, rate: float, seed: int, minutes: float) -> None:
    """Log events while receivers of webhooks fail, hang and are killed, and then workers and the dispatcher as well.

    Everything runs on loopback below a temporary directory and is gone afterwards. Every event must be accepted, signed
    and in its order, and bad receivers may delay the events of others by at most 1 s. Exit code 1 when a promise was
    broken. It needs the tools of the tests (`make check` installs them).
    """
    with _stage() as (paths, report_progress):
        from tests.assurance.drills.webhooks import WebhookDrill

        drilled = WebhookDrill(paths, events, receivers, kills, seed, rate, minutes * 60, report_progress)
        outcome = drilled.run()
    deliveries = outcome.more["deliveries"]
    _show(outcome, f"{events} events, {deliveries} accepted deliveries, seed {seed}")


@drill.command("restore", epilog="Example: python -m tests.assurance.drills restore --moments 20 --rows 10000000")
@click.option("--moments", default=20, show_default=True, type=click.IntRange(1, 1_000), help="Moments to restore to.")
@click.option("--rows", default=0, show_default=True, type=click.IntRange(0), help="Rows of observations beside.")
@click.option("--seed", default=1, show_default=True, help="The same seed draws the same moments.")
@json_option
def restore(moments: int, rows: int, seed: int) -> None:
    """Write to PostgreSQL while it is backed up, kill it, delete its directory, and restore it to random moments.

    Exit code 1 when a moment had another digest than was recorded, or more was lost or later back than promised.
    """
    with _stage() as (paths, report_progress):
        from tests.assurance.drills.checks import Outcome
        from tests.assurance.drills.restores import RestoreDrill

        found = RestoreDrill(paths.root, moments, rows, seed, report_progress).run()
    outcome = Outcome(found.checks, more={"restores": [round(one, 1) for one in found.seconds]})
    _show(outcome, f"{moments} moments, {rows:,} rows, seed {seed}")


@drill.command("images", epilog="Example: python -m tests.assurance.drills images --folder /var/tmp/item-index")
@click.option(
    "--folder",
    default=Path("/var/tmp/item-index-images"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Where the host of the containers is made, 6 GB; kept for the next time.",
)
@click.option("--previous", help="Revision of the image that is upgraded; by default, the first with today's packages.")
@json_option
def images(folder: Path, previous: str | None) -> None:
    """Build the image, start the compose file's services from it, call them, upgrade them, serve them over TLS.

    The containers run on a Debian of their own in namespaces of their own, and reach nothing outside. It takes root,
    and Debian's package mmdebstrap. Exit code 1 when a promise was broken.
    """
    with console.status("drilling …") as status:
        live = console.is_terminal and not for_programs()
        report_progress = (lambda text: status.update(safe(f"{text} …"))) if live else errors.pass_on
        from tests.assurance.drills.checks import Outcome
        from tests.assurance.drills.images import ImageDrill, first_with_these_packages

        checks = ImageDrill(folder, previous or first_with_these_packages(), report_progress).run()
    _show(Outcome(checks), "the image and the compose file")


def _verdicts(checks: "list[Check]") -> Iterator[dict[str, Any]]:
    for check in checks:
        verdict = Styled("kept", "green") if check.kept else Styled("BROKEN", "red")
        yield {"promise": check.promise, "found": check.found, "": verdict}


def _grid(found: list[Seen]) -> list[dict[str, Any]]:
    """Make a row for each fault: who saw anything but the usual, and what; red where it must not be."""
    rows = []
    for fault in dict.fromkeys(seen.fault for seen in found):
        cells = [seen for seen in found if seen.fault == fault]
        by_call = {seen.call: seen for seen in cells}
        unusual = [_cell(seen) for seen in cells if not set(seen.statuses) <= seen.usual]
        broken = [Text(f"{seen.call}: {seen.remark}", "red") for seen in cells if seen.remark and not seen.kept]
        rows.append(
            {
                "fault": fault,
                "callers saw": Text("; ").join((*unusual, *broken)) or "what they always see",
                "calls": sum(sum(seen.statuses.values()) for seen in cells),
                "slowest": f"{max(seen.slowest_seconds for seen in cells):.1f} s",
                "jobs": by_call["jobs"].remark if "jobs" in by_call else "–",
                "free quota": by_call["quota"].remark if "quota" in by_call else "–",
                "anonymous": by_call["anonymous quota"].remark if "anonymous quota" in by_call else "–",
                "small plan": by_call["quota of a small plan"].remark if "quota of a small plan" in by_call else "–",
            }
        )
    return rows


def _cell(seen: Seen) -> Text:
    statuses = "/".join(str(status or "none") for status in sorted(seen.statuses))
    return Text(f"{seen.call} {statuses}", "" if seen.kept else "red")


if __name__ == "__main__":
    run(drill)
