"""The signed-in visitor of a dashboard page."""

from dataclasses import dataclass

from edge.auth.actor import Actor
from edge.dashboard.page_requests import PageError
from shared.organizations.accounts import Membership, Person
from shared.organizations.roles import may
from shared.organizations.sessions import Session


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A signed-in visitor. `membership` is None for a person of no organization; `staff` reviews matches."""

    cookie: str
    session: Session
    person: Person
    membership: Membership | None
    staff: bool = False

    @property
    def member(self) -> Membership:
        """The visitor's membership. Raises PageError if there is none."""
        if self.membership is None:
            raise PageError(404, NO_ORGANIZATION)
        return self.membership

    def require_operator(self) -> tuple[str, str]:
        """Return the id and the name of an operator of the service. Raises PageError for anybody else."""
        if not self.staff:
            raise PageError(403, "This page is for operators of the service only.")
        return self.person.id, (self.person.name or self.person.email or self.person.id)[:300]

    @property
    def acting(self) -> Actor:
        """The visitor as a member of an organization. Raises PageError if there is none."""
        return Actor.of(self.person, self.member)

    @property
    def organization(self) -> str:
        """The id of the organization that the visitor works in; empty without one."""
        return self.membership.organization_id if self.membership else ""

    @property
    def suspended(self) -> bool:
        """Whether the organization is refused every call."""
        return self.membership is not None and self.membership.state != "active"

    @property
    def barred(self) -> str | None:
        """Why the visitor makes no calls for the organization, whatever its plan includes; None for one who may."""
        return self.barred_from("call")

    def barred_from(self, right: str) -> str | None:
        """Return why the visitor has no right in the organization, whatever its plan includes; None for one who has."""
        if self.membership is None or (not self.suspended and may(self.membership.role, right)):
            return None
        return SUSPENDED if self.suspended else read_only(self.membership.role)

    @property
    def form_token(self) -> str:
        """The token of the forms on a page: it names the organization that the page shows."""
        return f"{self.session.csrf}.{self.organization}"


SUSPENDED = "This organization is suspended."
NO_ORGANIZATION = "You are not a member of an organization yet. Create one, or ask for an invitation."


def read_only(role: str) -> str:
    """Return why a role may not act."""
    return f"Your role ({role}) has read-only access here. Ask an owner or admin to make changes."
