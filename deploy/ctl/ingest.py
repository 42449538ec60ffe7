"""`itemindex ingest`: files through a mapping into the index."""

import dataclasses
import json
from contextlib import ExitStack
from pathlib import Path

import click

from deploy.ctl import feeds
from deploy.ctl.console import console, data_dir_option, json_option, settings, show, stored
from deploy.ctl.demo import load_demo
from deploy.ctl.loading import document, find_mapping, load_with_bar, show_summary, wait_for_index
from shared.db.connect import connect
from shared.errors import ConfigurationError, LoadRefused
from shared.printable import printable_lines
from shared.settings.settings import Settings
from workers.ingest import mapping as mappings
from workers.ingest.alt_names import alt_names
from workers.ingest.guess import guess
from workers.ingest.known_items import known_items
from workers.ingest.mapping import markdown
from workers.ingest.preview import Preview, Previewer
from workers.ingest.transform import Transformer

WITH_REJECTS = 3
"""The exit status of a load with --strict that was loaded and has rejects."""


class _DefaultToRun(click.Group):
    """Lets `itemindex ingest --mapping …` mean `itemindex ingest run --mapping …`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `run` in front where no subcommand is named."""
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_DefaultToRun)
def ingest() -> None:
    """Load files through a mapping: CSV, JSON, XML, spreadsheets, Parquet; plain, packed or in an archive.

    \b
    Examples:
      itemindex ingest --mapping deploy/mappings/hk_pricewatch.toml prices.csv.gz
      itemindex ingest --mapping mine.toml --dry-run mine.csv
      itemindex loads rejects
    The guide to a mapping of your own: deploy/guides/bring-your-own-data.md
    """


ingest.add_command(feeds.watch)
ingest.add_command(feeds.feeds)


