"""`itemindex observations`: deleting observations that should not be there."""

from dataclasses import asdict
from datetime import date
from pathlib import Path

import click

from deploy.ctl.console import settings, show, stored
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.index.iid import canonical_iid
from workers.provenance import events, reindex
from workers.provenance.deletion import Chosen, delete


@click.group()
def observations() -> None:
    """Delete observations. A deletion is an event like a load: `itemindex loads undo` takes it back."""


@observations.command(
    "delete", epilog="Example: itemindex observations delete --source shop --from 2099-01-01 --dry-run"
)
@click.option("--source", help="Only this source's.")
@click.option("--iid", help="Only this item's, with those of the items merged into it.")
@click.option("--from", "first", help="First day, as YYYY-MM-DD.")
@click.option("--to", "last", help="Last day, inclusive.")
@click.option("--dry-run", is_flag=True, help="Count what would be deleted, month by month; change nothing.")
@click.option("--reason", help="Reason, kept with the event.")
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
    """Delete the observations that all given options name."""
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
