"""The roles of members and the rights that each has."""

from typing import Literal

Role = Literal["owner", "admin", "member", "viewer"]
ROLES: tuple[Role, ...] = ("owner", "admin", "member", "viewer")
INVITABLE: tuple[Role, ...] = ("admin", "member", "viewer")
GRACE_SECONDS = {"none": 0, "1h": 3_600, "24h": 86_400}
"""How long an old key keeps working after a rotation, by the owner's choice."""

_RIGHTS: dict[str, frozenset[Role]] = {
    "call": frozenset({"owner", "admin", "member"}),
    "manage-key": frozenset({"owner", "admin"}),
    "manage-members": frozenset({"owner", "admin"}),
    "manage-owners": frozenset({"owner"}),
    "manage-plan": frozenset({"owner"}),
}


def may(role: str, right: str) -> bool:
    """Return whether a role has a right; an unknown right raises KeyError, so that a typing error cannot grant one."""
    return role in _RIGHTS[right]


def right_for(role: str) -> str:
    """Name the right that giving, taking or changing this role needs."""
    return "manage-owners" if role == "owner" else "manage-members"
