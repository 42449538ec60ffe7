"""The state store, as one edge process speaks to it."""

from collections.abc import AsyncIterator

import pytest

from edge.storage.redis_client import SingleNodeClient
from shared.settings.settings import Settings
from shared.telemetry.log import Log


@pytest.fixture
async def store(settings: Settings) -> AsyncIterator[SingleNodeClient]:
    client = SingleNodeClient(settings.state_url, name="state", deadline_seconds=2.0, log=Log("tests"))
    await client.start()
    yield client
    await client.close()
