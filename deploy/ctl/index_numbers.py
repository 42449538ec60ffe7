"""`itemindex calc index-numbers`: price index numbers from a file of prices and quantities."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from deploy.ctl.console import errors, json_option, show
from shared.errors import InvalidFile
from shared.price_index import csv_file
from shared.price_index.csv_file import GRANULARITIES
from shared.price_index.panel import IndexNotDefined
from shared.price_index.question import Output, Question, method_named, splice_named
from shared.price_index.rows import IndexRow, Resampling, index_rows
from shared.price_index.series import measure_named

_OUTPUTS: dict[str, Output] = {"chained": "chained", "fixed": "fixed", "fixedbase": "fixed", "pop": "pop"}
_HELP = {
    "method": "jevons, fisher, geks-tornqvist, tpd, geary-khamis …; a wrong name lists them all.",
    "output": "For a formula between two periods: chained, against one base period, or period on period (pop).",
    "window": "Periods of a window, for geks-*, tpd and geary-khamis; by default all.",
    "splice": "movement, window, half, mean; *-published; fbew, fbmw; or the number of a period of the window.",
    "chain_method": "Link to the period before, or to the most similar: plspread, logquadratic, asymplinear, …",
    "base": "The period whose index is --first (default: the first); a formula between two periods compares with it, "
    "unless --output says otherwise.",
    "basket": "The period whose quantities lowe and young use (default: the first).",
    "sigma": "Elasticity of substitution, for lloyd-moulton and agmean.",
    "weights": "How tpd weights prices; by default by shares where there are quantities.",
    "bias_adjust": "For tpd between two periods: Kennedy's correction.",
    "kind": "A quantity index exchanges prices and quantities.",
    "impute": "Carry a missing price forward, else back, with the quantity 0.",
    "sample": "matched: only items that occur in every period of a window.",
    "first": "The index of the base period.",
}


class _Finite(click.ParamType[float]):
    name = "number"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.fail("a finite number", parameter, context)
        return number


@click.command(
    "index-numbers", epilog="Example: itemindex calc index-numbers prices.csv --method geks-jevons --window 13 --json"
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--method", required=True, help=_HELP["method"])
@click.option("--output", type=click.Choice([*_OUTPUTS], case_sensitive=False), help=_HELP["output"])
@click.option("--window", type=click.IntRange(2), help=_HELP["window"])
@click.option("--splice", default="mean", show_default=True, help=_HELP["splice"])
@click.option("--chain-method", default="previous", show_default=True, help=_HELP["chain_method"])
@click.option("--base", "--base-period", help=_HELP["base"])
@click.option("--basket", "--basket-period", help=_HELP["basket"])
@click.option("--sigma", type=_Finite(), default=0.0, show_default=True, help=_HELP["sigma"])
@click.option("--weights", type=click.Choice(["unit", "average", "shares"]), help=_HELP["weights"])
@click.option("--bias-adjust/--no-bias-adjust", help=_HELP["bias_adjust"])
@click.option(
    "--kind", type=click.Choice(["price", "quantity"]), default="price", show_default=True, help=_HELP["kind"]
)
@click.option("--impute", type=click.Choice(["none", "carry"]), default="none", show_default=True, help=_HELP["impute"])
@click.option("--sample", type=click.Choice(["all", "matched"]), default="all", show_default=True, help=_HELP["sample"])
@click.option("--granularity", type=click.Choice([*GRANULARITIES]), help="Combine days into longer periods.")
@click.option("--first", type=_Finite(), default=100.0, show_default=True, help=_HELP["first"])
@click.option("--bootstrap", type=click.IntRange(1, 100_000), help="Replicates of a 95 % interval over items.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--column", "columns", multiple=True, help="NAME=COLUMN where a column has another name: item=sku.")
@json_option
def index_numbers(file: Path, columns: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Compute a price index from the columns period, item, price and (for weighted methods) quantity of a CSV FILE.

    Items are compared where both periods have them. Several rows of one item in one period become one: their unit
    value, without quantities their geometric mean.
    """
    table = csv_file.read(file, _columns(columns), given["granularity"])
    panel = table.panel.carried() if given["impute"] == "carry" else table.panel
    if given["kind"] == "quantity":
        panel = panel.exchanged()
    resampling = Resampling(given["bootstrap"], given["seed"]) if given["bootstrap"] else None
    rows = index_rows(table.periods, panel, _question(table.periods, given), given["first"], resampling)
    _warn(rows)
    show([asdict(row) if as_json else _rounded(row) for row in rows], as_json=as_json, title=f"{given['kind']} index")


def _question(periods: list[str], given: dict[str, Any]) -> Question:
    method = method_named(given["method"])
    output = _OUTPUTS[given["output"]] if given["output"] else None
    links = measure_named(given["chain_method"])
    if output is None and links != "previous":
        output = "chained"
    elif output is None and given["base"] is not None and not method.over_window:
        output = "fixed"
    question = Question(
        method=method,
        output=output,
        links=links,
        window=given["window"],
        splice=splice_named(given["splice"]),
        sample=given["sample"],
        base=_position(periods, given["base"], "base"),
        basket=_position(periods, given["basket"], "basket"),
        sigma=given["sigma"],
        weights=given["weights"],
        bias_adjust=given["bias_adjust"],
    )
    if question.window is not None and not question.over_window:
        errors.say(
            "[yellow]--window is not used: {method} compares two periods; geks-*, tpd, geary-khamis have windows[/]",
            method=method.name,
            soft_wrap=True,
        )
    if method.geks and (output == "pop" or links != "previous"):
        raise IndexNotDefined(f"--output pop, --chain-method: {method.name} is one series over all periods of a window")
    return question


def _position(periods: list[str], label: str | None, option: str) -> int:
    if label is None:
        return 0
    if label not in periods:
        raise InvalidFile(f"--{option}: not a period of the file")
    return periods.index(label)


def _columns(named: tuple[str, ...]) -> dict[str, str]:
    columns = dict(pair.split("=", 1) for pair in named if "=" in pair)
    if len(columns) != len(named) or not columns.keys() <= {"period", "item", "price", "quantity"}:
        raise InvalidFile("--column: period=, item=, price= or quantity= and the column's name in the file")
    return columns


def _rounded(row: IndexRow) -> dict[str, Any]:
    """Return a row's fields with as many digits as a person reads."""
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(row).items()}


def _warn(rows: list[IndexRow]) -> None:
    missing = [row.period for row in rows if row.index is None]
    if missing:
        errors.say(
            "[yellow]periods without an index: {count}, first {period}: no matched item connects it with the others; "
            "weighted methods count items with sales[/]",
            count=len(missing),
            period=missing[0],
            soft_wrap=True,
        )
