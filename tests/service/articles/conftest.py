"""A world of shops whose twins are known."""

import pytest

from tests.support.worlds import World, worlds


@pytest.fixture(scope="module")
def world() -> World:
    return next(worlds(1, seed=99, articles=160))
