"""A load as commands run it: progress bars, the search index, and the summary."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from deploy.ctl.console import console, for_programs, print_json, show
from deploy.ctl.jobs import follow
from deploy.terminal import safe
from shared.errors import LoadRefused
from shared.settings.settings import Settings
from workers.ingest import mapping as mappings
from workers.ingest.load.accounting import accounts
from workers.ingest.load.load import load
from workers.ingest.load.summary import Summary, sentences
from workers.ingest.transform import Transformed

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
    merges_allowed: bool = False,
    dry_run: bool = False,
    show: Callable[[Transformed], None] = lambda transformed: None,
) -> Summary:
    """Load files and show how far it is; the options are those of `load`."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=for_programs()) as progress:
        task = progress.add_task(safe(mapping.source), total=sum(path.stat().st_size for path in files))

        def report_progress(done: int) -> None:
            progress.update(task, completed=done)

        return load(chosen, mapping, files, report_progress, merges_allowed=merges_allowed, dry_run=dry_run, show=show)


def wait_for_index(job_id: str) -> None:
    """Follow the job that builds the search index of the new data_version."""
    job = follow(job_id, "search index", seconds=_INDEX_WAIT_SECONDS)
    if job["state"] != "succeeded":
        console.say(
            "[yellow]the search index is not built: its job is {state}; see `itemindex jobs list {job}`[/]",
            state=job["state"],
            job=job_id,
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


def show_summary(summary: Summary, *, dry_run: bool = False) -> None:
    """Print what a load came to: for each kind what became of all that was read, and then in words."""
    if for_programs():
        print_json([document(summary)])
        return
    title = f"{summary.state}" + (f", data_version {summary.data_version}" if summary.data_version else ": nothing new")
    show_accounts(summary.counts, "this is what a load would do; nothing was loaded" if dry_run else title)
    for line in sentences(summary, dry_run=dry_run):
        console.say("{line}", line=line, soft_wrap=True)


def show_accounts(counts: Mapping[str, int], title: str) -> None:
    """Print the accounts of a load as a table."""
    names = {"superseded": "replaced within the files", "absent": "without one"}
    rows = [{names.get(part, part): count for part, count in asdict(account).items()} for account in accounts(counts)]
    show(rows, title=title)
