"""`itemindex keys` and `itemindex tokens`: the API keys of organizations, one each, and public tokens."""

from datetime import datetime
from pathlib import Path

import click

from deploy.ctl.accounts import ACCOUNTS, organization_of
from deploy.ctl.console import OPERATOR, report, reveal, settings, show, stored, table
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.organizations.accounts import GRACE_SECONDS, SQL
from shared.organizations.credentials import FREE_PREFIX, KEY_PREFIX, keyed_hash, mint, parse


@click.group()
def keys() -> None:
    """API keys: issue, rotate, revoke, list. An organization has one."""


@keys.command(epilog="Example: itemindex keys issue $(itemindex orgs create 'Acme Ltd')")
@click.argument("organization")
@stored
def issue(organization: str, data_dir: Path, as_json: bool) -> None:
    """Issue an organization's key and print it. It is shown only once: only a keyed hash is stored."""
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
@stored
def rotate(organization: str, grace: str, data_dir: Path, as_json: bool) -> None:
    """Replace an organization's key and print the new one. It is shown only once."""
    chosen = settings(data_dir)
    key, key_id, digest = _mint(chosen.token_pepper)
    with connect(chosen.database_url, application="keys") as connection:
        values = (organization_of(connection, organization), key_id, digest, GRACE_SECONDS[grace], None, OPERATOR)
        if connection.execute(SQL.rotate_key, values).fetchone() is None:
            raise ItemIndexError("the organization has no key to rotate; issue one with `itemindex keys issue`")
    reveal(key, as_json=as_json, key=key, id=key_id)


@keys.command(epilog="Example: itemindex keys revoke 01a1…")
@click.argument("organization")
@stored
def revoke(organization: str, data_dir: Path, as_json: bool) -> None:
    """Revoke an organization's key, and one in its grace; every edge refuses them within a second."""
    with connect(settings(data_dir).database_url, application="keys") as connection:
        values = (organization_of(connection, organization), None, OPERATOR)
        if connection.execute(SQL.revoke_keys, values).fetchone() is None:
            raise ItemIndexError("the organization has no valid key")
    report("revoked", as_json=as_json, organization=organization, revoked=True)


@keys.command("list", epilog="Example: itemindex keys list 01a1…")
@click.argument("organization", required=False)
@click.option(
    "--unused-since",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d"]),
    help="All organizations' keys not used since TOKEN_PEPPER was changed on the last edge (UTC): they end with "
    "TOKEN_PEPPER_PREVIOUS, and must be rotated.",
)
@stored
def list_(organization: str | None, unused_since: datetime | None, data_dir: Path, as_json: bool) -> None:
    """List the valid keys, with when and from where each was last used."""
    if (organization is None) == (unused_since is None):
        raise click.UsageError("name either an organization or --unused-since")
    with connect(settings(data_dir).database_url, application="keys") as connection:
        if organization is None:
            names = "key organization created_at last_used_at"
            rows = connection.execute(ACCOUNTS.keys_not_used_since, (unused_since,)).fetchall()
        else:
            names = "id created_at expires_at last_used_at last_used_network"
            rows = connection.execute(SQL.keys, (organization_of(connection, organization),)).fetchall()
    title = "keys under the old pepper" if organization is None else "keys"
    show((dict(zip(names.split(), row, strict=True)) for row in rows), as_json=as_json, title=title)


def _mint(pepper: str) -> tuple[str, str, bytes]:
    if not pepper:
        raise ItemIndexError("TOKEN_PEPPER must be set, to the same value as the edges have")
    key = mint(KEY_PREFIX)
    form = parse(key)
    assert form is not None
    return key, form.credential_id, keyed_hash(key, pepper)


# Public tokens.


@click.group()
def tokens() -> None:
    """Public tokens: the anonymous one for everyone, and those of free sign-ups."""


@tokens.command(epilog='Example: curl -H "X-Service-Public-Token: $(itemindex tokens anonymous)" …')
@stored
def anonymous(data_dir: Path, as_json: bool) -> None:
    """Print the anonymous token. It is a constant and no secret."""
    token = settings(data_dir).anonymous_token
    reveal(token, as_json=as_json, token=token)


@tokens.command("issue", epilog="Example: itemindex tokens issue --label 'Ada, trial'")
@click.option("--label", help="Label of the token, shown by `itemindex tokens list`.")
@stored
def issue_token(label: str | None, data_dir: Path, as_json: bool) -> None:
    """Issue a token of the free plan and print it. It is shown only once: only a keyed hash is stored."""
    chosen = settings(data_dir)
    chosen.require("token_pepper")
    token = mint(FREE_PREFIX)
    form = parse(token)
    assert form is not None
    with connect(chosen.database_url, application="tokens") as connection:
        values = (form.credential_id, keyed_hash(token, chosen.token_pepper), label)
        connection.execute(ACCOUNTS.issue_token, values)
    reveal(token, as_json=as_json, token=token, id=form.credential_id)


table(
    tokens,
    "list",
    ACCOUNTS.tokens,
    "id label created_at revoked_at",
    title="public tokens",
    text="List the tokens of free sign-ups, without their secrets.",
    example="itemindex tokens list --json",
)


@tokens.command("revoke", epilog="Example: itemindex tokens revoke 7Hq0ZpXw2a")
@click.argument("token_id")
@stored
def revoke_token(token_id: str, data_dir: Path, as_json: bool) -> None:
    """Revoke a token; every edge refuses it within a second."""
    with connect(settings(data_dir).database_url, application="tokens") as connection:
        if connection.execute(ACCOUNTS.revoke_token, (token_id,)).fetchone() is None:
            raise ItemIndexError("there is no valid token of this id; see `itemindex tokens list`")
    report("revoked", as_json=as_json, id=token_id, revoked=True)
