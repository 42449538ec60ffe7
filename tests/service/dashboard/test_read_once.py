"""Values of the state store that are read once, while each first reply is lost after the store did its work."""

from typing import Any, cast

import pytest

from edge.dashboard.sessions import Sessions, SignIn
from edge.storage.redis_client import RedisClient
from shared.errors import StoreUnavailable
from tests.service.dashboard.browser import Browser


class _LosesFirstReplies:
    """Passes commands on to a store, and loses its first reply to each of them."""

    def __init__(self, store: RedisClient) -> None:
        self._store = store
        self._known: set[tuple[Any, ...]] = set()

    async def command(self, *arguments: Any) -> Any:
        reply = await self._store.command(*arguments)
        if arguments in self._known:
            return reply
        self._known.add(arguments)
        raise StoreUnavailable("state")


@pytest.fixture
def sessions(browser: Browser) -> Sessions:
    store = cast("RedisClient", _LosesFirstReplies(browser.edge.resources.state))
    return Sessions(store, idle_seconds=60, seconds_max=60)


async def test_a_sign_in_is_taken_once(sessions: Sessions) -> None:
    sign_in = SignIn("nonce", "verifier", "/dashboard/token")
    await sessions.remember_sign_in("state", sign_in)
    assert await sessions.take_sign_in("state") == sign_in
    assert await sessions.take_sign_in("state") is None


async def test_a_secret_is_shown_once_and_so_is_the_next_one(sessions: Sessions) -> None:
    for _ in range(2):
        await sessions.put_flash("cookie", "key", "the same text")
        assert await sessions.take_flash("cookie", "key") == "the same text"
        assert await sessions.take_flash("cookie", "key") is None


async def test_a_notice_of_the_provider_is_remembered(sessions: Sessions) -> None:
    assert not await sessions.was_obeyed("token")
    await sessions.note_obeyed("token", 60)
    assert await sessions.was_obeyed("token")
