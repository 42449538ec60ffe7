"""`itemindex calc outliers`: prices of a file that their neighbours contradict."""

from pathlib import Path

import click
import numpy as np

from deploy.ctl.console import json_option, show
from shared.analytics.outliers import CAUSES
from workers.analytics.rollups import outlier_file

FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
COLUMN = click.option("--column", "columns", multiple=True, help="NAME=COLUMN where a column has another name.")
CURRENCY = click.option("--currency", default="HKD", show_default=True, help="The currency of all prices.")


@click.command(epilog="Example: itemindex calc outliers prices.csv.gz --json")
@FILE
@CURRENCY
@COLUMN
@json_option
def find(file: Path, currency: str, columns: tuple[str, ...], as_json: bool) -> None:
    """List the observations that statistics would set aside, each with its likely cause.

    FILE is CSV with the columns item, channel, day and price. A load does the same with all observations.
    """
    read = outlier_file.read(file, names_of(columns), currency)
    letters = read.outliers(read.price)
    positions = np.flatnonzero(letters != b"-")
    rows = read.rows.take(positions).to_pylist()
    flagged = [
        {"row": int(position) + 1, "cause": CAUSES[letters[position].decode()], **row}
        for position, row in zip(positions, rows, strict=True)
    ]
    show(flagged, as_json=as_json, title="outliers")


def names_of(columns: tuple[str, ...]) -> dict[str, str]:
    """Return the columns named by `--column`, by the names that the file's reader knows."""
    names = dict(text.partition("=")[::2] for text in columns)
    if not names.keys() <= outlier_file.NAMES.keys() or "" in names.values():
        raise click.BadParameter(f"NAME=COLUMN with a name of {', '.join(outlier_file.NAMES)}", param_hint="--column")
    return names
