"""Who acts for an organization: one of its members, or its key."""

from dataclasses import dataclass

from aiohttp import web

from edge.http.context import organization_of, principal_of
from edge.http.problems import Problem
from edge.storage.database import Scope
from shared.organizations.accounts import Membership, Person
from shared.organizations.roles import may


@dataclass(frozen=True, slots=True)
class Actor:
    """An organization, and the member or key that acts for it, as the audit log names it. A key has no role."""

    organization: str
    name: str
    person: str | None = None
    role: str | None = None

    @classmethod
    def of(cls, person: Person, membership: Membership) -> "Actor":
        """Return a person as a member."""
        return cls(membership.organization_id, person.name, person.id, membership.role)

    @property
    def scope(self) -> Scope:
        """The scope of the database when the actor acts."""
        return Scope(self.person, self.organization)

    def may(self, right: str) -> bool:
        """Return whether the role has the right."""
        return self.role is not None and may(self.role, right)

    def require(self, right: str) -> None:
        """Raise the problem `insufficient-role` unless the role has the right."""
        if not self.may(right):
            raise Problem("insufficient-role", f"The role {self.role} does not allow this; ask an owner or admin.")


def acting_of(request: web.Request) -> Actor:
    """Return the organization of the caller's key, with the key."""
    return Actor(organization_of(request), f"key {principal_of(request).credential_id}")
