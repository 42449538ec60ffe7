"""Settings of tests whose receivers are on loopback."""

from dataclasses import replace

import pytest

from shared.settings.settings import Settings


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Receivers are on loopback, which the setting allows for tests."""
    return replace(settings, webhook_private_addresses=True)
