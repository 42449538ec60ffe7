"""`itemindex people`: the people who have signed in, and the ready-made ones of the local identity provider."""

from pathlib import Path

import click

from deploy.ctl.console import data_dir_option, json_option, reveal, settings, show
from deploy.local import identity
from deploy.local.paths import Paths
from shared.db.connect import connect
from shared.db.queries import beside
from shared.errors import ItemIndexError
from shared.printable import printable

ACCOUNTS = beside(__file__, "accounts.sql")
_NAMES = tuple(name for name, _, _ in identity.PEOPLE)


@click.group()
def people() -> None:
    """List people, or print an ID token of a person of the local identity provider, to call /v1/org with."""


@people.command(epilog='Example: curl -H "Authorization: Bearer $(itemindex people token)" …/v1/org')
@click.option("--person", type=click.Choice(_NAMES), default=_NAMES[0], show_default=True, help="Person of the token.")
@data_dir_option
@json_option
def token(person: str, data_dir: Path, as_json: bool) -> None:
    """Print an ID token of one hour, as the local provider would issue it after a sign-in. Its key is kept there."""
    if not (data_dir.expanduser() / "identity.json").exists():
        raise ItemIndexError("no local identity provider here: `make up` makes one unless OIDC_ISSUER names another")
    signed = printable(identity.id_token(identity.prepared(Paths.at(data_dir)), person))
    reveal(signed, as_json=as_json, person=person, id_token=signed)


@people.command("list", epilog="Example: itemindex people list --json")
@data_dir_option
@json_option
def list_people(data_dir: Path, as_json: bool) -> None:
    """List the people who have signed in at least once."""
    with connect(settings(data_dir).database_url, application="members") as connection:
        rows = connection.execute(ACCOUNTS.people).fetchall()
    show(
        (dict(zip(("id", "name", "email", "issuer", "created_at"), row, strict=True)) for row in rows),
        as_json=as_json,
        title="people",
    )
