"""`itemindex ingest`: files through a mapping into the index."""

import dataclasses
from pathlib import Path

import click

from deploy.ctl.console import console, data_dir_option, for_programs, print_json, report, settings, show, store_options
from deploy.ctl.demo import load_demo
from deploy.ctl.run_load import document, find_mapping, load_with_bar, show_summary, wait_for_index
from shared.errors import ConfigurationError, LoadRefused
from shared.printable import printable_lines
from shared.settings.settings import Settings
from workers.ingest import mapping as mappings
from workers.ingest.guess.guess import guess
from workers.ingest.load.alt_names import alt_names
from workers.ingest.load.preview import Preview, Previewer
from workers.ingest.load.summary import Summary
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
    The guide to a mapping of your own: docs/guides/bring-your-own-data.md
    """


@ingest.command(epilog="Example: itemindex ingest --mapping mine.toml prices.csv")
@click.option("--mapping", "mapping_path", required=True, help="A mapping file, or the name of a shipped one.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Show the rows that would be loaded, with changes, rejects and links; without FILES, check the mapping alone. "
    "Nothing is loaded.",
)
@click.option("--rows", default=10, type=click.IntRange(1, 1_000), help="Rows to show with --dry-run.")
@click.option(
    "--allow-merges", is_flag=True, help="Load even if the load merges more than a tenth of the index with other items."
)
@click.option(
    "--member", help="File in a ZIP or tar archive that contains the rows, instead of the mapping's `member`."
)
@click.option("--strict", is_flag=True, help="Exit with status 3 if the load or dry run has rejects.")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@store_options
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
) -> None:
    """Load FILES; `itemindex ingest` without another command does the same.

    \b
    Exit status:
      0  everything was loaded or already in the index; also with rejects, unless --strict is given
      1  nothing was loaded: no row can be used, or the load was refused; the message says why
      2  an option or a file name is wrong
      3  with --strict: loaded, with rejects
    """
    mapping = mappings.read(find_mapping(mapping_path))
    if member:
        mapping = dataclasses.replace(mapping, member=member)
    if not files:
        if not dry_run:
            raise click.UsageError("name the files to load; with --dry-run and none, the mapping alone is checked")
        columns = ", ".join(mapping.columns)
        report("can be used: source {source}, columns {columns}", source=mapping.source, columns=columns)
        return
    if dry_run:
        rejected = show_preview(mapping, list(files), rows=rows, allow_merges=allow_merges)
    else:
        chosen = settings()
        summary = load_with_bar(chosen, mapping, list(files), merges_allowed=allow_merges)
        if summary.job_id is not None and not for_programs():
            wait_for_index(summary.job_id)
        show_summary(summary)
        rejected = bool(summary.rejects or summary.field_rejects)
    if strict and rejected:
        ctx.exit(WITH_REJECTS)


@ingest.command("demo", epilog="Example: itemindex ingest demo")
@data_dir_option
def demo_() -> None:
    """Load the demo data, unless the index has data already."""
    if not load_demo(settings(), console):
        console.say("the index has, or had, data already: the demo data was not loaded")


@ingest.command("guess", epilog="Example: itemindex ingest guess prices.csv > mine.toml")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--member", default="", show_default=False, help="File to read in a ZIP or tar archive.")
@click.option("--sheet", default="", show_default=False, help="Sheet to read in a spreadsheet.")
def guess_mapping(file: Path, member: str, sheet: str) -> None:
    """Write a first mapping for FILE. Each line states its evidence; open questions begin with # CHECK.

    If a value could be read in two ways, the mapping has "?", and loads refuse it until you choose.
    """
    click.echo(printable_lines(guess(file, member=member, sheet=sheet).text), nl=False)


def show_preview(mapping: mappings.Mapping, files: list[Path], *, rows: int, allow_merges: bool) -> bool:
    """Print the first rows of files, and what a load of them would come to; return whether it would have rejects.

    The load is made and rolled back. Where no index runs, the files are all that is read. Raises LoadRefused as the
    load would, after the rows are printed.
    """
    index, previewer = _index_of(), Previewer(mapping, shown=rows)
    _read_rows(previewer, mapping, files, without_index=index is None)
    summary = refusal = None
    if index is not None:
        try:
            summary = load_with_bar(
                index, mapping, files, merges_allowed=allow_merges, dry_run=True, show=previewer.keep_rows
            )
        except LoadRefused as error:
            refusal = error
    preview = previewer.preview()
    refusal = refusal or (preview.refusal if index is None else None)
    if for_programs():
        rest = {"load": None if summary is None else document(summary), "refused": refusal and str(refusal)}
        print_json({**preview.document(), **rest})
    else:
        _show_rows(preview, rows)
    if refusal is not None:
        raise refusal
    if not for_programs():
        _show_outcome(preview, summary)
    return bool(preview.reasons if summary is None else summary.rejects or summary.field_rejects)


def _read_rows(previewer: Previewer, mapping: mappings.Mapping, files: list[Path], *, without_index: bool) -> None:
    """Read what a load would not show: factors, and everything where no index runs. Raises LoadRefused."""
    if mapping.factors:
        previewer.of_factors(files)
    elif without_index:
        if mapping.item and mapping.item.join_by:
            raise LoadRefused("a mapping with `join_by` needs the index: start it with `itemindex up`")
        previewer.of_items(files, Transformer(mapping, alt_names(mapping, files)))


def _show_outcome(preview: Preview, summary: Summary | None) -> None:
    if summary is None:
        _show_counts(preview)
    else:
        show_summary(summary, dry_run=True)


def _index_of() -> Settings | None:
    try:
        return settings()
    except ConfigurationError:
        return None


def _show_rows(preview: Preview, rows: int) -> None:
    for kind in ("items", "observations", "impacts", "factors"):
        listed = getattr(preview, kind)[:rows]
        if listed:
            show(listed, title=f"{kind}: the first {len(listed)}")
    rejected = ({name: row[name] for name in ("file", "line", "column", "value", "reason")} for row in preview.rejects)
    show(rejected, title="rejects: the first" if preview.rejects else "rejects")


def _show_counts(preview: Preview) -> None:
    counted = {name.replace("_", " "): count for name, count in preview.counts.items()}
    show([counted], title="in all of the files")
    if preview.reasons:
        reasons = ({"reason": reason, "rejects": count} for reason, count in preview.reasons.most_common())
        show(reasons, title="why")
    console.say(
        "No index runs here, so it is not known what would change or be joined: start one with `itemindex up`, or set "
        "DATABASE_URL, and try again."
    )
