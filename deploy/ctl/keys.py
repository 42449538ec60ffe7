"""`itemindex keys` and `itemindex tokens`: the API keys of organizations, one each, and public tokens."""

from datetime import datetime

import click

from deploy.ctl.accounts import ACCOUNTS, organization_of
from deploy.ctl.console import database, errors, report, reveal, rows_of, settings, show, store_options, table
from shared.errors import ItemIndexError
from shared.organizations.accounts import SQL
from shared.organizations.credentials import FREE_PREFIX, KEY_PREFIX, keyed_hash, mint, parse
from shared.organizations.roles import GRACE_SECONDS
from workers.operators.organizations import OPERATOR


@click.group()
def keys() -> None:
    """API keys: issue, rotate, revoke, list. An organization has one."""


@keys.command(epilog="Example: itemindex keys issue $(itemindex orgs create 'Acme Ltd')")
@click.argument("organization")
@store_options
def issue(organization: str) -> None:
    """Issue an organization's key and print it. It is shown only once: only a keyed hash is stored."""
    key, key_id, digest = _mint(KEY_PREFIX)
    with database("keys") as connection:
        values = (organization_of(connection, organization), key_id, digest, None, OPERATOR)
        if connection.execute(SQL.issue_key, values).fetchone() is None:
            raise ItemIndexError("there is no such active organization, or it has a key: `itemindex keys rotate` it")
    reveal(key, key=key, id=key_id)


@keys.command(epilog="Example: itemindex keys rotate 01a1… --grace 1h")
@click.argument("organization")
@click.option(
    "--grace", type=click.Choice(list(GRACE_SECONDS)), default="none", help="How long the old key remains valid."
)
@store_options
def rotate(organization: str, grace: str) -> None:
    """Replace an organization's key and print the new one. It is shown only once.

    At most two keys work at a time: if an older key is still in its grace period, that period remains, and the replaced
    key ends immediately.
    """
    key, key_id, digest = _mint(KEY_PREFIX)
    with database("keys") as connection:
        owner = organization_of(connection, organization)
        values = (owner, key_id, digest, GRACE_SECONDS[grace], None, OPERATOR)
        before = rows_of(connection, SQL.keys, owner)
        if connection.execute(SQL.rotate_key, values).fetchone() is None:
            raise ItemIndexError("the organization has no key to rotate; issue one with `itemindex keys issue`")
    older = next((key["key_id"] for key in before if key["expires_at"]), None)
    if older and grace != "none":
        errors.say("no grace for the replaced key, which ended now: key {older} is still in its own", older=older)
    reveal(key, key=key, id=key_id)


@keys.command(epilog="Example: itemindex keys revoke 01a1…")
@click.argument("organization")
@store_options
def revoke(organization: str) -> None:
    """Revoke an organization's keys, including one in its grace period; every edge refuses them within a second."""
    with database("keys") as connection:
        values = (organization_of(connection, organization), None, OPERATOR)
        if connection.execute(SQL.revoke_keys, values).fetchone() is None:
            raise ItemIndexError("the organization has no valid key")
    report("revoked", organization=organization, revoked=True)


@keys.command("list", epilog="Example: itemindex keys list 01a1…")
@click.argument("organization", required=False)
@click.option(
    "--unused-since",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d"]),
    help="All organizations' keys not used since TOKEN_PEPPER was changed on the last edge (UTC): they end with "
    "TOKEN_PEPPER_PREVIOUS, and must be rotated.",
)
@store_options
def list_keys(organization: str | None, unused_since: datetime | None) -> None:
    """List the valid keys, with when and from where each was last used."""
    if (organization is None) == (unused_since is None):
        raise click.UsageError("name either an organization or --unused-since")
    with database("keys") as connection:
        if organization is None:
            rows = rows_of(connection, ACCOUNTS.keys_not_used_since, unused_since)
        else:
            listed = rows_of(connection, SQL.keys, organization_of(connection, organization))
            rows = [{"id": row.pop("key_id"), **row} for row in listed]
    show(rows, title="keys under the old pepper" if organization is None else "keys")


def _mint(prefix: str) -> tuple[str, str, bytes]:
    pepper = settings().token_pepper
    if not pepper:
        raise ItemIndexError("TOKEN_PEPPER must be set, to the same value as the edges have")
    key = mint(prefix)
    form = parse(key)
    assert form is not None
    return key, form.credential_id, keyed_hash(key, pepper)


@click.group()
def tokens() -> None:
    """Public tokens: the anonymous one for everyone, and those of free sign-ups."""


@tokens.command(epilog='Example: curl -H "X-Service-Public-Token: $(itemindex tokens anonymous)" …')
@store_options
def anonymous() -> None:
    """Print the anonymous token. It is a constant, not a secret."""
    token = settings().anonymous_token
    reveal(token, token=token)


@tokens.command("issue", epilog="Example: itemindex tokens issue --label 'Ada, trial'")
@click.option("--label", help="Label of the token, shown by `itemindex tokens list`.")
@store_options
def issue_token(label: str | None) -> None:
    """Issue a token of the free plan and print it. It is shown only once: only a keyed hash is stored."""
    token, token_id, digest = _mint(FREE_PREFIX)
    with database("tokens") as connection:
        connection.execute(ACCOUNTS.issue_token, (token_id, digest, label))
    reveal(token, token=token, id=token_id)


table(
    tokens,
    "list",
    ACCOUNTS.tokens,
    title="public tokens",
    text="List the tokens of free sign-ups, without their secrets.",
    example="itemindex tokens list --json",
)


@tokens.command("revoke", epilog="Example: itemindex tokens revoke 7Hq0ZpXw2a")
@click.argument("token_id")
@store_options
def revoke_token(token_id: str) -> None:
    """Revoke a token; every edge refuses it within a second."""
    with database("tokens") as connection:
        if connection.execute(ACCOUNTS.revoke_token, (token_id,)).fetchone() is None:
            raise ItemIndexError("there is no valid token of this id; see `itemindex tokens list`")
    report("revoked", id=token_id, revoked=True)
