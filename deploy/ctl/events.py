"""`itemindex events`: the log of events as an organization reads it."""

import json
from pathlib import Path

import click
import msgspec

from deploy.ctl.accounts import organization_of
from deploy.ctl.console import limit_option, print_json, settings, show, stored
from edge.events.feed import SQL
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.events.types import CURSOR_MAX, KEPT_DAYS, TYPES, event_document


@click.command(epilog="Example: itemindex events 'Acme Ltd' --after 4711 --type watch.fired --json")
@click.argument("organization")
@click.option(
    "--after", type=click.IntRange(0, CURSOR_MAX), help="Only events later than this cursor; default: from the oldest."
)
@limit_option(100)
@click.option(
    "--type", "types", multiple=True, type=click.Choice(list(TYPES)), help="Only events of this type; may be repeated."
)
@stored
def events(
    organization: str, after: int | None, limit: int, types: tuple[str, ...], data_dir: Path, as_json: bool
) -> None:
    """List the events of an organization and of the index, oldest first, as its programs read them.

    Exit code 1 where events after the cursor are no longer kept; the oldest cursor is named.
    """
    with connect(settings(data_dir).database_url, application="events") as connection:
        owner = organization_of(connection, organization)
        rows = connection.execute(SQL.page, (owner, after or 0, list(types) or None, limit)).fetchall()
        [[deleted_up_to]] = connection.execute(SQL.deleted_up_to).fetchall()
    if after is not None and after < deleted_up_to:
        raise ItemIndexError(f"events are kept for {KEPT_DAYS} days; the oldest comes after the cursor {deleted_up_to}")
    documents = [msgspec.structs.asdict(event_document(*row)) for row in rows]
    if as_json:
        print_json(documents)
        return
    show(({**one, "data": json.dumps(one["data"])} for one in documents), as_json=False, title="events")
