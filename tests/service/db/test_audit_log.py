"""The audit log is a chain: a row that was forged, changed, moved or removed is detected, whichever role did it."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from deploy.ctl.organizations import orgs
from shared.db.connect import Connection, connect
from shared.organizations.accounts import SQL
from shared.settings.settings import Settings
from tests.support.database import execute

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
