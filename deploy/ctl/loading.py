"""A load as commands run it: progress bars, the search index, and the summary."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from deploy.ctl.console import console, show
from deploy.terminal import safe
from shared.db.connect import connect
from shared.db.queries import load_queries
from shared.errors import LoadRefused
from shared.settings.settings import Settings
from workers.ingest import mapping as mappings
from workers.ingest.accounting import accounts
from workers.ingest.load import Summary, load
from workers.ingest.sentences import sentences

DATA = load_queries(__file__, "data.sql")
_INDEX_WAIT_SECONDS = 600.0
_SHIPPED = Path(__file__).parents[1] / "mappings"


def find_mapping(text: str) -> Path:
    """Return the file of a mapping: one of the operator's own, or a shipped one by its name."""
    for path in (Path(text), _SHIPPED / text, _SHIPPED / f"{text}.toml"):
        if path.is_file():
            return path
    shipped = ", ".join(sorted(path.stem for path in _SHIPPED.glob("*.toml")))
    raise LoadRefused(f"there is no mapping {text}; shipped are {shipped}")


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


def show_accounts(counts: Mapping[str, int], title: str) -> None:
    """Print the accounts of a load as a table."""
    names = {"superseded": "replaced within the files", "absent": "without one"}
    rows = [{names.get(part, part): count for part, count in asdict(account).items()} for account in accounts(counts)]
    show(rows, as_json=False, title=title)
