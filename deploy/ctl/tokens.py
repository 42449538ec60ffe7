"""`itemindex tokens`: public tokens."""

from pathlib import Path

import click

from deploy.ctl.console import data_dir_option, json_option, report, reveal, settings, show
from shared.db.connect import connect
from shared.db.queries import beside
from shared.errors import ItemIndexError
from shared.organizations.credentials import FREE_PREFIX, keyed_hash, mint, parse

SQL = beside(__file__, "accounts.sql")


@click.group()
def tokens() -> None:
    """Public tokens: the anonymous one for everyone, and those of free sign-ups."""


@tokens.command(epilog='Example: curl -H "X-Service-Public-Token: $(itemindex tokens anonymous)" …')
@data_dir_option
@json_option
def anonymous(data_dir: Path, as_json: bool) -> None:
    """Print the anonymous token. It is a constant and no secret."""
    token = settings(data_dir).anonymous_token
    reveal(token, as_json=as_json, token=token)


@tokens.command(epilog="Example: itemindex tokens issue --label 'Ada, trial'")
@click.option("--label", help="Label of the token, shown by `itemindex tokens list`.")
@data_dir_option
@json_option
def issue(label: str | None, data_dir: Path, as_json: bool) -> None:
    """Issue a token of the free plan and print it, once: only a keyed hash of it is kept."""
    chosen = settings(data_dir)
    chosen.require("token_pepper")
    token = mint(FREE_PREFIX)
    form = parse(token)
    assert form is not None
    with connect(chosen.database_url, application="tokens") as connection:
        values = (form.credential_id, keyed_hash(token, chosen.token_pepper), label)
        connection.execute(SQL.issue_token, values)
    reveal(token, as_json=as_json, token=token, id=form.credential_id)


@tokens.command("list", epilog="Example: itemindex tokens list --json")
@data_dir_option
@json_option
def list_(data_dir: Path, as_json: bool) -> None:
    """List the tokens of free sign-ups, without their secrets."""
    with connect(settings(data_dir).database_url, application="tokens") as connection:
        rows = connection.execute(SQL.tokens).fetchall()
    names = ("id", "label", "created_at", "revoked_at")
    show((dict(zip(names, row, strict=True)) for row in rows), as_json=as_json, title="public tokens")


@tokens.command(epilog="Example: itemindex tokens revoke 7Hq0ZpXw2a")
@click.argument("token_id")
@data_dir_option
@json_option
def revoke(token_id: str, data_dir: Path, as_json: bool) -> None:
    """Revoke a token; every edge refuses it within a second."""
    with connect(settings(data_dir).database_url, application="tokens") as connection:
        if connection.execute(SQL.revoke_token, (token_id,)).fetchone() is None:
            raise ItemIndexError("there is no valid token of this id; see `itemindex tokens list`")
    report("revoked", as_json=as_json, id=token_id, revoked=True)
