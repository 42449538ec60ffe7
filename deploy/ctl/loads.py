"""`itemindex loads`, `items`, `observations` and `rates`: what changed the index, and how to undo an event."""

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

import click

from deploy.ctl.console import (
    Iid,
    console,
    database,
    for_programs,
    limit_option,
    print_json,
    reason_option,
    report,
    rows_of,
    settings,
    show,
    stored,
    table,
)
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError, LoadRefused
from workers.ingest.rates import SQL as RATES
from workers.ingest.rates import Terms
from workers.ingest.rates import load as load_rate_file
from workers.provenance import events, item_acts, standing
from workers.provenance.item_acts import Chosen, delete
from workers.provenance.undo import extent, undo

# `itemindex rates`: tables of exchange rates, by which answers convert amounts where a caller asks for it.


_NAME = r"[a-z][a-z0-9_]{0,62}"


@click.group()
def rates() -> None:
    """Load and list tables of exchange rates.

    Amounts are converted only if a call requests it: `convert=USD&rates=ecb`.
    """


@rates.command("load", epilog="Example: itemindex rates load eurofxref-hist.csv --name ecb")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", required=True, help="Name of the table in calls: lower-case letters, digits, underscores.")
@click.option("--title", help="Source of the rates; default: the European Central Bank.")
@click.option("--url", help="Address of the publication; default: the European Central Bank's page.")
@click.option("--license", "license_", help="Terms of use; default: those of the European Central Bank.")
@stored
def load_rates(file: Path, name: str, title: str | None, url: str | None, license_: str | None) -> None:
    """Load FILE in a format of the European Central Bank: eurofxref-hist.csv, eurofxref.csv, or the XML of either.

    A load is an event with a number: `itemindex loads undo` restores the previous rates.
    """
    terms = Terms(_checked(name))
    given = {"title": title, "url": url, "license": license_}
    terms = replace(terms, **{field: text for field, text in given.items() if text})
    loaded = load_rate_file(settings(), terms, file)
    row = asdict(loaded)
    if for_programs():
        print_json([row])
        return
    del row["reasons"]
    show([row], title="rates" if loaded.changed else "rates: all of them were in force already")
    for line in loaded.reasons:
        console.say("refused: {line}", line=line, soft_wrap=True)
    if loaded.reasons:
        console.say("`itemindex loads rejects {load}` lists them", load=loaded.load_id)


table(
    rates,
    "list",
    RATES.tables,
    title="rates",
    text="List the tables: their source, first and last day, currencies, and rates.",
    example="itemindex rates list --json",
)


def _checked(name: str) -> str:
    if not re.fullmatch(_NAME, name, re.ASCII):
        raise click.BadParameter("a lower-case letter, then letters, digits and underscores", param_hint="--name")
    return name


# `itemindex loads`, `items` and `observations`: what changed the index, event by event, and how to undo an event.


@click.group()
def items() -> None:
    """Withdraw, merge and restore items. Each change commits a new data_version."""


@items.command(epilog="Example: itemindex items withdraw IID-99D2F-46WJ3-4S6N3 --reason recall")
@click.argument("iid", type=Iid())
@reason_option
@stored
def withdraw(iid: str, reason: str | None) -> None:
    """Withdraw an item: its IID returns 410, and reports, searches and exports no longer contain it."""
    _act(lambda connection: item_acts.withdraw(connection, iid, events.actor(), reason))


@items.command(epilog="Example: itemindex items restore IID-99D2F-46WJ3-4S6N3")
@click.argument("iid", type=Iid())
@reason_option
@stored
def restore(iid: str, reason: str | None) -> None:
    """Undo the withdrawal or the merge of an item; this restores its record, and its survivor's."""
    _act(lambda connection: item_acts.restore(connection, iid, events.actor(), reason))


@items.command(epilog="Example: itemindex items merge IID-99D2F-46WJ3-4S6N3 IID-18J26-EG5QH-CGFEK")
@click.argument("iid", type=Iid())
@click.argument("survivor", type=Iid())
@reason_option
@stored
def merge(iid: str, survivor: str, reason: str | None) -> None:
    """Merge an item into the SURVIVOR, which takes over its observations, identifiers, channels and figures."""
    _act(lambda connection: item_acts.merge(connection, iid, survivor, events.actor(), reason))


