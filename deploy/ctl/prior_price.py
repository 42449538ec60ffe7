"""`itemindex calc prior-price`: which price a reduction must be compared with, from a file of daily prices."""

from datetime import date
from pathlib import Path
from typing import Any

import click

from deploy.ctl.console import json_option, show
from shared.errors import InvalidFile
from shared.prior_price import csv_file
from shared.prior_price.model import Moment, Options, Reference
from shared.prior_price.reduction import as_fields, reference

_DAY = click.DateTime(["%Y-%m-%d"])


@click.command("prior-price", epilog="Example: itemindex calc prior-price prices.csv --asked-on 2026-03-02 --json")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--asked-on", type=_DAY, help="The day to judge; by default each channel's last day in the file.")
@click.option("--channel", help="Only this channel.")
@click.option(
    "--progressive",
    type=click.Choice(["yes", "no"]),
    help="Whether the market uses Art. 6a(5): a progressive reduction has the price before its first step.",
)
@click.option(
    "--progressive-days", type=click.IntRange(1), help="Steps must begin within this number of days after the first."
)
@click.option("--new-arrivals", is_flag=True, help="The market uses Art. 6a(4): prices since first offered count.")
@click.option(
    "--first-offered", type=_DAY, help="Day of the first offer; default with --new-arrivals: the file's first day."
)
@json_option
def prior_price(file: Path, channel: str | None, as_json: bool, **given: Any) -> None:
    """Judge the running reduction of each channel by Directive 98/6/EC Art. 6a.

    FILE has the columns day, price, and optionally channel, time (HH:MM), status (offered, not offered, no observation)
    and list_price.
    """
    with file.open(encoding="utf-8-sig", newline="") as text:
        try:
            histories = csv_file.read(text)
        except UnicodeDecodeError:
            raise InvalidFile("the file is not UTF-8") from None
    if channel is not None and channel not in histories:
        raise InvalidFile("the file has no price of this channel")
    asked_on = given["asked_on"].date() if given["asked_on"] else None
    rows = []
    for name in [channel] if channel is not None else sorted(histories):
        judged = reference(histories[name], asked_on, _options(histories[name], given))
        rows.append({"channel": name or None, **_shown(judged, as_json)})
    show(rows, as_json=as_json, title="prior prices")


def _options(moments: list[Moment], given: dict[str, Any]) -> Options:
    first: date | None = given["first_offered"].date() if given["first_offered"] else None
    if first is None and given["new_arrivals"]:
        first = min(one.day for one in moments)
    progressive = None if given["progressive"] is None else given["progressive"] == "yes"
    return Options(progressive, given["progressive_days"], given["new_arrivals"], first)


def _shown(judged: Reference, as_json: bool) -> dict[str, Any]:
    """Return a reference's fields; a table for people has no room for the evidence."""
    fields = as_fields(judged)
    if not as_json:
        fields = {name: value for name, value in fields.items() if name not in ("evidence", "lowest_on")}
    return fields
