"""What one organization can do to another: row level security, definer functions, the audit log."""

import hashlib
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from click.testing import CliRunner

from deploy.ctl.accounts import orgs
from shared.db.connect import Connection, connect
from shared.organizations.accounts import SQL
from shared.settings.settings import Settings
from tests.service.db.tenants import TABLES, TwoOrganizations, act, rows_of
from tests.support.database import execute

# What the edge's role can do to another organization when a statement of the edge can be made to say anything:
# nothing.


PRIVATE = ("organization_id", "person_id", "requested_by", "actor_id", "account")


def _columns(two: TwoOrganizations, table: str) -> list[str]:
    query = "SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped"
    return [row[0] for row in two.edge.execute(query, (table,)).fetchall()]


def test_another_organizations_rows_are_not_seen(two: TwoOrganizations) -> None:
    act(two.edge, two.eve, two.other)
    for table in TABLES:
        seen = str(two.edge.execute(f"SELECT t::text FROM {table} t").fetchall())
        assert two.other in seen or two.eve in seen or "token-eve" in seen, table
        assert not any(text in seen for text in (two.acme, two.ada, "key-ada", "token-ada", "ada@example.org")), table


def test_without_a_context_nothing_is_seen(two: TwoOrganizations) -> None:
    for table in TABLES:
        assert two.edge.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table


def _statements(two: TwoOrganizations, table: str) -> list[str]:
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
def test_another_organizations_rows_cannot_be_made_changed_or_removed(two: TwoOrganizations, table: str) -> None:
    act(two.edge, two.eve, two.other)
    statements = _statements(two, table)
    two.edge.rollback()
    before = rows_of(two.owner)
    foreign = [row for row in before if any(t in row for t in (two.acme, two.ada, "key-ada", "token-ada"))]
    for statement in statements:
        try:
            act(two.edge, two.eve, two.other)
            two.edge.execute(statement)
            two.edge.commit()
        except psycopg.Error:
            two.edge.rollback()
        after = rows_of(two.owner)
        assert [
            row for row in after if any(t in row for t in (two.acme, two.ada, "key-ada", "token-ada"))
        ] == foreign, statement


def test_even_ones_own_plans_roles_keys_and_audit_rows_are_not_written_directly(two: TwoOrganizations) -> None:
    before = rows_of(two.owner)
    for statement in (
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
    ):
        act(two.edge, two.eve, two.other)
        text = statement.format(other=two.other, eve=two.eve, ada=two.ada)
        try:
            assert two.edge.execute(text).rowcount == 0, statement
        except psycopg.errors.InsufficientPrivilege:
            two.edge.rollback()
        two.edge.commit()
        assert rows_of(two.owner) == before, statement


def _done(two: TwoOrganizations, statement: str) -> bool:
    """Run a statement for Eve; tell whether PostgreSQL let her."""
    two.edge.rollback()
    act(two.edge, two.eve, two.other)
    try:
        two.edge.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        return False
    return True


def test_an_expression_inside_a_statement_cannot_change_for_whom_it_works(two: TwoOrganizations) -> None:
    for expression in (
        f"set_config('itemindex.organization', '{two.acme}', true)",
        "pg_catalog.set_config('itemindex.task', 'usage', true)",
    ):
        assert not _done(two, f"SELECT m.* FROM (SELECT {expression}) s, LATERAL (SELECT * FROM members) m"), expression


def test_the_edge_cannot_fill_the_disk_with_large_objects(two: TwoOrganizations) -> None:
    for call in ("lo_create(0)", "lo_from_bytea(0, 'x')", "lo_put(1, 0, 'x')", "lo_get(1)"):
        assert not _done(two, f"SELECT {call}"), call


def test_a_context_ends_with_its_transaction(two: TwoOrganizations) -> None:
    act(two.edge, two.eve, two.other)
    assert two.edge.execute("SELECT count(*) FROM members").fetchone() == (1,)
    two.edge.commit()
    assert two.edge.execute("SELECT count(*) FROM members").fetchone() == (0,)


def test_the_tables_tried_are_all_that_the_edge_can_reach(two: TwoOrganizations) -> None:
    query = """SELECT DISTINCT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
               WHERE c.relkind IN ('r', 'p') AND a.attname = ANY ($1) AND c.relnamespace = 'public'::regnamespace
                 AND has_any_column_privilege('itemindex_edge', c.oid, 'SELECT, INSERT, UPDATE')"""
    reached = {row[0] for row in two.edge.execute(query, (list(PRIVATE),)).fetchall()}
    # Staff decide about pairs of items and upload files, which belong to no organization; test_matches.py and
    # test_uploads.py try their policies.
    assert reached - set(TABLES) == {"match_reviews", "uploads"}


def test_every_function_of_the_edge_that_writes_is_among_those_tried(two: TwoOrganizations) -> None:
    query = """SELECT p.proname FROM pg_proc p WHERE p.prosecdef AND p.provolatile = 'v'
               AND has_function_privilege('itemindex_edge', p.oid, 'EXECUTE')"""
    named = {row[0] for row in two.edge.execute(query).fetchall()}
    assert named <= {call.partition("(")[0] for call in FUNCTIONS}


def test_the_roles_time_outs_are_set(two: TwoOrganizations) -> None:
    for name in ("statement_timeout", "lock_timeout"):
        row = two.edge.execute(f"SHOW {name}").fetchone()
        assert row is not None and row[0] != "0"


# The functions that write for the edge check by themselves for whom they act, and in which role.


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


