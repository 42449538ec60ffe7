"""What the edge's role can do to another organization when a statement of the edge can be made to say anything: nothing."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import psycopg
import pytest

from shared.config import Settings
from shared.db.connect import Connection, connect

PRIVATE = ("organization_id", "person_id", "requested_by", "actor_id", "account")
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
    "usage",
    "job_orders",
    "jobs",
    "event_log",
    "watches",
    "webhook_endpoints",
)
HASH = bytes(32)


class Two(NamedTuple):
    """Two organizations, each with an owner; and the edge's connection."""

    settings: Settings
    acme: str
    ada: str
    other: str
    eve: str
    edge: Connection


def act(connection: Connection, person: str | None, organization: str | None, task: str = "") -> None:
    """Begin to work for somebody, as the edge does."""
    connection.execute(f"SET LOCAL itemindex.person = '{person or ''}'")
    connection.execute(f"SET LOCAL itemindex.organization = '{organization or ''}'")
    connection.execute(f"SET LOCAL itemindex.task = '{task}'")


def _populate(owner: Connection, name: str) -> tuple[str, str]:
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
    return organization, person


@pytest.fixture
def two(settings: Settings) -> Iterator[Two]:
    """Acme of Ada, and Other of Eve."""
    with connect(settings.database_url, application="tests") as owner:
        acme, ada = _populate(owner, "ada")
        other, eve = _populate(owner, "eve")
    with connect(settings.edge_database_url, application="tests") as edge:
        yield Two(settings, acme, ada, other, eve, edge)
        edge.rollback()


def rows_of(settings: Settings) -> list[str]:
    """Return every row of every table, as the owner sees it."""
    with connect(settings.database_url, application="tests") as owner:
        return [
            str(row)
            for table in TABLES
            for row in owner.execute(f"SELECT t::text FROM {table} t ORDER BY 1").fetchall()
        ]


def _columns(two: Two, table: str) -> list[str]:
    query = "SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped"
    return [row[0] for row in two.edge.execute(query, (table,)).fetchall()]


@pytest.mark.parametrize("table", TABLES)
def test_another_organizations_rows_are_not_seen(two: Two, table: str) -> None:
    act(two.edge, two.eve, two.other)
    seen = str(two.edge.execute(f"SELECT t::text FROM {table} t").fetchall())
    assert two.other in seen or two.eve in seen or "token-eve" in seen
    assert not any(text in seen for text in (two.acme, two.ada, "key-ada", "token-ada", "ada@example.org"))


@pytest.mark.parametrize("table", TABLES)
def test_without_a_context_nothing_is_seen(two: Two, table: str) -> None:
    assert two.edge.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def _statements(two: Two, table: str) -> list[str]:
    columns = _columns(two, table)
    key = next((c for c in columns if c in PRIVATE), "id")
    victim = {"organization_id": f"'{two.acme}'", "person_id": f"'{two.ada}'", "account": f"'org:{two.acme}'"}.get(
        key, f"'{two.acme if table == 'organizations' else two.ada}'"
    )
    mine = {"organization_id": f"'{two.other}'", "person_id": f"'{two.eve}'", "account": f"'org:{two.other}'"}.get(
        key, f"'{two.other if table == 'organizations' else two.eve}'"
    )
    named = ", ".join(columns)
    moved = ", ".join(victim if c == key else c for c in columns)
    return [
        f"DELETE FROM {table}",
        f"DELETE FROM {table} WHERE {key} = {victim}",
        f"UPDATE {table} SET {key} = {victim} WHERE {key} = {mine}",
        *(f"UPDATE {table} SET {c} = {c} WHERE {key} = {victim}" for c in columns),
        *(f"UPDATE {table} SET {c} = DEFAULT" for c in columns),
        f"INSERT INTO {table} ({named}) SELECT {moved} FROM {table} WHERE {key} = {mine}",
        f"TRUNCATE {table}",
    ]


