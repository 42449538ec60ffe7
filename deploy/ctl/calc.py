"""`itemindex calc`: the formulae of the reports over files of your own. Nothing is loaded and no store is needed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from deploy.ctl.console import FiniteRange, errors, for_programs, json_option, show
from shared.analytics.outliers import CAUSES
from shared.errors import InvalidFile
from shared.money import CODES
from shared.price_index.panel import COLUMNS as INDEX_COLUMNS
from shared.price_index.panel import GRANULARITIES, IndexNotDefined, table_of
from shared.price_index.question import Output, Question, method_named, splice_named
from shared.price_index.rows import IndexRow, index_rows
from shared.price_index.series import measure_named
from shared.prior_price import COLUMNS as PRIOR_PRICE_COLUMNS
from shared.prior_price import Moment, Options, Reference, as_fields, channels_of, reference
from workers.analytics.rollups.outliers import COLUMNS as OUTLIER_COLUMNS
from workers.analytics.rollups.outliers import OPTIONAL, prices_of


@click.group()
def calc() -> None:
    """Compute price indices, reductions and outliers from files of your own."""


FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
COLUMN = click.option("--column", "columns", multiple=True, help="NAME=COLUMN if a column has another name: item=sku.")


class CsvFile(NamedTuple):
    """Rows of a file as text, and the columns that a command needs by its names, without spaces around values."""

    rows: pa.Table
    columns: dict[str, pa.ChunkedArray]


def csv_file(
    path: Path,
    names: Mapping[str, Sequence[str]],
    named: Sequence[str] | None = None,
    optional: Sequence[str] = (),
    *,
    whole: bool = False,
) -> CsvFile:
    """Read a CSV file, plain or compressed. `names` are the names that a column may have, in any case.

    `named` are the values of --column, of a command that has this option; the rows have the needed columns alone unless
    they are to be `whole`. Raises InvalidFile for a file that is not CSV in UTF-8 or has no rows, and for a column that
    it has not, or twice.
    """
    given = _given(named or (), names)
    parse = arrow_csv.ParseOptions(newlines_in_values=True)
    try:
        header = arrow_csv.open_csv(path, parse_options=parse).schema.names
        found = _found(header, names, given, optional, asks=named is not None)
        read = header if whole else list(dict.fromkeys(found.values()))
        as_text = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(read, pa.string()), include_columns=None if whole else read
        )
        rows = arrow_csv.read_csv(path, parse_options=parse, convert_options=as_text)
    except (pa.ArrowInvalid, UnicodeDecodeError, OSError) as error:
        raise InvalidFile(f"the file cannot be read as CSV in UTF-8: {error}") from None
    if not rows.num_rows:
        raise InvalidFile("the file has no row below its header")
    return CsvFile(rows, {column: pc.utf8_trim_whitespace(rows.column(label)) for column, label in found.items()})


def _found(
    header: list[str],
    names: Mapping[str, Sequence[str]],
    given: Mapping[str, str],
    optional: Sequence[str],
    *,
    asks: bool,
) -> dict[str, str]:
    """Return the file's label of each column that it has; `asks`: whether --column can name another."""
    usual = [name.strip().lower().replace(" ", "_") for name in header]
    found = {}
    for column, known in names.items():
        labels, wanted = (header, [given[column]]) if column in given else (usual, known)
        name = next((name for name in wanted if name in labels), None)
        if name is not None:
            if labels.count(name) > 1:
                raise InvalidFile(f"the file has more than one column `{name}`")
            found[column] = header[labels.index(name)]
        elif column not in optional or column in given:
            remedy = f"; name it by --column {column}=COLUMN" if asks else ""
            if any(separator in name for name in header for separator in ";\t|"):
                remedy = ": commas separate columns"
            raise InvalidFile(f"the file has no column `{wanted[0]}`{remedy}")
    return found


