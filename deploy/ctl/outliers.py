"""`itemindex outliers`: prices of a file that their neighbours contradict, and how well such errors are found."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from deploy.ctl.console import json_option, show
from deploy.ctl.numbers import FiniteRange
from shared.analytics.outliers import CAUSES
from shared.errors import InvalidFile
from tests.perf import outlier_trial
from workers.analytics.rollups import outlier_file

_FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_COLUMN = click.option("--column", "columns", multiple=True, help="NAME=COLUMN where a column has another name.")
_CURRENCY = click.option("--currency", default="HKD", show_default=True, help="The currency of all prices.")
_FALSE = ("", "0", "false", "no")


@click.group()
def outliers() -> None:
    """Find prices that their neighbours contradict, in a CSV file with the columns item, channel, day and price.

    A load does the same with all observations.
    """


@outliers.command("find", epilog="Example: itemindex outliers find prices.csv.gz --json")
@_FILE
@_CURRENCY
@_COLUMN
@json_option
def find(file: Path, currency: str, columns: tuple[str, ...], as_json: bool) -> None:
    """List the observations that statistics would set aside, each with its likely cause."""
    read = outlier_file.read(file, _names(columns), currency)
    letters = read.outliers(read.price)
    positions = np.flatnonzero(letters != b"-")
    rows = read.rows.take(positions).to_pylist()
    flagged = [
        {"row": int(position) + 1, "cause": CAUSES[letters[position].decode()], **row}
        for position, row in zip(positions, rows, strict=True)
    ]
    show(flagged, as_json=as_json, title="outliers")


@outliers.command(epilog="Example: itemindex outliers evaluate prices.csv.gz --rate 0.01 --seed 1 --json")
@_FILE
@_CURRENCY
@_COLUMN
@click.option("--truth", help="A column that says which rows are wrong; then no errors are planted.")
@click.option("--rate", type=FiniteRange(0, 0.5), default=0.01, show_default=True, help="Share of planted errors.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the planted errors.")
@json_option
def evaluate(
    file: Path, currency: str, columns: tuple[str, ...], truth: str | None, rate: float, seed: int, as_json: bool
) -> None:
    """Measure precision and recall: on errors planted into the file, or on those that a column names."""
    read = outlier_file.read(file, _names(columns), currency)
    if truth is None:
        planted = outlier_trial.plant(read.price, currency, rate, seed)
        said: dict[str, Any] = {"rate": rate, "seed": seed}
    else:
        planted = outlier_trial.Planted(read.price, _errors(read, truth))
        said = {"truth": truth}
    score = outlier_trial.score(read.outliers(planted.price), planted.error)
    show([{**said, **asdict(score)}], as_json=as_json, title="outliers")


def _errors(read: outlier_file.PriceFile, truth: str) -> Any:
    if truth not in read.rows.column_names:
        raise InvalidFile(f"the file has no column `{truth}`")
    return np.array(["" if text.strip().lower() in _FALSE else "error" for text in read.rows[truth].to_pylist()])


def _names(columns: tuple[str, ...]) -> dict[str, str]:
    names = dict(text.partition("=")[::2] for text in columns)
    if not names.keys() <= outlier_file.NAMES.keys() or "" in names.values():
        raise click.BadParameter(f"NAME=COLUMN with a name of {', '.join(outlier_file.NAMES)}", param_hint="--column")
    return names
