"""A browser before an edge whose people sign in with a provider on loopback."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.support.client import running_edge
from tests.support.issuer import running_issuer


@pytest.fixture
async def browser(settings: Settings, tmp_path: Path) -> AsyncIterator[Browser]:
    """A browser in front of an edge whose provider is on loopback."""
    async with running_issuer() as issuer, running_edge(replace(settings, oidc_issuer=issuer.url), tmp_path) as edge:
        yield Browser(edge, issuer)