def _given(named: Sequence[str], names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    given = dict(text.partition("=")[::2] for text in named)
    if not given.keys() <= names.keys() or "" in given.values():
        raise click.BadParameter(f"NAME=COLUMN with a name of {', '.join(names)}", param_hint="--column")
    return given


# `itemindex calc outliers`: prices of a file that nothing confirms.


def _known_currency(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if value.upper() not in CODES:
        raise click.BadParameter("a currency is a code of ISO 4217, such as HKD")
    return value.upper()


@calc.command(epilog="Example: itemindex calc outliers prices.csv.gz --json")
@FILE
@click.option("--currency", default="HKD", callback=_known_currency, help="Currency of all prices.")
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


# `itemindex calc prior-price`: which price a reduction must be compared with, from a file of daily prices.


_DAY = click.DateTime(["%Y-%m-%d"])


@calc.command("prior-price", epilog="Example: itemindex calc prior-price prices.csv --asked-on 2026-03-02 --json")
@FILE
@click.option("--asked-on", type=_DAY, help="Date to evaluate; default: each channel's last day in the file.")
@click.option("--channel", help="Only this channel.")
@click.option(
    "--progressive",
    type=click.Choice(["yes", "no"]),
    help="The market applies Art. 6a(5): progressive reductions are compared with the price before the first step.",
)
@click.option(
    "--progressive-days",
    type=click.IntRange(1),
    help="With --progressive yes: steps must begin within this number of days after the first.",
)
@click.option("--new-arrivals", is_flag=True, help="The market applies Art. 6a(4): prices since the first offer count.")
@click.option(
    "--first-offered", type=_DAY, help="Day of the first offer; default with --new-arrivals: the file's first day."
)
@json_option
def prior_price(file: Path, channel: str | None, **given: Any) -> None:
    """Evaluate the current reduction of each channel under Directive 98/6/EC, Article 6a.

    FILE has the columns day, price, and optionally channel, time (HH:MM), status (offered, not offered, no observation)
    and list_price.
    """
    read = csv_file(file, PRIOR_PRICE_COLUMNS, optional=("channel", "time", "status", "list_price"))
    histories = channels_of({name: column.to_pylist() for name, column in read.columns.items()})
    if channel is not None and channel not in histories:
        raise InvalidFile("the file has no price of this channel")
    asked_on = given["asked_on"].date() if given["asked_on"] else None
    rows = []
    for name in [channel] if channel is not None else sorted(histories):
        judged = reference(histories[name], asked_on, _options(histories[name], given))
        rows.append({"channel": name or None, **_shown(judged)})
    show(rows, title="prior prices")


def _options(moments: list[Moment], given: dict[str, Any]) -> Options:
    first: date | None = given["first_offered"].date() if given["first_offered"] else None
    if first is None and given["new_arrivals"]:
        first = min(moment.day for moment in moments)
    progressive = None if given["progressive"] is None else given["progressive"] == "yes"
    if given["progressive_days"] is not None and not progressive:
        raise click.BadParameter("needs --progressive yes: it limits that rule", param_hint="--progressive-days")
    return Options(progressive, given["progressive_days"], given["new_arrivals"], first)


def _shown(judged: Reference) -> dict[str, Any]:
    """Return a reference's fields; a table for people has no room for the evidence."""
    fields = as_fields(judged)
    if not for_programs():
        fields = {name: value for name, value in fields.items() if name not in ("evidence", "lowest_on")}
    return fields


# `itemindex calc index-numbers`: price index numbers from a file of prices and quantities.


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


@calc.command(
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
def index_numbers(file: Path, columns: tuple[str, ...], **given: Any) -> None:
    """Compute a price index from the columns period, item, price and (for weighted methods) quantity of a CSV FILE.

    Only items in both periods are compared. Several rows of an item in a period are combined: into their unit value, or
    their geometric mean without quantities.
    """
    read = csv_file(file, INDEX_COLUMNS, columns, optional=("quantity",))
    table = table_of(read.columns, given["granularity"])
    panel = table.panel.carried() if given["impute"] == "carry" else table.panel
    if given["kind"] == "quantity":
        panel = panel.exchanged()
    question = _question(table.periods, given)
    rows = index_rows(table.periods, panel, question, given["first"], interval=given["interval"])
    _warn(rows)
    show([asdict(row) if for_programs() else _rounded(row) for row in rows], title=f"{given['kind']} index")


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
