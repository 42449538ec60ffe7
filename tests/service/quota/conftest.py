"""The stores, as one edge process speaks to them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from edge.storage.redis_client import SingleNodeClient
from shared.settings.settings import Settings
from shared.telemetry.log import Log


@asynccontextmanager
async def connected(url: str, name: str) -> AsyncIterator[SingleNodeClient]:
    """Give a client of a store, closed afterwards."""
    client = SingleNodeClient(url, name=name, deadline_seconds=2.0, log=Log("tests"))
    await client.start()
    yield client
    await client.close()


@pytest.fixture
async def store(settings: Settings) -> AsyncIterator[SingleNodeClient]:
    async with connected(settings.state_url, "state") as client:
        yield client


@pytest.fixture
async def cache(settings: Settings) -> AsyncIterator[SingleNodeClient]:
    async with connected(settings.cache_url, "cache") as client:
        yield client