@pytest.mark.parametrize("table", TABLES)
def test_another_organizations_rows_cannot_be_made_changed_or_removed(two: Two, table: str) -> None:
    act(two.edge, two.eve, two.other)
    statements = _statements(two, table)
    two.edge.rollback()
    before = rows_of(two.settings)
    foreign = [row for row in before if any(t in row for t in (two.acme, two.ada, "key-ada", "token-ada"))]
    for statement in statements:
        try:
            act(two.edge, two.eve, two.other)
            two.edge.execute(statement)
            two.edge.commit()
        except psycopg.Error:
            two.edge.rollback()
        after = rows_of(two.settings)
        assert [
            row for row in after if any(t in row for t in (two.acme, two.ada, "key-ada", "token-ada"))
        ] == foreign, statement


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE organizations SET plan = 'institutional'",
        "UPDATE organizations SET state = 'active'",
        "INSERT INTO organizations (name, plan) VALUES ('x', 'institutional')",
        "UPDATE members SET role = 'owner'",
        "INSERT INTO members (organization_id, person_id, role) VALUES ('{other}', '{ada}', 'owner')",
        "DELETE FROM members",
        "UPDATE api_keys SET revoked_at = NULL",
        "UPDATE api_keys SET secret_hash = ''",
        "INSERT INTO api_keys (key_id, organization_id, secret_hash) VALUES ('k', '{other}', '')",
        "INSERT INTO audit (organization_id, actor, act) VALUES ('{other}', 'x', 'y')",
        "DELETE FROM audit",
        "UPDATE audit_heads SET number = 0",
        "SELECT * FROM audit_heads",
        "UPDATE people SET email = 'eve@victim.example'",
        "INSERT INTO people (issuer, subject, name) VALUES ('i', 's', 'n')",
        "UPDATE usage SET units = 0",
        "UPDATE jobs SET organization_id = '{other}'",
        "INSERT INTO jobs (kind, queue, fingerprint) VALUES ('cohorts', 'reports', 'x')",
        "UPDATE plans SET daily_units = 1",
        "SELECT write_audit('{other}', '{eve}', 'x', 'y', 'z')",
        "SELECT ask_for_plan('{other}', 'brand', '{eve}', 'x', true)",
    ],
)
def test_even_ones_own_plans_roles_keys_and_audit_rows_are_not_written_directly(two: Two, statement: str) -> None:
    before = rows_of(two.settings)
    act(two.edge, two.eve, two.other)
    text = statement.format(other=two.other, eve=two.eve, ada=two.ada)
    try:
        assert two.edge.execute(text).rowcount == 0
    except psycopg.errors.InsufficientPrivilege:
        two.edge.rollback()
    two.edge.commit()
    assert rows_of(two.settings) == before


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
    "rehash_credential('key-ada', decode(repeat('00', 32), 'hex'), sha256('eve'))",
)


@pytest.mark.parametrize("call", FUNCTIONS)
def test_no_function_acts_for_another_organization_or_person(two: Two, call: str) -> None:
    before = rows_of(two.settings)
    for person in (two.eve, two.ada):
        act(two.edge, two.eve, two.other)
        named = {"acme": two.acme, "ada": two.ada, "person": person, "invitation": uuid4()}
        try:
            assert two.edge.execute(f"SELECT * FROM {call.format(**named)}").fetchall() == []
        except psycopg.errors.InsufficientPrivilege:
            two.edge.rollback()
        two.edge.commit()
    assert rows_of(two.settings) == before


