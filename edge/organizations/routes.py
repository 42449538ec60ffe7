"""The routes below /org, each with its rule."""

from edge.http import idempotency_key
from edge.http.routing import BEARER, Route, Rule
from edge.organizations.handlers import OrganizationApi
from edge.organizations.member_handlers import MembersApi


def routes(org: OrganizationApi, people: MembersApi, prefix: str) -> tuple[Route, ...]:
    """Return every route below {prefix}/org."""
    at = f"{prefix}/org"
    return (
        Route("GET", at, org.show, _rule("organization")),
        Route("POST", at, org.create, _act("organization")),
        Route("POST", f"{at}/api-key", org.issue_key, _act("key")),
        Route("DELETE", f"{at}/api-key", org.revoke_keys, _act("key")),
        Route("POST", f"{at}/api-key/rotations", org.rotate_key, _act("key-rotation")),
        Route("POST", f"{at}/api-key/revocations", org.report_leaked, Rule(name="key-revocation")),
        Route("POST", f"{at}/plan-requests", org.request_plan, _act("plan-requests")),
        Route("GET", f"{at}/members", people.members, _rule("members")),
        Route("PATCH", f"{at}/members/{{person}}", people.change_role, _rule("members", "state-conflict")),
        Route("DELETE", f"{at}/members/{{person}}", people.remove_member, _act("members")),
        Route("GET", f"{at}/invitations", people.invitations, _rule("invitations")),
        Route("POST", f"{at}/invitations", people.invite, _act("invitations")),
        Route("DELETE", f"{at}/invitations/{{invitation}}", people.withdraw_invitation, _act("invitations")),
        Route("GET", f"{at}/usage", org.usage, _rule("usage")),
        Route("GET", f"{at}/audit", org.audit, _rule("audit")),
    )


def _act(name: str) -> Rule:
    return _rule(name, "state-conflict", *idempotency_key.PROBLEMS)


def _rule(name: str, *problems: str) -> Rule:
    listed = ("not-found", "insufficient-role", "rate-limited", *problems)
    return Rule(name=f"org-{name}", accepts=BEARER, per_person=True, problems=listed)
