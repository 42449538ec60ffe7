"""What is remembered of people while their roles change."""

import asyncio
from typing import Any

from edge.auth import id_token
from edge.auth.users import UserService
from shared.settings.settings import Settings
from tests.support.issuer import CLIENT, Issuer, SigningKey

ISSUER = Issuer(url="https://id.example.org", keys=[SigningKey.make("one")])


class Provider:
    """The provider, which has its keys already."""

    issuer = ISSUER.url

    async def keys_for(self, token: id_token.Unverified) -> list[id_token.VerificationKey]:
        return id_token.usable_keys({"keys": [key.published() for key in ISSUER.keys]})


class Slow:
    """A database that answers when a test lets it."""

    def __init__(self) -> None:
        self.role = "owner"
        self.asked = asyncio.Event()
        self.answers = asyncio.Event()

    async def fetch_row(self, query: str, *values: Any, scope: Any) -> dict[str, Any]:
        return {"id": "p", "name": "Ada", "email": "ada@example.org", "email_verified": True}

    async def fetch(self, query: str, *values: Any, scope: Any) -> list[dict[str, Any]]:
        role = self.role
        self.asked.set()
        await self.answers.wait()
        return [{"id": "o", "name": "Acme", "plan": "brand", "state": "active", "role": role}]


async def test_a_person_who_was_read_before_a_change_of_roles_is_read_again() -> None:
    provider: Any = Provider()
    slow: Any = Slow()
    users = UserService(provider, slow, Settings(oidc_client_id=CLIENT))
    text = ISSUER.token("ada")
    reading = asyncio.create_task(users.authenticate(text))
    await slow.asked.wait()
    slow.role = "viewer"
    users.invalidate()
    slow.answers.set()
    await reading
    assert [one.role for one in (await users.authenticate(text)).memberships] == ["viewer"]