def test_no_function_acts_for_another_organization_or_person(two: TwoOrganizations) -> None:
    before = rows_of(two.owner)
    for call in FUNCTIONS:
        for person in (two.eve, two.ada):
            act(two.edge, two.eve, two.other)
            named = {"acme": two.acme, "ada": two.ada, "person": person, "invitation": uuid4()}
            try:
                assert two.edge.execute(f"SELECT * FROM {call.format(**named)}").fetchall() == [], call
            except psycopg.errors.InsufficientPrivilege:
                two.edge.rollback()
            two.edge.commit()
        assert rows_of(two.owner) == before, call


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


def test_each_function_holds_the_acting_persons_role_itself(two: TwoOrganizations) -> None:
    every = _OWNERS_ALONE + _NOT_MEMBERS
    for role, calls in (("admin", _OWNERS_ALONE), ("member", every), ("viewer", every)):
        two.owner.execute("UPDATE members SET role = $1 WHERE person_id = $2", (role, two.eve))
        for call in calls:
            statement = f"SELECT * FROM {call.format(other=two.other, eve=two.eve, ada=two.ada)}"
            assert not _done(two, statement), (role, call)
    two.edge.rollback()


# The audit log is a chain: a row that was forged, changed, moved or removed is detected, whichever role did it.


ROWS = 6


@pytest.fixture
def chained(settings: Settings) -> Settings:
    """Two organizations with some audit rows each."""
    with connect(settings.database_url, application="tests") as connection:
        for name in ("Acme", "Other"):
            made = connection.execute(SQL.create_organization_as_operator, (name, "brand", "op")).fetchone()
            assert made is not None
            for state in ("suspended", "active") * 2 + ("suspended",):
                connection.execute(SQL.change_state, (made[0], state, "operator"))
    return settings


def verify(settings: Settings) -> tuple[int, str]:
    done = CliRunner(env={"DATABASE_URL": settings.database_url}).invoke(orgs, ["audit", "--verify", "--json"])
    return done.exit_code, done.output


def change(settings: Settings, statement: str) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("ALTER TABLE audit DISABLE TRIGGER ALL")
        assert connection.execute(statement).rowcount > 0
        connection.execute("ALTER TABLE audit ENABLE TRIGGER ALL")


def acme(number: int) -> str:
    return f"organization_id = (SELECT id FROM organizations WHERE name = 'Acme') AND number = {number}"


def test_an_unbroken_chain_is_confirmed(chained: Settings) -> None:
    code, output = verify(chained)
    assert code == 0, output
    assert output.count('"rows": 6') == 2


def test_the_hash_is_what_another_program_computes(chained: Settings) -> None:
    query = """SELECT number::text, organization_id::text, id::text, (extract(epoch FROM at) * 1000000)::bigint::text,
                      coalesce(actor_id::text, ''), actor, act, subject, hash FROM audit WHERE organization_id =
                      (SELECT id FROM organizations WHERE name = 'Acme') ORDER BY number"""
    rows = execute(chained, query)
    before = b""
    for *fields, kept in rows:
        reported = ",".join(f"{len(field.encode())}:{field}" for field in fields)
        before = hashlib.sha256(before + reported.encode()).digest()
        assert before == bytes(kept)
    assert len(rows) == ROWS


def test_rows_of_many_writers_at_once_form_one_chain(chained: Settings) -> None:
    connections: list[Connection] = [connect(chained.database_url, application="tests") for _ in range(2)]
    first, second = connections
    add: Callable[[Connection], Any] = lambda one: one.execute(  # noqa: E731
        "INSERT INTO audit (organization_id, actor, act) SELECT id, 'x', 'y' FROM organizations WHERE name = 'Acme'"
    )
    for one, other in ((first, second), (second, first)):
        add(one)
        one.commit()
        add(other)
        add(other)
        other.commit()
    for one in connections:
        one.close()
    code, output = verify(chained)
    assert code == 0, output


@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE audit SET subject = 'x' WHERE {acme(3)}",
        f"UPDATE audit SET actor = 'another' WHERE {acme(1)}",
        f"UPDATE audit SET act = 'key.issued' WHERE {acme(ROWS)}",
        f"UPDATE audit SET at = at + interval '1 microsecond' WHERE {acme(2)}",
        f"UPDATE audit SET id = uuidv7() WHERE {acme(2)}",
        f"UPDATE audit SET hash = sha256('') WHERE {acme(4)}",
        f"DELETE FROM audit WHERE {acme(1)}",
        f"DELETE FROM audit WHERE {acme(3)}",
        f"DELETE FROM audit WHERE {acme(ROWS)}",
        "DELETE FROM audit WHERE organization_id = (SELECT id FROM organizations WHERE name = 'Acme')",
        f"UPDATE audit SET number = 7 - number WHERE {acme(3)} OR {acme(4)}",
        f"UPDATE audit SET organization_id = (SELECT id FROM organizations WHERE name = 'Other') WHERE {acme(ROWS)}",
        "INSERT INTO audit (organization_id, actor, act, number, hash) SELECT organization_id, 'eve', 'key.issued', 7, hash "
        f"FROM audit WHERE {acme(ROWS)}",
        "INSERT INTO audit (organization_id, actor, act) SELECT id, 'eve', 'key.issued' FROM organizations",
        "UPDATE audit_heads SET number = number - 1",
        f"WITH end_of AS (DELETE FROM audit_heads WHERE {acme(ROWS)}) DELETE FROM audit WHERE {acme(ROWS)}",
    ],
)
def test_a_forged_removed_moved_or_reordered_entry_is_detected(chained: Settings, statement: str) -> None:
    change(chained, statement)
    code, output = verify(chained)
    assert code == 1, output
