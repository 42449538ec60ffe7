"""`itemindex observations`: deleting observations that should not be there."""

from dataclasses import asdict
from datetime import date

import click

from deploy.ctl.console import database, reason_option, show, store_options
from deploy.ctl.parameter_types import IidParameter
from shared.errors import ItemIndexError
from workers.provenance import events, standing
from workers.provenance.deletions import DeletionScope, delete


@click.group()
def observations() -> None:
    """Delete observations. A deletion is an event like a load: `itemindex loads undo` undoes it."""


@observations.command(
    "delete", epilog="Example: itemindex observations delete --source shop --from 2099-01-01 --dry-run"
)
@click.option("--source", help="Only observations of this source.")
@click.option("--iid", type=IidParameter(), help="Only observations of this item and of the items merged into it.")
@click.option("--from", "first", help="First day, as YYYY-MM-DD.")
@click.option("--to", "last", help="Last day, inclusive.")
@click.option("--dry-run", is_flag=True, help="Count what would be deleted, month by month; change nothing.")
@reason_option
@store_options
def delete_observations(
    source: str | None, iid: str | None, first: str | None, last: str | None, dry_run: bool, reason: str | None
) -> None:
    """Delete the observations that match all given options."""
    chosen = DeletionScope(source, iid, _day(first), _day(last))
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
