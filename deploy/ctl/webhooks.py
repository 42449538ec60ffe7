"""`itemindex webhooks`: where events are sent, and what became of them."""

from uuid import UUID

import click

from deploy.ctl.accounts import organization_of
from deploy.ctl.console import database, limit_option, report, reveal, rows_of, settings, show, store_options
from deploy.ctl.events import types_option
from edge.events.webhooks import SQL as WEBHOOKS
from edge.http.context import uuid7
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from shared.events.types import CURSOR_MAX
from shared.events.webhook_addresses import url_fault
from shared.events.webhooks import ENDPOINTS_MAX, REPLAYED_MAX, ROTATION_SECONDS, new_secret, seal_secret
from workers.operators.organizations import OPERATOR

SQL = load_queries(__file__, "webhooks.sql")


@click.group()
def webhooks() -> None:
    """Webhooks of organizations: create, list, rotate, replay, disable, delete."""


@webhooks.command("list", epilog="Example: itemindex webhooks list; itemindex webhooks list 01a1… --limit 5")
@click.argument("webhook", required=False, type=click.UUID)
@click.option("--organization", help="Only webhooks of this organization, by id or name.")
@limit_option(20)
@store_options
def list_(webhook: UUID | None, organization: str | None, limit: int) -> None:
    """List webhooks with their failures and pending events; or one's attempts.

    The attempts of a WEBHOOK have the receiver's responses, newest first.
    """
    with database("webhooks") as connection:
        if webhook is None:
            rows = rows_of(connection, SQL.listed, organization and organization_of(connection, organization))
        else:
            _owner(connection, webhook)
            rows = rows_of(connection, WEBHOOKS.attempts, str(webhook), limit)
    show(rows, title="attempts" if webhook else "webhooks")


@webhooks.command(epilog="Example: itemindex webhooks create 'Acme Ltd' https://example.org/hook --type watch.fired")
@click.argument("organization")
@click.argument("url")
@types_option
@store_options
def create(organization: str, url: str, types: tuple[str, ...]) -> None:
    """Create a webhook of an organization, and print its signing secret. It is shown only once."""
    fault = url_fault(url, private_allowed=settings().webhook_private_addresses)
    if fault is not None:
        raise ItemIndexError(f"the address {fault}")
    webhook, secret = str(uuid7()), new_secret()
    sealed = _seal(webhook, secret)
    with database("webhooks") as connection:
        owner = organization_of(connection, organization)
        [[count]] = connection.execute(WEBHOOKS.count, (owner,)).fetchall()
        if count >= ENDPOINTS_MAX:
            raise ItemIndexError(f"the organization has {ENDPOINTS_MAX} webhooks, which is the most; delete one first")
        connection.execute(WEBHOOKS.add, (owner, webhook, url, list(types) or None, sealed, OPERATOR))
    reveal(secret, id=webhook, secret=secret)


@webhooks.command(epilog="Example: itemindex webhooks rotate 01a1…")
@click.argument("webhook", type=click.UUID)
@store_options
def rotate(webhook: UUID) -> None:
    """Replace a webhook's secret and print the new one. For 24 hours the previous secret also signs."""
    secret = new_secret()
    sealed = _seal(str(webhook), secret)
    with database("webhooks") as connection:
        values = (_owner(connection, webhook), str(webhook), sealed, ROTATION_SECONDS, OPERATOR)
        connection.execute(WEBHOOKS.rotate, values)
    reveal(secret, id=str(webhook), secret=secret)


@webhooks.command(epilog="Example: itemindex webhooks replay 01a1… --after 4711 --to 4720")
@click.argument("webhook", type=click.UUID)
@click.option("--event", type=click.UUID, help="One event, by its id.")
@click.option("--after", type=click.IntRange(0, CURSOR_MAX), help="Events later than this cursor.")
@click.option(
    "--to",
    type=click.IntRange(0, CURSOR_MAX),
    default=CURSOR_MAX,
    show_default=False,
    help="Up to this cursor; default: the newest.",
)
@store_options
def replay(webhook: UUID, event: UUID | None, after: int | None, to: int) -> None:
    """Replay events, by id or by range."""
    if (event is None) == (after is None):
        raise click.UsageError("name either --event or --after")
    with database("webhooks") as connection:
        chosen = (after or 0, to, str(event) if event else None, REPLAYED_MAX)
        values = (_owner(connection, webhook), str(webhook), *chosen, OPERATOR)
        [(events, *_)] = connection.execute(WEBHOOKS.replay, values).fetchall()
        if not events:
            raise ItemIndexError("no event of this webhook's organization is meant; `itemindex events` lists them")
    report("events that will be sent again: {events}", events=events)


@webhooks.command(epilog="Example: itemindex webhooks state 01a1… disabled --reason 'requested by its owner'")
@click.argument("webhook", type=click.UUID)
@click.argument("state", type=click.Choice(("enabled", "disabled", "deleted")))
@click.option("--reason", default="Disabled by an operator.", help="Reason shown to its organization.")
@store_options
def state(webhook: UUID, state: str, reason: str) -> None:
    """Disable, enable or delete a webhook. If one that is waiting for its next attempt is enabled, it is tried
    immediately; one that is deleted loses its attempts.

    The organization receives an event and an entry in its audit log.
    """
    with database("webhooks") as connection:
        owner = _owner(connection, webhook)
        if state == "disabled":
            if connection.execute(SQL.disable, (str(webhook), reason)).fetchone() is None:
                raise ItemIndexError("this webhook is disabled already")
        else:
            query = WEBHOOKS.enable if state == "enabled" else WEBHOOKS.delete
            connection.execute(query, (owner, str(webhook), OPERATOR))
    report("webhook {webhook} is {state}", webhook=str(webhook), state=state)


def _seal(webhook: str, secret: str) -> bytes:
    signing_secret = settings().signing_secret
    if not signing_secret:
        raise ItemIndexError("SIGNING_SECRET must be set, to the value that the edges have")
    return seal_secret(signing_secret, webhook, secret)


def _owner(connection: Connection, webhook: UUID) -> str:
    row = connection.execute(SQL.organization_of, (str(webhook),)).fetchone()
    if row is None:
        raise ItemIndexError("there is no webhook of this id; `itemindex webhooks list` shows them")
    return str(row[0])
