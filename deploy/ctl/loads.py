"""`itemindex loads`: what changed the index, event by event, and how to take an event back."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from psycopg.rows import dict_row

from deploy.ctl.console import console, limit_option, settings, show, stored
from shared.db.connect import connect
from shared.db.queries import beside
from shared.errors import LoadRefused
from shared.settings.settings import Settings
from workers.provenance import events, reindex
from workers.provenance.undo import NothingToUndo, extent, undo

SQL = beside(__file__, "loads.sql")


@click.group()
def loads() -> None:
    """List and undo loads, deletions, merges and withdrawals. Each has a number."""


@loads.command("list", epilog="Example: itemindex loads list --limit 50")
@limit_option(20)
@stored
def list_loads(limit: int, data_dir: Path, as_json: bool) -> None:
    """List the newest events."""
    show(_rows(settings(data_dir), SQL.list, limit), as_json=as_json, title="loads")


@loads.command("show", epilog="Example: itemindex loads show 17")
@click.argument("load")
@stored
def show_load(load: str, data_dir: Path, as_json: bool) -> None:
    """Show everything that is stored about LOAD, named by its number or its id."""
    rows = _rows(settings(data_dir), SQL.show, load)
    if not rows:
        raise NothingToUndo("there is no such load; `itemindex loads list` shows them")
    lines = rows if as_json else [{"what": name, "value": value} for name, value in rows[0].items()]
    show(lines, as_json=as_json, title="load")


@loads.command("undo", epilog="Example: itemindex loads undo 17 --reason 'prices in the wrong currency'")
@click.argument("load")
@click.option("--dry-run", is_flag=True, help="Count what would be undone; change nothing.")
@click.option("--reason", help="Reason, kept with the event.")
@stored
def undo_load(load: str, dry_run: bool, reason: str | None, data_dir: Path, as_json: bool) -> None:
    """Undo exactly what LOAD added: the index then answers as if LOAD had not happened."""
    chosen = settings(data_dir)
    with connect(chosen.database_url, application="undo") as connection:
        if not dry_run:
            reindex.lock(connection)
        counted = asdict(extent(connection, load))
        version = None if dry_run else undo(connection, load, events.actor(), reason, chosen.match_dir)
    show(
        [{**counted, "data_version": version}],
        as_json=as_json,
        title="would be taken back" if dry_run else "taken back",
    )


@loads.command(epilog="Example: itemindex loads rejects --json > rejects.json")
@click.argument("load_id", required=False)
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1), help="Entries to show at most.")
@stored
def rejects(load_id: str | None, limit: int, data_dir: Path, as_json: bool) -> None:
    """List the rows that a load rejected: file, line, column, value, reason. Default: the last load."""
    with connect(settings(data_dir).database_url, application="loads") as connection:
        load = connection.execute(SQL.load, (load_id,)).fetchone()
        if load is None:
            raise LoadRefused(
                "there is no such load; `itemindex loads list` lists them" if load_id else "there is no load yet"
            )
        rejects = connection.execute(SQL.rejects, (load[0], limit)).fetchall()
    rows = [
        dict(zip(("file", "line", "column", "value", "reason", "costs", "row"), row, strict=True)) for row in rejects
    ]
    if as_json:
        names = ("load", "source", "state", "started_at", "rejected", "kept")
        click.echo(json.dumps({**dict(zip(names, load, strict=True)), "rejects": rows}, indent=1, default=str))
        return
    title = f"load {load[0]} of {load[1]}, {load[2]}: {load[4]:,} rejects"
    if load[5] < load[4]:
        title += f", of which the first {load[5]:,} are kept" if load[5] else ", which are no longer kept"
    if rows:
        show(({name: row[name] for name in row if name != "row"} for row in rows), as_json=False, title=title)
    else:
        console.say("{title}", title=title)


def _rows(chosen: Settings, query: str, value: object) -> list[dict[str, Any]]:
    with connect(chosen.database_url, application="loads") as connection:
        return connection.cursor(row_factory=dict_row).execute(query, (value,)).fetchall()
