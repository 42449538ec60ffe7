"""`itemindex calc prior-price`: which price a reduction must be compared with, from a file of daily prices."""

from datetime import datetime
from pathlib import Path
from typing import TypedDict, Unpack

import click

from deploy.ctl.console import for_programs, json_option, show
from deploy.ctl.csv_file import FILE, csv_file
from shared.errors import InvalidFile
from shared.prior_price import COLUMNS as PRIOR_PRICE_COLUMNS
from shared.prior_price import Moment, Options, Reference, as_fields, channels_of, reference

_DAY = click.DateTime(["%Y-%m-%d"])


class _Choices(TypedDict):
    asked_on: datetime | None
    progressive: str | None
    progressive_days: int | None
    new_arrivals: bool
    first_offered: datetime | None


@click.command("prior-price", epilog="Example: itemindex calc prior-price prices.csv --asked-on 2026-03-02 --json")
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
def prior_price(file: Path, channel: str | None, **given: Unpack[_Choices]) -> None:
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
        rows.append({"channel": name or None, **_row(judged)})
    show(rows, title="prior prices")


def _options(moments: list[Moment], given: _Choices) -> Options:
    first = given["first_offered"].date() if given["first_offered"] else None
    if first is None and given["new_arrivals"]:
        first = min(moment.day for moment in moments)
    progressive = None if given["progressive"] is None else given["progressive"] == "yes"
    if given["progressive_days"] is not None and not progressive:
        raise click.BadParameter("needs --progressive yes: it limits that rule", param_hint="--progressive-days")
    return Options(progressive, given["progressive_days"], given["new_arrivals"], first)


def _row(judged: Reference) -> dict[str, object]:
    """Return a reference's fields; a table for people has no room for the evidence."""
    fields = as_fields(judged)
    if not for_programs():
        fields = {name: value for name, value in fields.items() if name not in ("evidence", "lowest_on")}
    return fields
