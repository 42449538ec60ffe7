"""A load as commands run it: progress bars, the search index, and the summary."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from deploy.ctl.console import console, show
from deploy.terminal import safe
from shared.db.connect import connect
from shared.db.queries import beside
from shared.settings.settings import Settings
from workers.ingest import mapping as mappings
from workers.ingest.accounting import accounts
from workers.ingest.load import Summary, load

DATA = beside(__file__, "data.sql")
_INDEX_WAIT_SECONDS = 600.0


def load_with_bar(
    chosen: Settings,
    mapping: mappings.Mapping,
    files: list[Path],
    *,
    quiet: bool = False,
    merges_allowed: bool = False,
) -> Summary:
    """Load files and show how far it is."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=quiet) as progress:
        task = progress.add_task(safe(mapping.source), total=sum(path.stat().st_size for path in files))

        def report_progress(done: int) -> None:
            progress.update(task, completed=done)

        return load(chosen, mapping, files, report_progress, merges_allowed=merges_allowed)


def wait_for_index(chosen: Settings, job_id: str) -> None:
    """Follow the job that builds the search index of the new data_version."""
    ends = time.monotonic() + _INDEX_WAIT_SECONDS
    with (
        connect(chosen.database_url, application="ingest", autocommit=True) as connection,
        Progress(console=console) as progress,
    ):
        task = progress.add_task("search index", total=1.0)
        while time.monotonic() < ends:
            row = connection.execute(DATA.job_progress, (job_id,)).fetchone()
            if row is None or row[0] in ("failed", "cancelled"):
                console.say("[yellow]the search index was not built; see `itemindex jobs show`[/]")
                return
            progress.update(task, completed=row[1])
            if row[0] == "succeeded":
                return
            time.sleep(0.1)


def show_summary(summary: Summary, *, as_json: bool) -> None:
    """Print what a load came to: for each kind what became of all that was read, and the reasons of rejects."""
    if as_json:
        document = {
            "load": summary.load_id,
            "state": summary.state,
            "data_version": summary.data_version,
            "counts": summary.counts,
            "rejects": dict(summary.rejects),
            "field_rejects": dict(summary.field_rejects),
        }
        show([document], as_json=True)
        return
    title = f"{summary.state}" + (f", data_version {summary.data_version}" if summary.data_version else ": nothing new")
    show_accounts(summary.counts, summary.rejects + summary.field_rejects, title)
    if merged := summary.counts.get("items_merged"):
        console.say(
            "{count} items are one article with others: [cyan]itemindex matches list --state linked[/]", count=merged
        )
    if summary.rejects or summary.field_rejects:
        console.say("Rows that could not be used: [cyan]itemindex ingest rejects {load}[/]", load=summary.load_id)


def show_accounts(counts: Mapping[str, int], reasons: Counter[str], title: str) -> None:
    """Print the accounts of a load as a table, and its reasons with counts."""
    names = {"superseded": "replaced within the files", "absent": "without one"}
    rows = [{names.get(part, part): count for part, count in asdict(account).items()} for account in accounts(counts)]
    show(rows, as_json=False, title=title)
    if reasons:
        show(
            ({"reason": reason, "rejects": count} for reason, count in reasons.most_common()),
            as_json=False,
            title="why",
        )
