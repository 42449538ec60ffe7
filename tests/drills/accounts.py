"""Who calls in a drill: keys and tokens of its own."""

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.organizations.credentials import FREE_PREFIX, KEY_PREFIX, keyed_hash, mint, parse

SQL = load_queries(__file__, "drill.sql")


def issue_key(connection: Connection, pepper: str, plan: str = "institutional") -> str:
    """Make an organization with this plan, and return its key."""
    key = mint(KEY_PREFIX)
    form, row = parse(key), connection.execute(SQL.organization, (plan,)).fetchone()
    assert form is not None
    assert row is not None
    connection.execute(SQL.key, (form.credential_id, row[0], keyed_hash(key, pepper)))
    return key


def issue_token(connection: Connection, pepper: str) -> str:
    """Return the public token of a person who signed up."""
    token = mint(FREE_PREFIX)
    form = parse(token)
    assert form is not None
    connection.execute(SQL.token, (form.credential_id, keyed_hash(token, pepper)))
    return token
