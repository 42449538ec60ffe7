"""A browser before an edge whose people sign in with a provider on loopback."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser, running_browser


@pytest.fixture
async def browser(settings: Settings, tmp_path: Path) -> AsyncIterator[Browser]:
    """A browser in front of an edge whose provider is on loopback."""
    async with running_browser(settings, tmp_path) as browser:
        yield browser
