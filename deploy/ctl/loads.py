"""`itemindex loads`: what changed the index, event by event, and how to undo an event."""

import click

from deploy.ctl.console import (
    console,
    database,
    for_programs,
    limit_option,
    print_json,
    reason_option,
    rows_of,
    settings,
    show,
    store_options,
    table,
)
from shared.db.queries import load_queries
from shared.errors import LoadRefused
from workers.provenance import events, standing
from workers.provenance.undo import extent, undo

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
@store_options
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
@store_options
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
