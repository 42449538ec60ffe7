"""The functions that write for the edge check by themselves for whom they act, and in which role."""

from uuid import uuid4

import psycopg

from tests.service.db.tenants import FUNCTIONS, TwoOrganizations, act, done, rows_of


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
            assert not done(two, statement), (role, call)
    two.edge.rollback()
