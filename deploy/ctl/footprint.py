"""`itemindex calc footprint`: how honest the intervals of footprints are."""

import json
from pathlib import Path
from typing import Any

import click

from deploy.ctl.console import console, json_option, show
from shared.errors import InvalidFile
from shared.uncertainty import evaluation
from shared.uncertainty import evaluation as csv_file
from shared.uncertainty.stated import SAMPLES_MIN

SHARE_MIN = 0.9
"""At least so many true values must lie inside the stated 95 %."""


@click.command(epilog="Example: itemindex calc footprint devices.csv --category type --value gwp_total --json")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--value", help="Column of the figures; by default the one whose header looks like it.")
@click.option("--category", help="Column of the categories; a path's levels are separated by > or /.")
@click.option("--name", help="Column of the names.")
@click.option("--unit", help="Column of the units; figures of different units are apart.")
@click.option("--weight", help="Column of weights in kg: figures are then per kilogram.")
@json_option
def evaluate(file: Path, as_json: bool, **chosen: str | None) -> None:
    """Cross-validate: how many held-out figures of FILE are inside the 95 % interval that the others give them.

    Once a whole category at a time (its items are estimated from the nearest category above it, or are unknown), once
    an item at a time (estimated from its category), and once with so many samples of its category known. FILE is CSV
    with a row for each known figure.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            read = csv_file.read(text, {role: column for role, column in chosen.items() if column is not None})
    except UnicodeDecodeError:
        raise InvalidFile("the file is not UTF-8") from None
    if len({sample.category for sample in read.samples}) < 2:
        raise InvalidFile("the file needs positive figures of at least two categories")
    held_out = evaluation.without_category(read.samples)
    summaries = {
        "leave_one_category_out": evaluation.summary(held_out),
        "leave_one_item_out": evaluation.summary(left_out := evaluation.without_item(read.samples)),
        **{
            f"of_{kept}_samples": evaluation.summary(evaluation.without_item(read.samples, kept))
            for kept in range(1, SAMPLES_MIN)
        },
    }
    categories = evaluation.by_category(left_out)
    if as_json:
        click.echo(json.dumps(_document(read, summaries, categories), indent=1))
        return
    show(categories, as_json=False, title="each category, one item at a time held out")
    for way, summary in summaries.items():
        share = "nothing estimated" if summary["share_inside"] is None else f"{summary['share_inside']:.1%} inside"
        console.say(
            "{way}: {share} of {estimated}, high / low {median_high_over_low}, {unknown} unknown",
            way=way,
            share=share,
            **summary,
        )


def _document(read: csv_file.Read, summaries: dict[str, Any], categories: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "samples": len(read.samples),
        "unusable": read.unusable,
        "columns": read.columns,
        "per": "kg" if read.per_kg else "unit",
        "target_share": SHARE_MIN,
        **summaries,
        "categories": categories,
    }
