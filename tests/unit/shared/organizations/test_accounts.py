"""Under which account a caller is counted, and what each role may do."""

import pytest

from shared.organizations.accounts import counted_network
from shared.organizations.roles import ROLES, may, right_for


def test_each_caller_is_counted_under_its_own_account() -> None:
    for address, network in (
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("64:ff9b::192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("010.0.0.1", None),
        ("127.1", None),
        ("1.2.3.4:80", None),
        ("[::1]", None),
        ("", None),
        ("１.2.3.4", None),
    ):
        assert counted_network(address) == network, address


RIGHTS = {
    "call": "owner admin member",
    "manage-key": "owner admin",
    "manage-members": "owner admin",
    "manage-owners": "owner",
    "manage-plan": "owner",
}


def test_each_role_has_its_rights_and_no_other() -> None:
    for right in RIGHTS:
        assert [role for role in ROLES if may(role, right)] == RIGHTS[right].split(), right
        assert not may("guest", right), right


def test_only_owners_touch_owners() -> None:
    assert [right_for(role) for role in ROLES] == ["manage-owners"] + ["manage-members"] * 3
    with pytest.raises(KeyError):
        may("owner", "manage-everything")
