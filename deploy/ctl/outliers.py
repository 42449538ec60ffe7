"""`itemindex calc outliers`: prices of a file that nothing confirms."""

from pathlib import Path

import click
import numpy as np

from deploy.ctl.console import json_option, show
from deploy.ctl.csv_file import COLUMN, FILE, csv_file
from shared.analytics.outliers import CAUSES
from shared.currencies import CODES
from workers.analytics.rollups.price_file import COLUMNS as OUTLIER_COLUMNS
from workers.analytics.rollups.price_file import OPTIONAL, prices_of


def _check_currency(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if value.upper() not in CODES:
        raise click.BadParameter("a currency is a code of ISO 4217, such as HKD")
    return value.upper()


@click.command(epilog="Example: itemindex calc outliers prices.csv.gz --json")
@FILE
@click.option("--currency", default="HKD", callback=_check_currency, help="Currency of all prices.")
@COLUMN
@json_option
def outliers(file: Path, currency: str, columns: tuple[str, ...]) -> None:
    """List the observations that statistics would exclude as outliers, each with its likely cause.

    FILE is CSV with the columns item, channel, day, price and, if known, list_price. Loads apply the same method.
    """
    read = csv_file(file, OUTLIER_COLUMNS, columns, OPTIONAL, whole=True)
    prices = prices_of(read.columns, currency)
    letters = prices.outliers(prices.price)
    positions = np.flatnonzero(letters != b"-")
    rows = read.rows.take(positions).to_pylist()
    flagged = [
        {"row": int(position) + 1, "cause": CAUSES[letters[position].decode()], **row}
        for position, row in zip(positions, rows, strict=True)
    ]
    show(flagged, title="outliers")
