"""`itemindex keys`: API keys, one per organization."""

from pathlib import Path

import click

from deploy.ctl.console import OPERATOR, data_dir_option, json_option, report, reveal, settings, show
from deploy.ctl.selectors import organization_of
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.organizations.credentials import KEY_PREFIX, keyed_hash, mint, parse
from shared.organizations.roles import GRACE_SECONDS, SQL


@click.group()
def keys() -> None:
    """API keys: issue, rotate, revoke, list. An organization has one."""


@keys.command(epilog="Example: itemindex keys issue $(itemindex orgs create 'Acme Ltd')")
@click.argument("organization")
@data_dir_option
@json_option
def issue(organization: str, data_dir: Path, as_json: bool) -> None:
    """Issue an organization's key and print it, once: only a keyed hash of it is kept."""
    chosen = settings(data_dir)
    key, key_id, digest = _mint(chosen.token_pepper)
    with connect(chosen.database_url, application="keys") as connection:
        values = (organization_of(connection, organization), key_id, digest, None, OPERATOR)
        if connection.execute(SQL.issue_key, values).fetchone() is None:
            raise ItemIndexError("there is no such active organization, or it has a key: `itemindex keys rotate` it")
    reveal(key, as_json=as_json, key=key, id=key_id)


@keys.command(epilog="Example: itemindex keys rotate 01a1… --grace 1h")
@click.argument("organization")
@click.option(
    "--grace",
    type=click.Choice(list(GRACE_SECONDS)),
    default="none",
    show_default=True,
    help="Time for which the old key remains valid.",
)
@data_dir_option
@json_option
def rotate(organization: str, grace: str, data_dir: Path, as_json: bool) -> None:
    """Replace an organization's key and print the new one, once."""
    chosen = settings(data_dir)
    key, key_id, digest = _mint(chosen.token_pepper)
    with connect(chosen.database_url, application="keys") as connection:
        values = (organization_of(connection, organization), key_id, digest, GRACE_SECONDS[grace], None, OPERATOR)
        if connection.execute(SQL.rotate_key, values).fetchone() is None:
            raise ItemIndexError("the organization has no key to rotate; issue one with `itemindex keys issue`")
    reveal(key, as_json=as_json, key=key, id=key_id)


@keys.command(epilog="Example: itemindex keys revoke 01a1…")
@click.argument("organization")
@data_dir_option
@json_option
def revoke(organization: str, data_dir: Path, as_json: bool) -> None:
    """Revoke an organization's key, and one in its grace; every edge refuses them within a second."""
    with connect(settings(data_dir).database_url, application="keys") as connection:
        values = (organization_of(connection, organization), None, OPERATOR)
        if connection.execute(SQL.revoke_keys, values).fetchone() is None:
            raise ItemIndexError("the organization has no valid key")
    report("revoked", as_json=as_json, organization=organization, revoked=True)


@keys.command("list", epilog="Example: itemindex keys list 01a1…")
@click.argument("organization")
@data_dir_option
@json_option
def list_(organization: str, data_dir: Path, as_json: bool) -> None:
    """List the keys that work, and when and from where each was last used."""
    with connect(settings(data_dir).database_url, application="keys") as connection:
        rows = connection.execute(SQL.keys, (organization_of(connection, organization),)).fetchall()
    names = ("id", "created_at", "expires_at", "last_used_at", "last_used_network")
    show((dict(zip(names, row, strict=True)) for row in rows), as_json=as_json, title="keys")


def _mint(pepper: str) -> tuple[str, str, bytes]:
    if not pepper:
        raise ItemIndexError("TOKEN_PEPPER must be set, to the same value as the edges have")
    key = mint(KEY_PREFIX)
    form = parse(key)
    assert form is not None
    return key, form.credential_id, keyed_hash(key, pepper)