_OWNERS_ALONE = (
    "request_plan('{other}', 'free', '{eve}', 'x', true)",
    "change_role('{other}', '{ada}', 'owner', 'viewer', '{eve}', 'x')",
    "change_role('{other}', '{ada}', 'viewer', 'owner', '{eve}', 'x')",
    "remove_member('{other}', '{ada}', 'owner', '{eve}', 'x')",
)
_NOT_MEMBERS = (
    "issue_key('{other}', 'kkkkkkkkkk', '', '{eve}', 'x')",
    "rotate_key('{other}', 'kkkkkkkkkk', '', 0, '{eve}', 'x')",
    "revoke_keys('{other}', '{eve}', 'x')",
    "change_role('{other}', '{ada}', 'admin', 'viewer', '{eve}', 'x')",
    "remove_member('{other}', '{ada}', 'viewer', '{eve}', 'x')",
    "invite_member('{other}', 'x@example.net', 'admin', '', '{eve}', 'x')",
    "withdraw_invitation('{other}', gen_random_uuid(), '{eve}', 'x')",
)


@pytest.mark.parametrize(
    ("role", "call"),
    [("admin", call) for call in _OWNERS_ALONE]
    + [(role, call) for role in ("member", "viewer") for call in _OWNERS_ALONE + _NOT_MEMBERS],
)
def test_each_function_holds_the_acting_persons_role_itself(two: Two, role: str, call: str) -> None:
    with connect(two.settings.database_url, application="tests") as owner:
        owner.execute("UPDATE members SET role = $1 WHERE person_id = $2", (role, two.eve))
    act(two.edge, two.eve, two.other)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        two.edge.execute(f"SELECT * FROM {call.format(other=two.other, eve=two.eve, ada=two.ada)}")


def test_every_function_of_the_edge_that_writes_is_among_those_tried(two: Two) -> None:
    query = """SELECT p.proname FROM pg_proc p WHERE p.prosecdef AND p.provolatile = 'v'
               AND has_function_privilege('itemindex_edge', p.oid, 'EXECUTE')"""
    named = {row[0] for row in two.edge.execute(query).fetchall()}
    assert named <= {call.partition("(")[0] for call in FUNCTIONS}


@pytest.mark.parametrize(
    "expression",
    [
        "set_config('itemindex.organization', '{acme}', true)",
        "pg_catalog.set_config('itemindex.task', 'usage', true)",
    ],
)
def test_an_expression_inside_a_statement_cannot_change_for_whom_it_works(two: Two, expression: str) -> None:
    act(two.edge, two.eve, two.other)
    text = f"SELECT m.* FROM (SELECT {expression.format(acme=two.acme)}) s, LATERAL (SELECT * FROM members) m"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        two.edge.execute(text)


@pytest.mark.parametrize("call", ["lo_create(0)", "lo_from_bytea(0, 'x')", "lo_put(1, 0, 'x')", "lo_get(1)"])
def test_the_edge_cannot_fill_the_disk_with_large_objects(two: Two, call: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        two.edge.execute(f"SELECT {call}")


def test_a_context_ends_with_its_transaction(two: Two) -> None:
    act(two.edge, two.eve, two.other)
    assert two.edge.execute("SELECT count(*) FROM members").fetchone() == (1,)
    two.edge.commit()
    assert two.edge.execute("SELECT count(*) FROM members").fetchone() == (0,)


def test_the_tables_tried_are_all_that_the_edge_can_reach(two: Two) -> None:
    query = """SELECT DISTINCT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
               WHERE c.relkind IN ('r', 'p') AND a.attname = ANY ($1) AND c.relnamespace = 'public'::regnamespace
                 AND has_any_column_privilege('itemindex_edge', c.oid, 'SELECT, INSERT, UPDATE')"""
    reached = {row[0] for row in two.edge.execute(query, (list(PRIVATE),)).fetchall()}
    # Staff decide about pairs of items, which belong to no organization; test_matches.py tries its policies.
    assert reached - set(TABLES) == {"match_reviews"}


def test_the_roles_time_outs_are_set(two: Two) -> None:
    for name in ("statement_timeout", "lock_timeout"):
        row = two.edge.execute(f"SHOW {name}").fetchone()
        assert row is not None and row[0] != "0"
    assert UUID(two.acme)
