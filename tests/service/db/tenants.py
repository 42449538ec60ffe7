"""Two organizations and the connection of the edge's role."""

from pathlib import Path
from typing import Any, NamedTuple

import psycopg

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
    "saved_reports",
    "weight_tables",
    "mail_choices",
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
    invitation = one(
        "INSERT INTO invitations (organization_id, email, role, secret_hash, expires_at) "
        "VALUES ($1, 'x@example.org', 'admin', $2, now() + interval '1 day') RETURNING id",
        organization,
        name.encode(),
    )
    owner.execute(
        "INSERT INTO mail_queue (organization_id, kind, invitation_id) VALUES ($1, 'invitation', $2)",
        (organization, invitation),
    )
    owner.execute(
        "INSERT INTO mail_choices (organization_id, person_id, kind, wanted) VALUES ($1, $2, 'export', true)",
        (organization, person),
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
    owner.execute(
        "INSERT INTO saved_reports (organization_id, name, question, created_by) VALUES ($1, $2, 'what=brand', $2)",
        (organization, name),
    )
    owner.execute(
        "INSERT INTO weight_tables (organization_id, name, version, price_reference, sha256, table_rows, row_count) "
        "VALUES ($1, 'cpi', 1, '2026-01-01', $2, $3, 1)",
        (organization, HASH.hex(), f'[["{name}",null,"1"]]'),
    )
    for account in (f"org:{organization}", f"token:token-{name}"):
        owner.execute("INSERT INTO usage VALUES ($1, current_date, 'c', 'e', 'served', 1, 1)", (account,))


def rows_of(owner: Connection) -> list[str]:
    """Return every row of every table, as the owner sees it."""
    return [str(row) for row in owner.execute(_ROWS).fetchall()]


def done(two: TwoOrganizations, statement: str) -> bool:
    """Run a statement for Eve; tell whether PostgreSQL let her."""
    two.edge.rollback()
    act(two.edge, two.eve, two.other)
    try:
        two.edge.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        return False
    return True


FUNCTIONS = (
    "audit_notices('{acme}', 'x', 'watch.created', 'x')",
    "log_quota('{{org:x}}', '2026-01-01')",
    "issue_key('{acme}', 'kkkkkkkkkk', '', '{person}', 'x')",
    "rotate_key('{acme}', 'kkkkkkkkkk', '', 0, '{person}', 'x')",
    "revoke_keys('{acme}', '{person}', 'x')",
    "change_role('{acme}', '{ada}', 'viewer', 'owner', '{person}', 'x')",
    "remove_member('{acme}', '{ada}', 'owner', '{person}', 'x')",
    "invite_member('{acme}', 'eve@example.org', 'admin', '', '{person}', 'x')",
    "withdraw_invitation('{acme}', '{invitation}', '{person}', 'x')",
    "request_plan('{acme}', 'free', '{person}', 'x', true)",
    "create_organization('x', 'free', '{ada}', 'x', 99, true)",
    "accept_invitation('ada', '{ada}')",
    "join_person('i', 'ada', 'eve@example.org', 'Ada', true)",
    "revoke_leaked_key('key-ada', 'guess')",
    "claim_scheduled_report(60)",
    "end_scheduled_run('00000000-0000-0000-0000-000000000000', NULL, 'x')",
    "mail_scheduled_runs()",
    "rehash_credential('key-ada', decode(repeat('00', 32), 'hex'), sha256('eve'))",
)
