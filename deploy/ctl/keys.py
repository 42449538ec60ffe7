"""`itemindex keys`: API keys, one per organization."""

from pathlib import Path

import click
import psycopg

from deploy.ctl.ui import console, data_dir_option, settings
from edge.auth.tokens import KEY_PREFIX, keyed_hash, mint, split
from shared.db.connect import connect
from shared.errors import ItemIndexError


@click.group()
def keys() -> None:
    """API keys: issue and revoke. An organization has one."""


@keys.command(epilog="Example: itemindex keys issue $(itemindex orgs create 'Acme Ltd')")
@click.argument("organization_id")
@data_dir_option
def issue(organization_id: str, data_dir: Path) -> None:
    """Issue an organization's key and print it, once: only a keyed hash of it is kept."""
    chosen = settings(data_dir)
    chosen.require("token_pepper")
    key = mint(KEY_PREFIX)
    form = split(key)
    assert form is not None
    with connect(chosen.database_url, application="keys") as connection:
        try:
            connection.execute(
                "INSERT INTO api_keys (key_id, organization_id, secret_hash) VALUES ($1, $2::uuid, $3)",
                (form.credential_id, organization_id, keyed_hash(key, chosen.token_pepper)),
            )
        except psycopg.errors.UniqueViolation:
            raise ItemIndexError("the organization has a key; revoke it first with `itemindex keys revoke`") from None
        except (psycopg.errors.ForeignKeyViolation, psycopg.errors.InvalidTextRepresentation):
            raise ItemIndexError("there is no organization of this id; see `itemindex orgs list`") from None
    click.echo(key)


@keys.command(epilog="Example: itemindex keys revoke 01a1…")
@click.argument("organization_id")
@data_dir_option
def revoke(organization_id: str, data_dir: Path) -> None:
    """Revoke an organization's key; every edge refuses it within a second."""
    with connect(settings(data_dir).database_url, application="keys") as connection:
        query = (
            "UPDATE api_keys SET revoked_at = now() WHERE organization_id::text = $1 AND revoked_at IS NULL RETURNING 1"
        )
        if connection.execute(query, (organization_id,)).fetchone() is None:
            raise ItemIndexError("the organization has no valid key")
    console.print("revoked")
