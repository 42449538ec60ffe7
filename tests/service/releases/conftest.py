"""The key of an organization that may read releases."""

import pytest

from shared.settings.settings import Settings
from tests.support.accounts import api_key


@pytest.fixture
def key(settings: Settings) -> str:
    """A key of an organization with the plan Institutional."""
    return api_key(settings, "institutional")
