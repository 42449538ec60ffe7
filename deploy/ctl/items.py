"""`itemindex items`: acts on single items."""

from collections.abc import Callable
from pathlib import Path

import click

from deploy.ctl.console import report, settings, stored
from shared.db.connect import Connection, connect
from shared.errors import ItemIndexError
from shared.index.iid import canonical_iid
from workers.provenance import events, item_acts, reindex

reason_option = click.option("--reason", help="Reason, kept with the event.")


@click.group()
def items() -> None:
    """Withdraw and merge items, and take that back. Each act commits a new data_version."""


@items.command(epilog="Example: itemindex items withdraw IID-99D2F-46WJ3-4S6N3 --reason recall")
@click.argument("iid")
@reason_option
@stored
def withdraw(iid: str, reason: str | None, data_dir: Path, as_json: bool) -> None:
    """Withdraw an item: its IID is answered 410, and no report, search or export has it any more."""
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
