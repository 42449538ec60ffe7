"""`itemindex search`: build the index by hand, judge its relevance, time it."""

import json
from pathlib import Path

import click
from rich.progress import Progress

from deploy.ctl import search_bench, search_judge
from deploy.ctl.console import console, data_dir_option, json_option, settings, show
from shared.errors import ConfigurationError
from workers.search.job import make_index


@click.group()
def search() -> None:
    """Build, judge and time the search index."""


@search.command()
@data_dir_option
@json_option
def build(data_dir: Path, as_json: bool) -> None:
    """Build the index of the newest data_version, unless it is there. Each load does that by itself."""
    chosen = settings(data_dir)
    with Progress(console=console, disable=as_json, transient=True) as progress:
        task = progress.add_task("Building the search index", total=None)
        made = make_index(
            chosen.database_url,
            chosen.search_dir,
            lambda stage, done, total: progress.update(task, completed=done, total=total),
        )
    if not made["data_version"]:
        raise ConfigurationError("there is nothing to search yet; load something first: itemindex ingest --help")
    show([{**made, "folder": str(chosen.search_dir / str(made["data_version"]))}], as_json=as_json)


@search.command()
@click.argument("judged", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
def judge(judged: Path, as_json: bool) -> None:
    """Tell how good the order of hits is: NDCG@10 over a file of judged pairs of query and product.

    JUDGED is a CSV (also gzipped) with the columns query, product_title, product_description and median_relevance
    (1 to 4). All its products become items; all its queries are asked of all of them. A product that nobody judged for
    a query counts nothing for it.
    """
    verdict = search_judge.judge(judged)
    if as_json:
        click.echo(json.dumps(verdict.as_json(), indent=1))
        return
    console.print(f"{verdict.documents:,} products, {verdict.queries} queries, {verdict.judgements:,} judgements\n")
    show(verdict.rows(), as_json=False)


@search.command()
@click.option("--items", type=click.IntRange(1_000), default=1_000_000, show_default=True, help="Items in the index.")
@click.option("--queries", type=click.IntRange(10), default=200, show_default=True, help="Queries of each kind.")
@click.option(
    "--directory", type=click.Path(file_okay=False, path_type=Path), help="Keep the index here, and use it if it is."
)
@json_option
def bench(items: int, queries: int, directory: Path | None, as_json: bool) -> None:
    """Time every kind of query in an index of made-up items, none of it from a cache."""
    report = search_bench.run(items, queries, directory, console if not as_json else None)
    if as_json:
        click.echo(json.dumps(report.as_json(), indent=1))
        return
    console.print(report.summary())
    show(report.rows, as_json=False)
