"""`itemindex people`: people, their roles in organizations, and their sessions of the dashboard."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import click
import msgspec

from deploy.ctl.accounts import ACCOUNTS, organization_of, person_of
from deploy.ctl.console import data_dir, database, report, reveal, rows_of, settings, show, store_options
from deploy.local import identity
from deploy.local.paths import Paths
from shared.errors import ItemIndexError, StoreUnavailable
from shared.organizations.accounts import SQL
from shared.organizations.roles import ROLES
from shared.organizations.sessions import SESSION_ID_CHARACTERS, SessionBeginning
from shared.printable import printable
from shared.redis import keys as redis_keys
from shared.redis.connect import STORE_ERRORS, StoreClient, connect_store
from shared.telemetry.log import Log
from workers.operators.organizations import OPERATOR, set_role

_NAMES = tuple(person.login for person in identity.PEOPLE)
_DEADLINE_SECONDS = 5.0


@click.group()
def people() -> None:
    """People: list them, set their role in an organization, end their sessions, print a local person's ID token."""


@people.command("list", epilog="Example: itemindex people list 'Acme Ltd'")
@click.argument("organization", required=False)
@store_options
def list_people(organization: str | None) -> None:
    """List the members of an organization; or all who have signed in."""
    with database("people") as connection:
        if organization is None:
            rows = rows_of(connection, ACCOUNTS.people)
        else:
            rows = rows_of(connection, SQL.members, organization_of(connection, organization))
    show(rows, title="members" if organization else "people")


@people.command(epilog="Example: itemindex people role 'Acme Ltd' ada@example.org owner")
@click.argument("organization")
@click.argument("person")
@click.argument("role", type=click.Choice((*ROLES, "none")))
@store_options
def role(organization: str, person: str, role: str) -> None:
    """Add a person to an organization, change a member's role, or remove one.

    A PERSON (id or e-mail address) must have signed in before. Role `none` removes a member; the last owner remains.
    """
    with database("people") as connection:
        organization_id, person_id = organization_of(connection, organization), person_of(connection, person)
        set_role(connection, organization_id, person_id, role)
    report("{person}: {role}", organization=organization, person=person, role=role)


@people.command(epilog='Example: curl -H "Authorization: Bearer $(itemindex people token)" …/v1/org')
@click.option("--person", type=click.Choice(_NAMES), default=_NAMES[0], help="Person of the token.")
@store_options
def token(person: str) -> None:
    """Print an ID token, valid for one hour, as the local provider would issue it after a sign-in."""
    paths = Paths.at(data_dir())
    if not (paths.root / "identity.json").exists():
        raise ItemIndexError("no local identity provider here: `make up` makes one unless OIDC_ISSUER names another")
    signed = printable(identity.id_token(identity.prepare(paths), person))
    reveal(signed, person=person, id_token=signed)


@people.command(epilog="Example: itemindex people sessions ada@example.org --end-all")
@click.argument("person")
@click.option("--end", metavar="ID", help="End this session; its next request is refused.")
@click.option("--end-all", is_flag=True, help="End every session.")
@store_options
def sessions(person: str, end: str | None, end_all: bool) -> None:
    """List the dashboard sessions of a PERSON (id or e-mail address), or end them."""
    with database("sessions") as connection:
        person_id = person_of(connection, person)
    with _state_store() as store:
        opened = _sessions(store, person_id)
        if end is None and not end_all:
            rows = (
                {
                    "id": digest[:SESSION_ID_CHARACTERS],
                    "signed_in": datetime.fromtimestamp(beginning.born, UTC),
                    "network": beginning.network,
                    "browser": beginning.agent,
                }
                for digest, beginning in opened.items()
            )
            show(rows, title="sessions")
            return
        ended = [digest for digest in opened if end_all or digest[:SESSION_ID_CHARACTERS] == end]
        if not (ended or end_all):
            raise ItemIndexError("there is no such session; `itemindex people sessions PERSON` lists them")
        for digest in ended:
            store.delete(redis_keys.session(digest))
            store.hdel(redis_keys.sessions_of(person_id), digest)
    Log("ctl", stream=sys.stderr).info("sessions-ended", person=person_id, sessions=len(ended), by=OPERATOR)
    report("ended {count}", person=person_id, count=len(ended))


@contextmanager
def _state_store() -> Iterator[StoreClient]:
    """Connect to the state store for as long as the block lasts. Raises StoreUnavailable, also from within."""
    try:
        with connect_store(settings().state_url, deadline_seconds=_DEADLINE_SECONDS) as store:
            yield store
    except STORE_ERRORS as error:
        raise StoreUnavailable("state") from error


def _sessions(store: StoreClient, person_id: str) -> dict[str, SessionBeginning]:
    packed = store.hgetall(redis_keys.sessions_of(person_id))
    texts = {name.decode() if isinstance(name, bytes) else name: value for name, value in packed.items()}
    listed = {name: msgspec.json.decode(value, type=SessionBeginning) for name, value in texts.items()}
    return {digest: beginning for digest, beginning in listed.items() if store.exists(redis_keys.session(digest))}
