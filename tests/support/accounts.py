"""Organizations, keys and tokens for tests."""

from shared.db.connect import Connection, connect
from shared.organizations.accounts import Plan
from shared.organizations.credentials import FREE_PREFIX, KEY_PREFIX, keyed_hash, mint, parse
from shared.settings.settings import Settings

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
    token = mint(FREE_PREFIX)
    form = parse(token)
    assert form is not None
    with connect(settings.database_url, application="tests") as connection:
        connection.execute(
            "INSERT INTO public_tokens (token_id, secret_hash) VALUES ($1, $2)",
            (form.credential_id, keyed_hash(token, settings.token_pepper)),
        )
    return token


def organization(settings: Settings, plan: str = "brand") -> str:
    """Make an organization with a plan; return its id."""
    with connect(settings.database_url, application="tests") as connection:
        return _insert_organization(connection, plan)


def api_key(settings: Settings, plan: str = "brand") -> str:
    """Make an organization with a plan and issue its key."""
    key = mint(KEY_PREFIX)
    form = parse(key)
    assert form is not None
    with connect(settings.database_url, application="tests") as connection:
        owner = _insert_organization(connection, plan)
        connection.execute(
            "INSERT INTO api_keys (key_id, organization_id, secret_hash) VALUES ($1, $2, $3)",
            (form.credential_id, owner, keyed_hash(key, settings.token_pepper)),
        )
    return key


def _insert_organization(connection: Connection, plan: str) -> str:
    query = "INSERT INTO organizations (name, plan) VALUES ('Acme', $1) RETURNING id::text"
    row = connection.execute(query, (plan,)).fetchone()
    assert row is not None
    return str(row[0])
