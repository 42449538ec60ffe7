"""Bytes of exports that an organization has stored: how many there are, and whether it may order another export."""

from typing import NamedTuple

from edge.quota.refusals import limit_problem
from edge.storage.database import Database, Scope
from shared.jobs.contract import SQL
from shared.organizations.accounts import Plan, Principal


class StoredBytes(NamedTuple):
    """The bytes of an organization's exports, and in how many seconds the first of them expires."""

    used: int
    expires_seconds: int


class StoredExports:
    """Reads what is stored. An export that would exceed the limit once it is written fails then, and costs nothing."""

    def __init__(self, database: Database, bytes_max: int) -> None:
        """`bytes_max` is the limit of plans that have none of their own."""
        self._database = database
        self._bytes_max = bytes_max

    def limit(self, plan: Plan) -> int:
        """Return how many bytes a plan allows."""
        return self._bytes_max if plan.stored_export_bytes_max is None else plan.stored_export_bytes_max

    async def read(self, organization: str | None) -> StoredBytes:
        """Return what an organization has stored now. Raises StoreUnavailable."""
        scope = Scope(organization=organization, task="jobs")
        [row] = await self._database.fetch(SQL.stored_exports, organization, scope=scope)
        return StoredBytes(row["used"], row["expires_seconds"])

    async def require_room(self, principal: Principal, account: str) -> None:
        """Raise the problem `rate-limited` where an organization has stored all that its plan allows."""
        limit, stored = self.limit(principal.plan), await self.read(principal.organization_id)
        if stored.used < limit:
            return
        seconds = max(1, stored.expires_seconds)
        detail = (
            f"Your organization has {stored.used:,} bytes of exports stored; its plan allows {limit:,}. Delete exports "
            f"that you have downloaded (DELETE /v1/index/exports/ID), or wait {seconds} s, until the first one expires."
        )
        raise limit_problem(
            detail,
            seconds,
            policy=f"{principal.plan.name}-stored-export-bytes",
            limit=limit,
            resets_at=None,
            counted_as=account,
            lifted_by="Delete exports that you have downloaded, or ask us for a larger allowance.",
        )
