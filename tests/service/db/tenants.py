"""Two organizations and the connection of the edge's role."""

from pathlib import Path
from typing import Any, NamedTuple

from shared.db.connect import Connection, connect
from shared.settings.settings import Settings

# Tables with such a column, or about people, that the edge's role may reach.
TABLES = (
    "organizations",
    "members",
    "people",
    "invitations",
    "audit",
    "api_keys",
    "public_tokens",
    "plan_requests",
    "idempotent_requests",
    "idempotent_organization_requests",
    "usage",
    "job_orders",
    "jobs",
    "event_log",
    "watches",
    "webhook_endpoints",
)
HASH = bytes(32)
_ROWS = " UNION ALL ".join(f"SELECT '{table}', t::text FROM {table} t" for table in TABLES) + " ORDER BY 1, 2"


class TwoOrganizations(NamedTuple):
    """Two organizations, each with an owner; the edge's connection, and the schema's owner's, which commits at once."""

    acme: str
    ada: str
    other: str
    eve: str
    edge: Connection
    owner: Connection


def act(connection: Connection, person: str | None, organization: str | None, task: str = "") -> None:
    """Set for whom the next statements work, as the edge does."""
    connection.execute(f"SET LOCAL itemindex.person = '{person or ''}'")
    connection.execute(f"SET LOCAL itemindex.organization = '{organization or ''}'")
    connection.execute(f"SET LOCAL itemindex.task = '{task}'")


def populate_both(settings: Settings, folder: Path) -> None:
    """Make Acme of Ada and Other of Eve."""
    with connect(settings.database_url, application="tests") as owner:
        for name in ("ada", "eve"):
            populate(owner, name)


def both_of(owner: Connection) -> tuple[str, str, str, str]:
    """Return the ids of Acme and Ada, and of Other and Eve."""
    query = "SELECT organization_id::text, id::text FROM members JOIN people ON id = person_id ORDER BY subject"
    [(acme, ada), (other, eve)] = owner.execute(query).fetchall()
    return acme, ada, other, eve


def populate(owner: Connection, name: str) -> None:
    """Make an organization and its owner, with a row in each table."""

    def one(query: str, *values: Any) -> str:
        row = owner.execute(query, values).fetchone()
        assert row is not None
        return str(row[0])

    person = one(
        "INSERT INTO people (issuer, subject, email, name, email_verified) VALUES ('i', $1, $2, $1, true) RETURNING id",
        name,
        f"{name}@example.org",
    )
    organization = one("INSERT INTO organizations (name, plan) VALUES ($1, 'brand') RETURNING id", name)
    owner.execute(
        "INSERT INTO members (organization_id, person_id, role) VALUES ($1, $2, 'owner')", (organization, person)
    )
    owner.execute("INSERT INTO audit (organization_id, actor, act) VALUES ($1, $2, 'made')", (organization, name))
    owner.execute(
        "INSERT INTO api_keys (key_id, organization_id, secret_hash) VALUES ($1, $2, $3)",
        (f"key-{name}", organization, HASH),
    )
    owner.execute(
        "INSERT INTO public_tokens (token_id, secret_hash, person_id) VALUES ($1, $2, $3)",
        (f"token-{name}", HASH, person),
    )
    owner.execute(
        "INSERT INTO invitations (organization_id, email, role, secret_hash, expires_at) "
        "VALUES ($1, 'x@example.org', 'admin', $2, now() + interval '1 day')",
        (organization, name.encode()),
    )
    owner.execute(
        "INSERT INTO plan_requests (organization_id, plan, requested_by) VALUES ($1, 'institutional', $2)",
        (organization, person),
    )
    owner.execute(
        "INSERT INTO idempotent_requests (person_id, key_sha256, request_sha256, status, sealed_body) "
        "VALUES ($1, $2, $2, 200, $2)",
        (person, HASH),
    )
    owner.execute(
        "INSERT INTO idempotent_organization_requests (organization_id, key_sha256, request_sha256, status, sealed_body) "
        "VALUES ($1, $2, $2, 200, $2)",
        (organization, HASH),
    )
    job = one(
        "INSERT INTO jobs (kind, queue, organization_id, fingerprint) VALUES ('cohorts', 'reports', $1, $2) RETURNING id",
        organization,
        name,
    )
    owner.execute(
        "INSERT INTO job_orders (job_id, organization_id, account, charge_id, charged_day, units) "
        "VALUES ($1, $2, $3, 'c', 1, 10)",
        (job, organization, name),
    )
    owner.execute(
        "INSERT INTO event_log (organization_id, type, data) VALUES ($1, 'key.rotated', '{}')",
        (organization,),
    )
    owner.execute(
        "INSERT INTO watches (organization_id, target, code, condition, kind, days) "
        "VALUES ($1, 'brand', $2, 'returned', 'l', 30)",
        (organization, name),
    )
    owner.execute(
        "INSERT INTO webhook_endpoints (organization_id, url, sealed_secret, position) VALUES ($1, $2, $3, 0)",
        (organization, f"https://{name}.example", HASH),
    )
    for account in (f"org:{organization}", f"token:token-{name}"):
        owner.execute("INSERT INTO usage VALUES ($1, current_date, 'c', 'e', 'served', 1, 1)", (account,))


def rows_of(owner: Connection) -> list[str]:
    """Return every row of every table, as the owner sees it."""
    return [str(row) for row in owner.execute(_ROWS).fetchall()]
