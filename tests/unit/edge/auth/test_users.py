"""What is remembered of people while their roles change."""

import asyncio
from typing import Any

import pytest

from edge.auth import id_token
from edge.auth.oidc_provider import OidcProvider
from edge.auth.users import UserService
from shared.errors import StoreUnavailable
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.issuer import CLIENT
from tests.unit.edge.auth.test_id_token import ISSUER


class Provider:
    """The provider, which has its keys already."""

    issuer = ISSUER.url

    async def keys_for(self, token: id_token.Unverified) -> list[id_token.VerificationKey]:
        return id_token.usable_keys({"keys": [key.published() for key in ISSUER.keys]})


class SlowUsers:
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
    slow: Any = SlowUsers()
    users = UserService(provider, slow, Settings(oidc_client_id=CLIENT))
    text = ISSUER.token("ada")
    reading = asyncio.create_task(users.authenticate(text))
    await slow.asked.wait()
    slow.role = "viewer"
    users.invalidate()
    slow.answers.set()
    await reading
    assert [one.role for one in (await users.authenticate(text)).memberships] == ["viewer"]


async def test_a_provider_that_does_not_answer_is_waited_for_by_a_bounded_number_of_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("edge.auth.oidc_provider._WAITING_MAX", 3)
    reached, released = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        await released.wait()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        provider = OidcProvider(Settings(oidc_issuer=f"http://127.0.0.1:{port}"), Log("tests"))
        await provider.open()
        calls = [asyncio.ensure_future(provider.endpoints()) for _ in range(5)]
        await reached.wait()
        assert [call.done() for call in calls] == [False] * 3 + [True] * 2
        released.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [StoreUnavailable] * 5
        await provider.close()
