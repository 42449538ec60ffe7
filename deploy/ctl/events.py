"""`itemindex events`: the log of events as an organization reads it."""

import json

import click
import msgspec

from deploy.ctl.accounts import organization_of
from deploy.ctl.console import database, for_programs, limit_option, print_json, show, store_options
from edge.events.feed import SQL as FEED
from shared.errors import ItemIndexError
from shared.events.types import CURSOR_MAX, KEPT_DAYS, TYPES, event_document

types_option = click.option(
    "--type", "types", multiple=True, type=click.Choice(list(TYPES)), help="Only events of this type; may be repeated."
)


@click.command(epilog="Example: itemindex events 'Acme Ltd' --after 4711 --type watch.fired --json")
@click.argument("organization")
@click.option(
    "--after", type=click.IntRange(0, CURSOR_MAX), help="Only events later than this cursor; default: from the oldest."
)
@limit_option(100)
@types_option
@store_options
def events(organization: str, after: int | None, limit: int, types: tuple[str, ...]) -> None:
    """List the events of an organization and of the index, oldest first, as its programs read them.

    Exit code 1 if events after the cursor have expired; the oldest cursor is printed.
    """
    with database("events") as connection:
        owner = organization_of(connection, organization)
        rows = connection.execute(FEED.page, (owner, after or 0, list(types) or None, limit)).fetchall()
        [[deleted_up_to]] = connection.execute(FEED.deleted_up_to).fetchall()
    if after is not None and after < deleted_up_to:
        raise ItemIndexError(f"events are kept for {KEPT_DAYS} days; the oldest comes after the cursor {deleted_up_to}")
    documents = [msgspec.structs.asdict(event_document(*row)) for row in rows]
    if for_programs():
        print_json(documents)
        return
    show(({**event, "data": json.dumps(event["data"])} for event in documents), title="events")