def _act(act: Callable[[Connection], int]) -> None:
    with database("items") as connection:
        standing.lock(connection)
        version = act(connection)
    report("done, data_version {data_version}", data_version=version)


# `itemindex observations`: deleting observations that should not be there.


@click.group()
def observations() -> None:
    """Delete observations. A deletion is an event like a load: `itemindex loads undo` undoes it."""


@observations.command(
    "delete", epilog="Example: itemindex observations delete --source shop --from 2099-01-01 --dry-run"
)
@click.option("--source", help="Only observations of this source.")
@click.option("--iid", type=Iid(), help="Only observations of this item and of the items merged into it.")
@click.option("--from", "first", help="First day, as YYYY-MM-DD.")
@click.option("--to", "last", help="Last day, inclusive.")
@click.option("--dry-run", is_flag=True, help="Count what would be deleted, month by month; change nothing.")
@reason_option
@stored
def delete_observations(
    source: str | None, iid: str | None, first: str | None, last: str | None, dry_run: bool, reason: str | None
) -> None:
    """Delete the observations that match all given options."""
    chosen = Chosen(source, iid, _day(first), _day(last))
    with database("delete") as connection:
        if not dry_run:
            standing.lock(connection)
        deleted = delete(connection, chosen, events.actor(), reason, dry_run=dry_run)
    title = "would be deleted" if dry_run else f"deleted: load {deleted.no}, data_version {deleted.data_version}"
    show([asdict(month) for month in deleted.months], title=title)


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise ItemIndexError("a day is written YYYY-MM-DD") from None


SQL = load_queries(__file__, "loads.sql")


@click.group()
def loads() -> None:
    """List and undo loads, deletions, merges and withdrawals. Each has a number."""


table(
    loads,
    "list",
    SQL.list,
    limit_option(20),
    title="loads",
    text="List the newest events; or show all of one LOAD, by its number or ID.",
    example="itemindex loads list --limit 50; itemindex loads list 17",
    values=lambda connection, limit: [limit],
    one=("LOAD", str, SQL.show),
)


@loads.command("undo", epilog="Example: itemindex loads undo 17 --reason 'prices in the wrong currency'")
@click.argument("load")
@click.option("--dry-run", is_flag=True, help="Count what would be undone; change nothing.")
@reason_option
@stored
def undo_load(load: str, dry_run: bool, reason: str | None) -> None:
    """Undo exactly what LOAD added: the index is then as if LOAD had not happened."""
    with database("undo") as connection:
        if not dry_run:
            standing.lock(connection)
        counted = extent(connection, load)
        version = None if dry_run else undo(connection, load, events.actor(), reason, settings().match_dir)
    show([{**counted, "data_version": version}], title="would be undone" if dry_run else "undone")


@loads.command(epilog="Example: itemindex loads rejects --json > rejects.json")
@click.argument("load_id", metavar="[LOAD]", required=False)
@limit_option(100, 1_000_000)
@stored
def rejects(load_id: str | None, limit: int) -> None:
    """List the rows that a LOAD (number or ID) rejected: file, line, column, value, reason. Default: the last load."""
    with database("loads") as connection:
        found = rows_of(connection, SQL.load, load_id)
        if not found:
            raise LoadRefused(
                "there is no such load; `itemindex loads list` lists them" if load_id else "there is no load yet"
            )
        [load], rows = found, rows_of(connection, SQL.rejects, found[0]["load"], limit)
    if for_programs():
        print_json({**load, "rejects": rows})
        return
    title = "load {load} of {source}, {state}: {rejected:,} rejects".format(**load)
    if load["kept"] < load["rejected"]:
        title += f", of which the first {load['kept']:,} are kept" if load["kept"] else ", which are no longer kept"
    if rows:
        show(({name: row[name] for name in row if name != "row"} for row in rows), title=title)
    else:
        console.say("{title}", title=title)
