"""For which organization a page acts on watches and webhooks, and whether the visitor may."""

from edge.auth.credentials import CredentialStore
from edge.dashboard.session_guard import PageError, SignedIn
from edge.watches.service import Acting
from shared.accounts import Membership
from shared.organizations.roles import may
from shared.plans import BRAND, Plan


def acting_of(visitor: SignedIn) -> Acting:
    """Return the organization that the visitor works in, with the person's name for its audit log."""
    actor = visitor.acting
    return Acting(actor.membership.organization_id, actor.person.name, actor.person.id)


def refusal(membership: Membership, plan: Plan, right: str) -> str | None:
    """Return in a sentence why a member may not change watches or webhooks; None where the member may."""
    if membership.state != "active":
        return "This organization is suspended."
    if plan.rank < BRAND:
        return f"The plan {plan.title} does not include this. A higher plan of the organization does."
    if not may(membership.role, right):
        return f"A {membership.role} may read this; ask an owner or admin to change it."
    return None


class PlanRights:
    """The acts that the plan of the visitor's organization and the visitor's role allow together."""

    def __init__(self, credentials: CredentialStore) -> None:
        self._credentials = credentials

    async def refusal(self, visitor: SignedIn, right: str) -> str | None:
        """Return why the visitor may not act, None where the visitor may."""
        membership = visitor.acting.membership
        return refusal(membership, await self._credentials.plan(membership.plan), right)

    async def require(self, visitor: SignedIn, right: str) -> None:
        """Raise PageError (403) where the visitor may not act."""
        text = await self.refusal(visitor, right)
        if text is not None:
            raise PageError(403, text)
