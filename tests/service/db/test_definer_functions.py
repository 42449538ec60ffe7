"""The functions that write for the edge check by themselves for whom they act, and in which role."""

from uuid import uuid4

import psycopg
import pytest

from tests.service.db.tenants import TwoOrganizations, act, rows_of

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
def test_no_function_acts_for_another_organization_or_person(two: TwoOrganizations, call: str) -> None:
    before = rows_of(two.owner)
    for person in (two.eve, two.ada):
        act(two.edge, two.eve, two.other)
        named = {"acme": two.acme, "ada": two.ada, "person": person, "invitation": uuid4()}
        try:
            assert two.edge.execute(f"SELECT * FROM {call.format(**named)}").fetchall() == []
        except psycopg.errors.InsufficientPrivilege:
            two.edge.rollback()
        two.edge.commit()
    assert rows_of(two.owner) == before


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
def test_each_function_holds_the_acting_persons_role_itself(two: TwoOrganizations, role: str, call: str) -> None:
    two.owner.execute("UPDATE members SET role = $1 WHERE person_id = $2", (role, two.eve))
    act(two.edge, two.eve, two.other)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        two.edge.execute(f"SELECT * FROM {call.format(other=two.other, eve=two.eve, ada=two.ada)}")


def test_every_function_of_the_edge_that_writes_is_among_those_tried(two: TwoOrganizations) -> None:
    query = """SELECT p.proname FROM pg_proc p WHERE p.prosecdef AND p.provolatile = 'v'
               AND has_function_privilege('itemindex_edge', p.oid, 'EXECUTE')"""
    named = {row[0] for row in two.edge.execute(query).fetchall()}
    assert named <= {call.partition("(")[0] for call in FUNCTIONS}
