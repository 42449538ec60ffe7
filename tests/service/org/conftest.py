"""An edge whose people sign in with a provider on loopback."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from edge.organizations.service import OrganizationService
from shared.organizations.accounts import SQL
from shared.settings.settings import Settings
from tests.support.client import Answer, Edge, running_edge
from tests.support.database import execute
from tests.support.issuer import Issuer, running_issuer


@dataclass
class SignedIn:
    """A client that calls under an ID token."""

    edge: Edge
    issuer: Issuer

    async def ask(self, method: str, path: str, who: str = "ada", body: Any = None, **options: Any) -> Answer:
        """Call as a person."""
        head = {"Authorization": f"Bearer {self.issuer.token(who)}", **options.pop("head", {})}
        return await self.edge.ask(
            method,
            path,
            anonymous=False,
            head=head,
            body=None if body is None else msgspec.json.encode(body),
            **options,
        )

    async def organization(self, who: str = "ada", name: str = "Acme") -> str:
        """Make an organization and return its id."""
        answer = await self.ask("POST", "/org", who, {"name": name})
        assert answer.status == 201, answer
        return str(answer.json["id"])

    async def key(self, who: str = "ada") -> str:
        """Issue the first key of the person's organization."""
        answer = await self.ask("POST", "/org/api-key", who)
        assert answer.status == 201, answer
        return str(answer.json["key"])

    async def works(self, key: str) -> int:
        """The status of a call by a key."""
        return (await self.edge.get("/quota", key=key)).status

    def set_state(self, organization: str, state: str) -> None:
        """Suspend an organization, or let it work again, as an operator does."""
        execute(self.edge.settings, SQL.change_state, organization, state, "operator")

    async def until(self, key: str, status: int) -> None:
        """Wait for the status of calls by a key: longer than the second of the contract, on a busy machine."""
        async with asyncio.timeout(10):
            while await self.works(key) != status:
                await asyncio.sleep(0.01)

    async def join(self, who: str, role: str, by: str = "ada") -> str:
        """Invite a person and let them in; return their id."""
        link = (await self.ask("POST", "/org/invitations", by, {"email": f"{who}@example.org", "role": role})).json[
            "link"
        ]
        person = await self.edge.resources.users.authenticate(self.issuer.token(who))
        acts = OrganizationService(self.edge.resources.database, self.edge.settings)
        await acts.accept_invitation(person, link.partition("#")[2])
        self.edge.resources.users.invalidate()
        return person.id


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    """The provider."""
    async with running_issuer() as running:
        yield running


@pytest.fixture
async def signed_in(settings: Settings, tmp_path: Path, issuer: Issuer) -> AsyncIterator[SignedIn]:
    """The edge and a way to call it."""
    async with running_edge(replace(settings, oidc_issuer=issuer.url, usage_flush_seconds=0.05), tmp_path) as edge:
        yield SignedIn(edge, issuer)