@ingest.command()
@click.option("--mapping", "mapping_path", required=True, help="A mapping file, or the name of a shipped one.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Show the rows that would be loaded, with changes, rejects and links. Nothing is loaded.",
)
@click.option(
    "--rows", default=10, show_default=True, type=click.IntRange(1, 1_000), help="Rows to show with --dry-run."
)
@click.option(
    "--allow-merges",
    is_flag=True,
    help="Load even if the load merges more than a tenth of the index with other items.",
)
@click.option(
    "--member", help="File in a ZIP or tar archive that contains the rows, instead of the mapping's `member`."
)
@click.option("--strict", is_flag=True, help="Exit with status 3 if the load or dry run has rejects.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@stored
@click.pass_context
def run(
    ctx: click.Context,
    mapping_path: str,
    dry_run: bool,
    rows: int,
    allow_merges: bool,
    member: str | None,
    strict: bool,
    files: tuple[Path, ...],
    data_dir: Path,
    as_json: bool,
) -> None:
    """Load FILES; this is what `itemindex ingest` does when no other command is named.

    \b
    Exit status:
      0  everything was loaded, or the index has all of it already; also with rejects, unless --strict is given
      1  nothing was loaded: no row can be used, or the load was refused; the message says why
      2  an option or a file name is wrong
      3  with --strict: loaded, with rejects
    """
    mapping = mappings.read(find_mapping(mapping_path))
    if member:
        mapping = dataclasses.replace(mapping, member=member)
    if dry_run:
        rejected = show_preview(mapping, list(files), data_dir, rows=rows, as_json=as_json, allow_merges=allow_merges)
    else:
        chosen = settings(data_dir)
        summary = load_with_bar(chosen, mapping, list(files), quiet=as_json, merges_allowed=allow_merges)
        if summary.job_id is not None and not as_json:
            wait_for_index(chosen, summary.job_id)
        show_summary(summary, as_json=as_json)
        rejected = bool(summary.rejects or summary.field_rejects)
    if strict and rejected:
        ctx.exit(WITH_REJECTS)


@ingest.command("demo", epilog="Example: itemindex ingest demo")
@data_dir_option
def demo_(data_dir: Path) -> None:
    """Load the demo data, unless the index has data already."""
    if not load_demo(settings(data_dir), console):
        console.say("the index has, or had, data already: the demo data was not loaded")


@ingest.command("check", epilog="Example: itemindex ingest check mine.toml prices.csv")
@click.argument("mapping_path", required=False)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--keys", is_flag=True, help="Print every key of a mapping with its meaning and an example, as Markdown.")
@data_dir_option
@json_option
def check(mapping_path: str | None, files: tuple[Path, ...], keys: bool, data_dir: Path, as_json: bool) -> None:
    """Check that a mapping can be used; with FILES, show ten rows as they would load, and what would be rejected."""
    if (mapping_path is None) != keys:
        raise click.UsageError("name either a mapping or --keys")
    if mapping_path is None:
        click.echo(printable_lines(markdown()), nl=False)
        return
    mapping = mappings.read(find_mapping(mapping_path))
    if files:
        show_preview(mapping, list(files), data_dir, rows=10, as_json=as_json, allow_merges=True)
        return
    console.say(
        "[green]can be used[/]: source {source}, columns {columns}",
        source=mapping.source,
        columns=", ".join(mapping.columns),
    )


@ingest.command("guess", epilog="Example: itemindex ingest guess prices.csv > mine.toml")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--member", default="", help="File to read in a ZIP or tar archive.")
@click.option("--sheet", default="", help="Sheet to read in a spreadsheet.")
def guess_mapping(file: Path, member: str, sheet: str) -> None:
    """Write a first mapping for FILE. Each line states its evidence; each doubt is a line that begins with # CHECK.

    Where a value could be read in two ways the mapping has "?", and no load uses it until you have chosen.
    """
    click.echo(printable_lines(guess(file, member=member, sheet=sheet).text), nl=False)


def show_preview(
    mapping: mappings.Mapping, files: list[Path], data_dir: Path, *, rows: int, as_json: bool, allow_merges: bool
) -> bool:
    """Print the first rows of files, and what a load of them would come to; return whether it would have rejects.

    The load is made and rolled back. Where no index runs, the files are all that is read. Raises LoadRefused as the
    load would, after the rows are printed.
    """
    chosen = _index_of(data_dir)
    preview = _preview(mapping, files, chosen, rows)
    summary, refusal = None, preview.refusal
    if chosen is not None:
        try:
            summary = load_with_bar(chosen, mapping, files, quiet=as_json, merges_allowed=allow_merges, dry_run=True)
        except LoadRefused as error:
            refusal = error
    if as_json:
        rest = {"load": None if summary is None else document(summary), "refused": refusal and str(refusal)}
        click.echo(json.dumps({**preview.document(), **rest}, indent=1, default=str))
    else:
        _show_rows(preview, rows)
    if refusal is not None:
        raise refusal
    if summary is not None and not as_json:
        show_summary(summary, as_json=False, dry_run=True)
    elif not as_json:
        _show_counts(preview)
    return bool(preview.reasons)


def _index_of(data_dir: Path) -> Settings | None:
    try:
        return settings(data_dir)
    except ConfigurationError:
        return None


def _preview(mapping: mappings.Mapping, files: list[Path], chosen: Settings | None, rows: int) -> Preview:
    previewer = Previewer(mapping, shown=rows)
    if mapping.factors:
        return previewer.of_factors(files)
    with ExitStack() as opened:
        known = None
        if mapping.item and mapping.item.join_by:
            if chosen is None:
                raise LoadRefused("a mapping with `join_by` needs the index: start it with `itemindex up`")
            lookup = opened.enter_context(connect(chosen.database_url, application="ingest", autocommit=True))
            known = known_items(lookup, mapping.item, mapping.source)
        return previewer.of_items(files, Transformer(mapping, alt_names(mapping, files), known=known))


def _show_rows(preview: Preview, rows: int) -> None:
    for kind in ("items", "observations", "impacts", "factors"):
        listed = getattr(preview, kind)[:rows]
        if listed:
            show(listed, as_json=False, title=f"{kind}: the first {len(listed)}")
    rejected = ({name: row[name] for name in ("file", "line", "column", "value", "reason")} for row in preview.rejects)
    show(rejected, as_json=False, title="rejects: the first" if preview.rejects else "rejects")


def _show_counts(preview: Preview) -> None:
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
    console.say(
        "No index runs here, so it is not known what would change or be joined: start one with `itemindex up`, or set "
        "DATABASE_URL, and try again."
    )
