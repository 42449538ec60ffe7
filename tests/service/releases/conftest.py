"""The key of an organization that may read releases."""

import pytest

from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge


@pytest.fixture
def key(settings: Settings) -> str:
    """A key of an organization with the plan Institutional."""
    return api_key(settings, "institutional")


@pytest.fixture
def shared_key(shared_edge: Edge) -> str:
    """A key of another organization with the plan Institutional, for a test of the edge that its module shares."""
    return api_key(shared_edge.settings, "institutional")
