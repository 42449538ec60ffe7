"""`python -m tests.assurance.perf.search_commands`: the relevance of the search, and its speed."""

import json
from pathlib import Path

import click

from deploy.ctl.console import console, for_programs, json_option, show
from deploy.ctl.main import run
from tests.assurance.perf import search_bench, search_evaluation

_JUDGED = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def commands() -> None:
    """Measure the search: relevance over judged queries, latency of every kind of query."""


@commands.command(epilog="Example: python -m tests.assurance.perf.search_commands evaluate judged_queries.csv.gz")
@click.argument("judged", type=_JUDGED)
@json_option
def evaluate(judged: Path) -> None:
    """Measure relevance as NDCG@10 over a file of judged pairs of query and product.

    JUDGED is a CSV file (may be gzipped) with the columns query, product_title, product_description and
    median_relevance (1 to 4). Every product becomes an item, and every query is run over all of them. A product
    without a judgement for a query counts as irrelevant.
    """
    verdict = search_evaluation.judge(judged)
    if for_programs():
        click.echo(json.dumps(verdict.as_json(), indent=1))
        return
    console.print(f"{verdict.documents:,} products, {verdict.queries} queries, {verdict.judgements:,} judgements\n")
    show(verdict.rows())


@commands.command(epilog="Example: python -m tests.assurance.perf.search_commands bench --items 100000")
@click.option("--items", type=click.IntRange(1_000), default=1_000_000, show_default=True, help="Items in the index.")
@click.option("--queries", type=click.IntRange(10), default=200, show_default=True, help="Queries of each kind.")
@click.option(
    "--directory", type=click.Path(file_okay=False, path_type=Path), help="Keep the index here, and reuse it."
)
@json_option
def bench(items: int, queries: int, directory: Path | None) -> None:
    """Measure the latency of every kind of query in an index of generated items, without caches."""
    report = search_bench.run(items, queries, directory, console if not for_programs() else None)
    if for_programs():
        click.echo(json.dumps(report.as_json(), indent=1))
        return
    console.print(report.summary())
    show(report.rows)


if __name__ == "__main__":
    run(commands)
