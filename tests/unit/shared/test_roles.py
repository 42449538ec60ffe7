"""What each role may do, as the edge reads it; PostgreSQL checks the role of the acting person once more."""

import pytest

from shared.organizations.accounts import ROLES, may, right_for

RIGHTS = {
    "read": "owner admin member viewer",
    "call": "owner admin member",
    "manage-key": "owner admin",
    "manage-members": "owner admin",
    "manage-owners": "owner",
    "manage-plan": "owner",
}


@pytest.mark.parametrize("right", RIGHTS)
def test_each_role_has_its_rights_and_no_other(right: str) -> None:
    assert [role for role in ROLES if may(role, right)] == RIGHTS[right].split()
    assert not may("guest", right)


def test_only_owners_touch_owners() -> None:
    assert [right_for(role) for role in ROLES] == ["manage-owners"] + ["manage-members"] * 3
    with pytest.raises(KeyError):
        may("owner", "manage-everything")
