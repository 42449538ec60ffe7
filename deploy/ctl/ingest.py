"""`itemindex ingest`: files through a mapping into the index."""

import time
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from deploy.ctl.console import console, data_dir_option, json_option, settings, show
from deploy.terminal import safe
from shared.config import Settings
from shared.db.connect import connect
from shared.errors import LoadRefused
from workers.ingest import mapping as mappings
from workers.ingest import readers
from workers.ingest.load import Summary, alt_names, load
from workers.ingest.mapping import Mapping
from workers.ingest.stage import EPOCH
from workers.ingest.transform import Transformer

_INDEX_WAIT_SECONDS = 600.0
_SHIPPED = Path(__file__).parents[1] / "mappings"


class _DefaultToRun(click.Group):
    """Lets `itemindex ingest --mapping …` mean `itemindex ingest run --mapping …`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `run` in front where no subcommand is named."""
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_DefaultToRun)
def ingest() -> None:
    """Load files through a mapping: CSV, NDJSON or Parquet, plain, gzip or zstd.

    \b
    Examples:
      itemindex ingest --mapping deploy/mappings/hk_pricewatch.toml prices.csv.gz
      itemindex ingest --mapping mine.toml --dry-run mine.csv
      itemindex ingest rejects
    The guide to a mapping of your own: deploy/guides/bring-your-own-data.md
    """


