"""`itemindex loads`, `items` and `observations`: what changed the index, event by event, and how to undo an event."""

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import click
from psycopg.rows import dict_row

from deploy.ctl.console import console, limit_option, report, settings, show, stored
from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.errors import ItemIndexError, LoadRefused
from shared.index.iid import canonical_iid
from shared.settings.settings import Settings
from workers.provenance import events, item_acts, reindex
from workers.provenance.deletion import Chosen, delete
from workers.provenance.undo import NothingToUndo, extent, undo

reason_option = click.option("--reason", help="Reason, stored with the event.")


@click.group()
def items() -> None:
    """Withdraw, merge and restore items. Each change commits a new data_version."""


@items.command(epilog="Example: itemindex items withdraw IID-99D2F-46WJ3-4S6N3 --reason recall")
@click.argument("iid")
@reason_option
@stored
def withdraw(iid: str, reason: str | None, data_dir: Path, as_json: bool) -> None:
    """Withdraw an item: its IID returns 410, and reports, searches and exports no longer contain it."""
    named = _canonical(iid)
    _act(data_dir, as_json, lambda connection: item_acts.withdraw(connection, named, events.actor(), reason))


@items.command(epilog="Example: itemindex items restore IID-99D2F-46WJ3-4S6N3")
@click.argument("iid")
@reason_option
@stored
def restore(iid: str, reason: str | None, data_dir: Path, as_json: bool) -> None:
    """Undo the withdrawal or the merge of an item: its record is as it was before, and its survivor's too."""
    named = _canonical(iid)
    _act(data_dir, as_json, lambda connection: item_acts.restore(connection, named, events.actor(), reason))


@items.command(epilog="Example: itemindex items merge IID-99D2F-46WJ3-4S6N3 IID-18J26-EG5QH-CGFEK")
@click.argument("iid")
@click.argument("survivor")
@reason_option
@stored
def merge(iid: str, survivor: str, reason: str | None, data_dir: Path, as_json: bool) -> None:
    """Merge an item into the SURVIVOR, which has its observations, identifiers, channels and figures from now on."""
    merged, into = _canonical(iid), _canonical(survivor)
    _act(data_dir, as_json, lambda connection: item_acts.merge(connection, merged, into, events.actor(), reason))


def _canonical(text: str) -> str:
    iid = canonical_iid(text)
    if iid is None:
        raise ItemIndexError("an IID is `IID-` and groups of letters and digits")
    return iid


def _act(data_dir: Path, as_json: bool, act: Callable[[Connection], int]) -> None:
    with connect(settings(data_dir).database_url, application="items") as connection:
        reindex.lock(connection)
        version = act(connection)
    report("done, data_version {data_version}", as_json=as_json, data_version=version)


# `itemindex observations`: deleting observations that should not be there.


@click.group()
def observations() -> None:
    """Delete observations. A deletion is an event like a load: `itemindex loads undo` undoes it."""


@observations.command(
    "delete", epilog="Example: itemindex observations delete --source shop --from 2099-01-01 --dry-run"
)
@click.option("--source", help="Only observations of this source.")
@click.option("--iid", help="Only observations of this item and of the items merged into it.")
@click.option("--from", "first", help="First day, as YYYY-MM-DD.")
@click.option("--to", "last", help="Last day, inclusive.")
@click.option("--dry-run", is_flag=True, help="Count what would be deleted, month by month; change nothing.")
@click.option("--reason", help="Reason, stored with the event.")
@stored
def delete_observations(
    source: str | None,
    iid: str | None,
    first: str | None,
    last: str | None,
    dry_run: bool,
    reason: str | None,
    data_dir: Path,
    as_json: bool,
) -> None:
    """Delete the observations that match all given options."""
    if iid is not None and canonical_iid(iid) is None:
        raise ItemIndexError("an IID is `IID-` and groups of letters and digits")
    chosen = Chosen(source, canonical_iid(iid) if iid else None, _day(first), _day(last))
    with connect(settings(data_dir).database_url, application="delete") as connection:
        if not dry_run:
            reindex.lock(connection)
        deleted = delete(connection, chosen, events.actor(), reason, dry_run=dry_run)
    title = "would be deleted" if dry_run else f"deleted: load {deleted.no}, data_version {deleted.data_version}"
    show([asdict(month) for month in deleted.months], as_json=as_json, title=title)


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise ItemIndexError("a day is written YYYY-MM-DD") from None


SQL = load_queries(__file__, "loads.sql")


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
    """Show everything that is stored about LOAD, by its number or ID."""
    rows = _rows(settings(data_dir), SQL.show, load)
    if not rows:
        raise NothingToUndo("there is no such load; `itemindex loads list` shows them")
    lines = rows if as_json else [{"what": name, "value": value} for name, value in rows[0].items()]
    show(lines, as_json=as_json, title="load")


@loads.command("undo", epilog="Example: itemindex loads undo 17 --reason 'prices in the wrong currency'")
@click.argument("load")
@click.option("--dry-run", is_flag=True, help="Count what would be undone; change nothing.")
@click.option("--reason", help="Reason, stored with the event.")
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
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1), help="Maximum number of entries.")
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
