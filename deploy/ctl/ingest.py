"""`itemindex ingest`: files through a mapping into the index."""

import json
from contextlib import ExitStack
from pathlib import Path

import click

from deploy.ctl.console import console, data_dir_option, json_option, settings, show
from deploy.ctl.demo import load_demo
from deploy.ctl.loading import load_with_bar, show_summary, wait_for_index
from shared.db.connect import connect
from shared.db.queries import beside
from shared.errors import LoadRefused
from shared.printable import printable_lines
from workers.ingest import mapping as mappings
from workers.ingest.alt_names import alt_names
from workers.ingest.guess import guess
from workers.ingest.known_items import known_items
from workers.ingest.mapping import markdown
from workers.ingest.preview import Previewer
from workers.ingest.transform import Transformer

SQL = beside(__file__, "ingest.sql")
DATA = beside(__file__, "data.sql")
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
@click.option(
    "--dry-run",
    is_flag=True,
    help="Read everything, and show the rows that would be loaded and the reasons for the others.",
)
@click.option(
    "--rows", default=10, show_default=True, type=click.IntRange(1, 1_000), help="Rows to show with --dry-run."
)
@click.option(
    "--allow-merges",
    is_flag=True,
    help="Load even if the load merges more than a tenth of the index with other items.",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@data_dir_option
@json_option
def run(
    mapping_path: str,
    dry_run: bool,
    rows: int,
    allow_merges: bool,
    files: tuple[Path, ...],
    data_dir: Path,
    as_json: bool,
) -> None:
    """Load FILES; this is what `itemindex ingest` does when no other command is named."""
    mapping = mappings.read(_find(mapping_path))
    if dry_run:
        show_preview(mapping, list(files), data_dir, rows=rows, as_json=as_json)
        return
    chosen = settings(data_dir)
    summary = load_with_bar(chosen, mapping, list(files), quiet=as_json, merges_allowed=allow_merges)
    if summary.job_id is not None and not as_json:
        wait_for_index(chosen, summary.job_id)
    show_summary(summary, as_json=as_json)


@ingest.command("demo", epilog="Example: itemindex ingest demo")
@data_dir_option
def demo_(data_dir: Path) -> None:
    """Load the demo data, unless the index has data already."""
    load_demo(settings(data_dir), console)


@ingest.command(epilog="Example: itemindex ingest rejects --json > rejects.json")
@click.argument("load_id", required=False)
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1), help="Entries to show at most.")
@data_dir_option
@json_option
def rejects(load_id: str | None, limit: int, data_dir: Path, as_json: bool) -> None:
    """List the rows that a load rejected: file, line, column, value, reason. Default: the last load."""
    with connect(settings(data_dir).database_url, application="ingest") as connection:
        load = connection.execute(SQL.load, (load_id,)).fetchone()
        if load is None:
            raise LoadRefused(
                "there is no such load; `itemindex ingest loads` lists them" if load_id else "there is no load yet"
            )
        rejects = connection.execute(SQL.rejects, (load[0], limit)).fetchall()
    rows = [
        dict(zip(("file", "line", "column", "value", "reason", "costs", "row"), row, strict=True)) for row in rejects
    ]
    if as_json:
        names = ("load", "source", "state", "started_at", "rejected")
        click.echo(json.dumps({**dict(zip(names, load, strict=True)), "rejects": rows}, indent=1, default=str))
        return
    title = f"load {load[0]} of {load[1]}, {load[2]}: {load[4]:,} rejects"
    if rows:
        show(({name: row[name] for name in row if name != "row"} for row in rows), as_json=False, title=title)
    else:
        console.say("{title}", title=title)


@ingest.command(epilog="Example: itemindex ingest loads")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="Entries to show at most.")
@data_dir_option
@json_option
def loads(limit: int, data_dir: Path, as_json: bool) -> None:
    """List the last loads with their outcome."""
    names = ("load", "source", "state", "rows_read", "rows_rejected", "started_at", "error")
    with connect(settings(data_dir).database_url, application="ingest") as connection:
        loads = connection.execute(DATA.loads, (limit,)).fetchall()
    show((dict(zip(names, row, strict=True)) for row in loads), as_json=as_json, title="loads")


@ingest.command("check", epilog="Example: itemindex ingest check mine.toml")
@click.argument("mapping_path")
def check(mapping_path: str) -> None:
    """Check that a mapping can be used."""
    mapping = mappings.read(_find(mapping_path))
    console.say(
        "[green]can be used[/]: source {source}, columns {columns}",
        source=mapping.source,
        columns=", ".join(mapping.columns),
    )


@ingest.command("keys", epilog="Example: itemindex ingest keys | less")
def keys() -> None:
    """Print every key of a mapping with its meaning and an example, as Markdown."""
    click.echo(printable_lines(markdown()), nl=False)


@ingest.command("guess", epilog="Example: itemindex ingest guess prices.csv > mine.toml")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def guess_mapping(file: Path) -> None:
    """Write a first mapping for FILE, with comments on its columns: correct it instead of beginning with nothing."""
    click.echo(printable_lines(guess(file)), nl=False)


def _find(text: str) -> Path:
    for path in (Path(text), _SHIPPED / text, _SHIPPED / f"{text}.toml"):
        if path.is_file():
            return path
    shipped = ", ".join(sorted(path.stem for path in _SHIPPED.glob("*.toml")))
    raise LoadRefused(f"there is no mapping {text}; shipped are {shipped}")


def show_preview(mapping: mappings.Mapping, files: list[Path], data_dir: Path, *, rows: int, as_json: bool) -> None:
    """Read files as a load does, and print what it would bring. Needs the index only to join to its items."""
    previewer = Previewer(mapping, shown=rows)
    if mapping.factors:
        preview = previewer.of_factors(files)
    else:
        with ExitStack() as opened:
            known = None
            if mapping.item and mapping.item.join_by:  # the only question that a dry run has for the index
                url = settings(data_dir).database_url
                lookup = opened.enter_context(connect(url, application="ingest", autocommit=True))
                known = known_items(lookup, mapping.item, mapping.source)
            preview = previewer.of_items(files, Transformer(mapping, alt_names(mapping, files), known=known))
    if as_json:
        click.echo(json.dumps(vars(preview), indent=1, default=str))
        return
    for kind in ("items", "observations", "impacts", "factors"):
        listed = getattr(preview, kind)[:rows]
        if listed:
            show(listed, as_json=False, title=f"{kind}: the first {len(listed)}")
    rejected = ({name: row[name] for name in ("file", "line", "column", "value", "reason")} for row in preview.rejects)
    show(rejected, as_json=False, title="rejects: the first" if preview.rejects else "rejects")
    counted = {
        "rows": preview.counts["rows"],
        "used": preview.counts["rows_used"],
        "rejected": preview.counts["rejected"],
        "fields rejected": preview.counts["fields_rejected"],
        "items": preview.counts["items_read"],
        "observations": preview.counts["observations_read"],
        "without price": preview.counts["observations_absent"],
        "impacts": preview.counts["impacts_read"],
        "factors": preview.counts["factors_read"],
    }
    show([counted], as_json=False, title="in all of the files")
    if preview.reasons:
        reasons = ({"reason": reason, "rejects": count} for reason, count in preview.reasons.most_common())
        show(reasons, as_json=False, title="why")
