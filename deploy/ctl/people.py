"""`itemindex people`: the ready-made people of the local identity provider."""

from pathlib import Path

import click

from deploy.ctl.console import data_dir_option, json_option, reveal
from deploy.local import identity
from deploy.local.paths import Paths
from shared.errors import ItemIndexError
from shared.printable import printable

_NAMES = tuple(name for name, _, _ in identity.PEOPLE)


@click.group()
def people() -> None:
    """People of the identity provider that `make up` runs: an ID token to call /v1/org with."""


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
