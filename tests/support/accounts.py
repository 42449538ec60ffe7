"""Organizations, keys and tokens for tests."""

from shared.db.connect import Connection
from shared.organizations.accounts import Plan
from shared.organizations.credentials import FREE_PREFIX, KEY_PREFIX, keyed_hash, mint, parse
from shared.settings.settings import Settings
from tests.support.database import owner

BRAND = Plan(
    name="brand",
    title="Brand",
    rank=2,
    counted_by="organization",
    daily_units=50_000,
    burst_units=50,
    jobs_running=4,
    jobs_queued=20,
    batch_iids_max=100,
)
ANONYMOUS = Plan(
    name="anonymous",
    title="",
    rank=0,
    counted_by="ip",
    daily_units=3,
    burst_units=1000,
    jobs_running=0,
    jobs_queued=0,
    batch_iids_max=0,
)


def free_token(settings: Settings) -> str:
    """Issue a token of a free sign-up."""
    return issue_token(owner(settings), settings.token_pepper)


def organization(settings: Settings, plan: str = "brand") -> str:
    """Make an organization with a plan; return its id."""
    return _insert_organization(owner(settings), plan)


def api_key(settings: Settings, plan: str = "brand") -> str:
    """Make an organization with a plan and issue its key."""
    return issue_key(owner(settings), settings.token_pepper, plan)


def issue_key(connection: Connection, pepper: str, plan: str = "institutional") -> str:
    """Make an organization with a plan and issue its key."""
    key, key_id, digest = _minted(KEY_PREFIX, pepper)
    query = "INSERT INTO api_keys (key_id, organization_id, secret_hash) VALUES ($1, $2, $3)"
    connection.execute(query, (key_id, _insert_organization(connection, plan), digest))
    return key


def issue_token(connection: Connection, pepper: str) -> str:
    """Issue a token of a free sign-up."""
    token, token_id, digest = _minted(FREE_PREFIX, pepper)
    connection.execute("INSERT INTO public_tokens (token_id, secret_hash) VALUES ($1, $2)", (token_id, digest))
    return token


def _minted(prefix: str, pepper: str) -> tuple[str, str, bytes]:
    secret = mint(prefix)
    form = parse(secret)
    assert form is not None
    return secret, form.credential_id, keyed_hash(secret, pepper)


def _insert_organization(connection: Connection, plan: str) -> str:
    query = "INSERT INTO organizations (name, plan) VALUES ('Acme', $1) RETURNING id::text"
    row = connection.execute(query, (plan,)).fetchone()
    assert row is not None
    return str(row[0])
