"""Keys and exports, each named by its state."""

from typing import Any

import pytest

from shared.settings.settings import Settings
from tests.service.exports.orders import done
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.exports import WANTED, ordered


@pytest.fixture
def key(settings: Settings) -> str:
    """A key of an organization whose plan includes exports."""
    return api_key(settings, "institutional")


@pytest.fixture
def queued_job(settings: Settings) -> str:
    """The id of an export of all prices by day that waits for a worker."""
    return ordered(settings, WANTED)


@pytest.fixture
async def published_export(edge: Edge, settings: Settings, key: str) -> Any:
    """An export of all observations whose files are published, as the API shows it."""
    return await done(edge, settings, key)


@pytest.fixture
def shared_key(shared_edge: Edge) -> str:
    """A key of another organization with the plan Institutional, for a test of the edge that its module shares."""
    return api_key(shared_edge.settings, "institutional")
