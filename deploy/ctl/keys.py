"""`itemindex keys`: API keys, one per organization."""

from pathlib import Path

import click

from deploy.ctl.console import OPERATOR, console, data_dir_option, json_option, settings, show
from deploy.ctl.orgs import uuid_of
from shared.credentials import KEY_PREFIX, keyed_hash, mint, split
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.organizations.contract import SQL
from shared.organizations.roles import GRACE_SECONDS

_NO_SUCH = "there is no organization of this id; see `itemindex orgs list`"


@click.group()
def keys() -> None:
    """API keys: issue, rotate, revoke, list. An organization has one."""


@keys.command(epilog="Example: itemindex keys issue $(itemindex orgs create 'Acme Ltd')")
@click.argument("organization_id")
@data_dir_option
def issue(organization_id: str, data_dir: Path) -> None:
    """Issue an organization's key and print it, once: only a keyed hash of it is kept."""
    chosen = settings(data_dir)
    key, key_id, digest = _mint(chosen.token_pepper)
    values = (uuid_of(organization_id, _NO_SUCH), key_id, digest, None, OPERATOR)
    with connect(chosen.database_url, application="keys") as connection:
        if connection.execute(SQL.issue_key, values).fetchone() is None:
            raise ItemIndexError("there is no such active organization, or it has a key: `itemindex keys rotate` it")
    click.echo(key)


@keys.command(epilog="Example: itemindex keys rotate 01a1… --grace 1h")
@click.argument("organization_id")
@click.option(
    "--grace",
    type=click.Choice(list(GRACE_SECONDS)),
    default="none",
    show_default=True,
    help="How long the old key works on.",
)
@data_dir_option
def rotate(organization_id: str, grace: str, data_dir: Path) -> None:
    """Replace an organization's key and print the new one, once."""
    chosen = settings(data_dir)
    key, key_id, digest = _mint(chosen.token_pepper)
    values = (uuid_of(organization_id, _NO_SUCH), key_id, digest, GRACE_SECONDS[grace], None, OPERATOR)
    with connect(chosen.database_url, application="keys") as connection:
        if connection.execute(SQL.rotate_key, values).fetchone() is None:
            raise ItemIndexError("the organization has no key to rotate; issue one with `itemindex keys issue`")
    click.echo(key)


@keys.command(epilog="Example: itemindex keys revoke 01a1…")
@click.argument("organization_id")
@data_dir_option
def revoke(organization_id: str, data_dir: Path) -> None:
    """Revoke an organization's key, and one in its grace; every edge refuses them within a second."""
    values = (uuid_of(organization_id, _NO_SUCH), None, OPERATOR)
    with connect(settings(data_dir).database_url, application="keys") as connection:
        if connection.execute(SQL.revoke_keys, values).fetchone() is None:
            raise ItemIndexError("the organization has no valid key")
    console.say("revoked")


@keys.command("list", epilog="Example: itemindex keys list 01a1…")
@click.argument("organization_id")
@data_dir_option
@json_option
def list_(organization_id: str, data_dir: Path, as_json: bool) -> None:
    """List the keys that work, and when and from where each was last used."""
    with connect(settings(data_dir).database_url, application="keys") as connection:
        rows = connection.execute(SQL.keys, (uuid_of(organization_id, _NO_SUCH),)).fetchall()
    names = ("id", "created_at", "expires_at", "last_used_at", "last_used_network")
    show((dict(zip(names, row, strict=True)) for row in rows), as_json=as_json, title="keys")


def _mint(pepper: str) -> tuple[str, str, bytes]:
    if not pepper:
        raise ItemIndexError("TOKEN_PEPPER must be set, to the same value as the edges have")
    key = mint(KEY_PREFIX)
    form = split(key)
    assert form is not None
    return key, form.credential_id, keyed_hash(key, pepper)
