"""A load as commands run it: progress bars, the search index, and the summary."""

import time
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
from workers.ingest.reject_log import reasons

DATA = beside(__file__, "data.sql")
_INDEX_WAIT_SECONDS = 600.0


def load_with_bar(
    chosen: Settings,
    mapping: mappings.Mapping,
    files: list[Path],
    *,
    quiet: bool = False,
    merges_allowed: bool = False,
    dry_run: bool = False,
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

        return load(chosen, mapping, files, report_progress, merges_allowed=merges_allowed, dry_run=dry_run)


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
        console.say(
            "[yellow]the search index is not built yet; a worker builds it: `itemindex jobs show {job}`[/]", job=job_id
        )


def document(summary: Summary) -> dict[str, object]:
    """Return what a load came to, for programs."""
    return {
        "load": summary.load_id,
        "state": summary.state,
        "data_version": summary.data_version,
        "counts": summary.counts,
        "rejects": dict(summary.rejects),
        "field_rejects": dict(summary.field_rejects),
        "joined": summary.joined,
        "parted": summary.parted,
    }


def show_summary(summary: Summary, *, as_json: bool, dry_run: bool = False) -> None:
    """Print what a load came to: for each kind what became of all that was read, and then in words."""
    if as_json:
        show([document(summary)], as_json=True)
        return
    title = f"{summary.state}" + (f", data_version {summary.data_version}" if summary.data_version else ": nothing new")
    show_accounts(summary.counts, "a load would come to this; nothing was loaded" if dry_run else title)
    for line in sentences(summary, dry_run=dry_run):
        console.say("{line}", line=line, soft_wrap=True)


def sentences(summary: Summary, *, dry_run: bool = False) -> list[str]:
    """Return what a load read, changed, refused, joined, took apart, and leaves to a person."""
    counts = summary.counts
    if not counts["rows"]:
        return ["Read: nothing, because the same files were loaded by the same mapping before.", "Changed: nothing."]
    waiting = counts.get("pairs_waiting", 0)
    hint = "" if dry_run else "; `itemindex matches list` shows them"
    return [
        f"Read: {_many(counts['rows'], 'row')}, of which {counts['rows'] - counts['rejected']:,} could be used.",
        f"Changed: {_changes(summary)}.",
        *_refusals(summary, dry_run=dry_run),
        *_links("Joined", "part of another article now", counts.get("items_merged", 0), summary.joined),
        *_links("Came apart", "no longer part of their article", counts.get("items_parted", 0), summary.parted),
        f"Waiting for a person: {_many(waiting, 'pair') + ' of items' + hint if waiting else 'nothing'}.",
    ]


def _changes(summary: Summary) -> str:
    if summary.state == "unchanged":
        return "nothing, because the index has all of it already"
    outcomes = ("new", "changed", "replaced")
    counted = [
        f"{summary.counts[f'{kind}_{outcome}']:,} {kind} {outcome}"
        for kind in ("items", "observations", "impacts", "factors")
        for outcome in outcomes
        if summary.counts.get(f"{kind}_{outcome}")
    ]
    return ", ".join(counted) or "what answers say of the source"


def _refusals(summary: Summary, *, dry_run: bool) -> list[str]:
    rows, fields = summary.rejects.total(), summary.field_rejects.total()
    if not rows + fields:
        return ["Refused: nothing."]
    title = f"Refused: {_many(rows, 'row')}, and {_many(fields, 'value')} of other rows:"
    lines = [title, *(f"  {line}" for line in reasons(summary.rejects + summary.field_rejects, summary.examples))]
    if dry_run:
        return lines
    dropped = summary.counts.get("rejects_dropped", 0)
    bound = f" the first {rows + fields - dropped:,}" if dropped else " them"
    return [*lines, f"  `itemindex loads rejects {summary.load_id}` lists{bound}."]


def _links(title: str, words: str, count: int, examples: list[str]) -> list[str]:
    if not count:
        return [f"{title}: nothing."]
    more = [f"  and {count - len(examples):,} more"] if count > len(examples) else []
    return [f"{title}: {_many(count, 'item')}, {words}:", *(f"  {one}" for one in examples), *more]


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def show_accounts(counts: Mapping[str, int], title: str) -> None:
    """Print the accounts of a load as a table."""
    names = {"superseded": "replaced within the files", "absent": "without one"}
    rows = [{names.get(part, part): count for part, count in asdict(account).items()} for account in accounts(counts)]
    show(rows, as_json=False, title=title)
