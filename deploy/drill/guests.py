"""Whom a drill calls as: an organization with a key, a free sign-up, a person; none of them under a limit."""

from deploy.drill.verdict import SQL
from edge.auth.tokens import FREE_PREFIX, KEY_PREFIX, keyed_hash, mint, split
from shared.config import Settings
from shared.db.connect import Connection


def organization_key(connection: Connection, settings: Settings) -> str:
    """Make an organization of the highest plan, lift the plans' limits, and return its key."""
    connection.execute(SQL.lift_limits.encode())
    row = connection.execute(SQL.organization.encode()).fetchone()
    assert row is not None
    key = mint(KEY_PREFIX)
    form = split(key)
    assert form is not None
    connection.execute(SQL.key.encode(), (form.credential_id, row[0], keyed_hash(key, settings.token_pepper)))
    return key


def free_token(connection: Connection, settings: Settings) -> str:
    """Return a token of a free sign-up."""
    token = mint(FREE_PREFIX)
    form = split(token)
    assert form is not None
    connection.execute(SQL.token.encode(), (form.credential_id, keyed_hash(token, settings.token_pepper)))
    return token
