"""An edge with the shop's items behind it."""

from pathlib import Path

import pytest

from shared.config import Settings
from tests.support.shop import open_shop


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """The settings of an index with a few items in it."""
    open_shop(settings, tmp_path)
    return settings