@ingest.command()
@click.option("--mapping", "mapping_path", required=True, help="A mapping file, or the name of a shipped one.")
@click.option("--dry-run", is_flag=True, help="Show the first rows as they would be loaded; load nothing.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@data_dir_option
@json_option
def run(mapping_path: str, dry_run: bool, files: tuple[Path, ...], data_dir: Path, as_json: bool) -> None:
    """Load FILES; this is what `itemindex ingest` does when no other command is named."""
    mapping = mappings.read(_find(mapping_path))
    if dry_run:
        _preview(mapping, list(files), as_json)
        return
    chosen = settings(data_dir)
    summary = load_with_bar(chosen, mapping, list(files), quiet=as_json)
    if summary.job_id is not None and not as_json:
        wait_for_index(chosen, summary.job_id)
    show_summary(summary, as_json=as_json)


def load_with_bar(chosen: Settings, mapping: Mapping, files: list[Path], *, quiet: bool = False) -> Summary:
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
        return load(chosen, mapping, files, lambda done: progress.update(task, completed=done))


def wait_for_index(chosen: Settings, job_id: str) -> None:
    """Follow the job that builds the search index of the new data_version."""
    ends = time.monotonic() + _INDEX_WAIT_SECONDS
    with (
        connect(chosen.database_url, application="ingest", autocommit=True) as connection,
        Progress(console=console) as progress,
    ):
        task = progress.add_task("search index", total=1.0)
        query = "SELECT state, progress_fraction FROM jobs WHERE id = $1"
        while time.monotonic() < ends:
            row = connection.execute(query, (job_id,)).fetchone()
            if row is None or row[0] in ("failed", "cancelled"):
                console.say("[yellow]the search index was not built; see `itemindex jobs show`[/]")
                return
            progress.update(task, completed=row[1])
            if row[0] == "succeeded":
                return
            time.sleep(0.1)


def show_summary(summary: Summary, *, as_json: bool) -> None:
    """Print what a load came to."""
    rows: list[dict[str, Any]] = [
        {"what": name.replace("_", " "), "rows": count} for name, count in summary.counts.items()
    ]
    rows += [{"what": f"rejected: {reason}", "rows": count} for reason, count in summary.rejects.most_common()]
    if as_json:
        rows = [{"load": summary.load_id, "state": summary.state, "data_version": summary.data_version,
                 "counts": summary.counts, "rejects": dict(summary.rejects)}]  # fmt: skip
    title = f"{summary.state}" + (f", data_version {summary.data_version}" if summary.data_version else ": nothing new")
    show(rows, as_json=as_json, title=title)
    if summary.rejects and not as_json:
        console.say("Rows that could not be used: [cyan]itemindex ingest rejects {load}[/]", load=summary.load_id)


@ingest.command(epilog="Example: itemindex ingest rejects --json > rejects.json")
@click.argument("load_id", required=False)
@click.option("--limit", default=100, show_default=True, help="How many to show.")
@data_dir_option
@json_option
def rejects(load_id: str | None, limit: int, data_dir: Path, as_json: bool) -> None:
    """List the rows that a load could not use: file, line, reason, text. Without LOAD_ID: the last load's."""
    with connect(settings(data_dir).database_url, application="ingest") as connection:
        if load_id is None:
            row = connection.execute("SELECT load_id::text FROM rejects ORDER BY load_id DESC LIMIT 1").fetchone()
            load_id = row[0] if row else None
        found = connection.execute(
            "SELECT file, line, reason, raw FROM rejects WHERE load_id::text = $1 ORDER BY file, line LIMIT $2",
            (load_id, limit),
        ).fetchall()
    show(
        (dict(zip(("file", "line", "reason", "raw"), row, strict=True)) for row in found),
        as_json=as_json,
        title="rejects",
    )


@ingest.command(epilog="Example: itemindex ingest loads")
@click.option("--limit", default=20, show_default=True, help="How many to show.")
@data_dir_option
@json_option
def loads(limit: int, data_dir: Path, as_json: bool) -> None:
    """List the last loads and what became of them."""
    names = ("load", "source", "state", "rows_read", "rows_rejected", "started_at", "error")
    with connect(settings(data_dir).database_url, application="ingest") as connection:
        found = connection.execute(
            "SELECT id::text, source, state, rows_read, rows_rejected, started_at::text, error FROM loads "
            "ORDER BY started_at DESC LIMIT $1", (limit,),
        ).fetchall()  # fmt: skip
    show((dict(zip(names, row, strict=True)) for row in found), as_json=as_json, title="loads")


@ingest.command("check", epilog="Example: itemindex ingest check mine.toml")
@click.argument("mapping_path")
def check(mapping_path: str) -> None:
    """Read a mapping and say whether it can be used."""
    mapping = mappings.read(_find(mapping_path))
    console.say(
        "[green]can be used[/]: source {source}, columns {columns}",
        source=mapping.source,
        columns=", ".join(mapping.columns),
    )


def _find(text: str) -> Path:
    for path in (Path(text), _SHIPPED / text, _SHIPPED / f"{text}.toml"):
        if path.is_file():
            return path
    shipped = ", ".join(sorted(path.stem for path in _SHIPPED.glob("*.toml")))
    raise LoadRefused(f"there is no mapping {text}; shipped are {shipped}")


def _preview(mapping: Mapping, files: list[Path], as_json: bool, rows: int = 10) -> None:
    if mapping.item is None:
        raise LoadRefused("a mapping of factors has no rows to show; `itemindex ingest check` reads it")
    batches = readers.read(files[0], mapping, batch_rows=10_000)
    shaped = Transformer(mapping, alt_names(mapping, files)).shape(next(iter(batches)), files[0])
    items = [
        {"iid": i.iid, "name": i.name, "brand": i.brand_name, "category": i.category_code,
         "product_type": i.product_type, "attributes": i.attributes}
        for i in shaped.items[:rows]
    ]  # fmt: skip
    show(items, as_json=as_json, title="items")
    if shaped.observations is not None:
        names = {item.key: item.name for item in shaped.items}
        seen = [
            {"item": names[row["item"]], "day": str(EPOCH.fromordinal(EPOCH.toordinal() + int(row["day"]))),
             "channel": shaped.channels[row["channel"]], "price_minor": int(row["price"]),
             "currency": row["currency"].decode()}
            for row in shaped.observations[:rows]
        ]  # fmt: skip
        show(seen, as_json=as_json, title="observations")
    show(
        ({"line": r.line, "reason": r.reason, "raw": r.raw} for r in shaped.rejects[:rows]),
        as_json=as_json,
        title="rejects",
    )
