"""Accounts: plans, principals, people and their memberships, and the SQL of organizations."""

import ipaddress
from dataclasses import dataclass
from typing import Literal

from shared.db.queries import load_queries

CountedBy = Literal["ip", "organization", "person", "address"]
FREE, BRAND, INSTITUTIONAL = 1, 2, 3
"""Ranks that capabilities ask for. Operators may make plans of any rank between and above."""
CredentialKind = Literal["public-token", "api-key", "bearer"]
ORGANIZATION_STATES = ("active", "suspended")
PLAN_LIMITS = {
    "daily_units": (1, 2**31 - 1),
    "burst_units": (1, 2**31 - 1),
    "jobs_running": (0, 2**31 - 1),
    "jobs_queued": (0, 2**31 - 1),
    "batch_iids_max": (0, 1_000),
}
"""The limits of a plan that operators set in every form, each with its least and greatest value."""
IPV6_PREFIX_BITS = 64
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


# Without eq: a plan is the same while it is the same object, which makes it a key that costs nothing to hash.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """The limits of an account: units a day, units a second, jobs at a time, IIDs in one call, bytes of stored exports.

    Without `stored_export_bytes_max` the setting of that name holds. `rank` orders the plans: a route that asks for a
    plan lets in that rank and every higher one. `price` is the operator's text for pages, None for one on request.
    """

    name: str
    title: str
    rank: int
    counted_by: CountedBy
    daily_units: int
    burst_units: int
    jobs_running: int = 0
    jobs_queued: int = 0
    batch_iids_max: int = 0
    self_service: bool = False
    stored_export_bytes_max: int | None = None
    price: str | None = None

    @property
    def daily_policy(self) -> str:
        """Name of the daily window in the `RateLimit` fields; both free plans share one counter and so one name."""
        return "free-daily" if self.counted_by == "ip" else f"{self.name}-daily"

    @property
    def burst_policy(self) -> str:
        """Name of the one-second window in the `RateLimit` fields."""
        return "free-burst" if self.counted_by == "ip" else f"{self.name}-burst"


# Without eq: a principal is the same while it is the same object, which makes it a key that costs nothing to hash.
@dataclass(frozen=True, slots=True, eq=False)
class Principal:
    """An authenticated caller. `organization_id` is None for public tokens, and for people of no organization.

    An ID token's caller has an organization too, but is counted by address: its plan is that of a free sign-up.
    """

    kind: CredentialKind
    credential_id: str
    plan: Plan
    organization_id: str | None = None
    organization_name: str | None = None


@dataclass(frozen=True, slots=True)
class Membership:
    """One organization of a person, and the role there."""

    organization_id: str
    name: str
    plan: str
    state: str
    role: str


@dataclass(frozen=True, slots=True)
class Person:
    """A signed-in person. The first membership is the one that counts where none is chosen."""

    id: str
    name: str
    email: str | None
    memberships: tuple[Membership, ...]
    email_verified: bool = False

    def membership(self, organization_id: str | None) -> Membership | None:
        """Return the membership in an organization; in the first joined one where none is named."""
        if organization_id is None:
            return self.memberships[0] if self.memberships else None
        return next((m for m in self.memberships if m.organization_id == organization_id), None)


def counted_network(address: str) -> str | None:
    """Return the network that an address is counted as: an IPv4 address itself, an IPv6 address by its /64.

    IPv4 inside IPv6 (mapped, NAT64) counts as that IPv4 address, or one caller would have two allowances.
    None when the text is no address.
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or (ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None)
        if inner is None:
            return str(ipaddress.ip_network((ip, IPV6_PREFIX_BITS), strict=False))
        ip = inner
    return str(ip)


def account_of(principal: Principal, network: str) -> str:
    """Name the account that pays: the organization where its plan counts organizations, else the caller's network."""
    return f"org:{principal.organization_id}" if principal.plan.counted_by == "organization" else f"ip:{network}"


SQL = load_queries(__file__, "organizations.sql")
