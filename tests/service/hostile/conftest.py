"""An edge with the shop's items behind it."""

import pytest

from tests.support.servers import Contents
from tests.support.shop import open_shop


@pytest.fixture(scope="module")
def contents() -> Contents:
    """A few items."""
    return open_shop
