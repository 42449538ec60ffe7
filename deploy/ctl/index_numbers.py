"""`itemindex calc index-numbers`: price index numbers from a file of prices and quantities."""

from dataclasses import asdict
from pathlib import Path
from typing import TypedDict, Unpack

import click

from deploy.ctl.console import errors, for_programs, json_option, show
from deploy.ctl.csv_file import COLUMN, FILE, csv_file
from deploy.ctl.parameter_types import FiniteRange
from shared.errors import InvalidFile
from shared.price_index.panel import COLUMNS as INDEX_COLUMNS
from shared.price_index.panel import GRANULARITIES, IndexNotDefined, table_of
from shared.price_index.question import DummyWeights, IndexQuestion, Output, Sample, method_named, splice_named
from shared.price_index.rows import IndexRow, index_rows
from shared.price_index.similarity import measure_named

_OUTPUTS: dict[str, Output] = {"chained": "chained", "fixed": "fixed", "fixedbase": "fixed", "pop": "pop"}
_HELP = {
    "method": "jevons, fisher, geks-tornqvist, tpd, geary-khamis …; a wrong name lists them all.",
    "output": "For a formula between two periods: chained, against one base period, or period on period (pop).",
    "window": "Periods of a window, for geks-*, tpd and geary-khamis; default: all.",
    "splice": "movement, window, half, mean; *-published; fbew, fbmw; or the number of a period of the window.",
    "chain_method": "Link to the previous period, or to the most similar: plspread, logquadratic, asymplinear, …",
    "base": "The period whose index is --first (default: the first); a formula between two periods compares with it, "
    "unless --output says otherwise.",
    "basket": "The period whose quantities lowe and young use (default: the first).",
    "sigma": "Elasticity of substitution, for lloyd-moulton and agmean.",
    "weights": "How tpd weights prices; default: by shares if there are quantities.",
    "bias_adjust": "For tpd between two periods: Kennedy's correction.",
    "kind": "Price or quantity index; the latter exchanges prices and quantities.",
    "impute": "Carry a missing price forward, or else back, with quantity 0.",
    "sample": "matched: only items that occur in every period of a window.",
    "first": "The index of the base period.",
}


class _Options(TypedDict):
    method: str
    output: str | None
    window: int | None
    splice: str
    chain_method: str
    base: str | None
    basket: str | None
    sigma: float
    weights: DummyWeights | None
    bias_adjust: bool
    kind: str
    impute: str
    sample: Sample
    granularity: str | None
    first: float
    interval: bool


@click.command(
    "index-numbers", epilog="Example: itemindex calc index-numbers prices.csv --method geks-jevons --window 13 --json"
)
@FILE
@click.option("--method", required=True, help=_HELP["method"])
@click.option("--output", type=click.Choice([*_OUTPUTS], case_sensitive=False), help=_HELP["output"])
@click.option("--window", type=click.IntRange(2), help=_HELP["window"])
@click.option("--splice", default="mean", help=_HELP["splice"])
@click.option("--chain-method", default="previous", help=_HELP["chain_method"])
@click.option("--base", "--base-period", help=_HELP["base"])
@click.option("--basket", "--basket-period", help=_HELP["basket"])
@click.option("--sigma", type=FiniteRange(), default=0.0, help=_HELP["sigma"])
@click.option("--weights", type=click.Choice(["unit", "average", "shares"]), help=_HELP["weights"])
@click.option("--bias-adjust/--no-bias-adjust", show_default=False, help=_HELP["bias_adjust"])
@click.option("--kind", type=click.Choice(["price", "quantity"]), default="price", help=_HELP["kind"])
@click.option("--impute", type=click.Choice(["none", "carry"]), default="none", help=_HELP["impute"])
@click.option("--sample", type=click.Choice(["all", "matched"]), default="all", help=_HELP["sample"])
@click.option("--granularity", type=click.Choice([*GRANULARITIES]), help="Combine days into longer periods.")
@click.option("--first", type=FiniteRange(), default=100.0, help=_HELP["first"])
@click.option("--interval", is_flag=True, help="With a 95 % interval, by a jackknife over items.")
@COLUMN
@json_option
def index_numbers(file: Path, columns: tuple[str, ...], **given: Unpack[_Options]) -> None:
    """Compute a price index from the columns period, item, price and (for weighted methods) quantity of a CSV FILE.

    Only items in both periods are compared. Several rows of an item in a period are combined: into their unit value, or
    their geometric mean without quantities.
    """
    read = csv_file(file, INDEX_COLUMNS, columns, optional=("quantity",))
    table = table_of(read.columns, given["granularity"])
    panel = table.panel.with_carried_prices() if given["impute"] == "carry" else table.panel
    if given["kind"] == "quantity":
        panel = panel.quantity_panel()
    question = _question(table.periods, given)
    rows = index_rows(table.periods, panel, question, given["first"], interval=given["interval"])
    _warn(rows)
    show([asdict(row) if for_programs() else _round(row) for row in rows], title=f"{given['kind']} index")


def _question(periods: list[str], given: _Options) -> IndexQuestion:
    method = method_named(given["method"])
    output = _OUTPUTS[given["output"]] if given["output"] else None
    links = measure_named(given["chain_method"])
    if output is None and links != "previous":
        output = "chained"
    elif output is None and given["base"] is not None and not method.over_window:
        output = "fixed"
    question = IndexQuestion(
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


def _round(row: IndexRow) -> dict[str, object]:
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
