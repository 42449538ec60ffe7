"""The libraries explain themselves: the example of each README runs as it stands there."""

import doctest
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"
LIBRARIES = ("gtin", "price_index", "prior_price", "search", "uncertainty", "units")


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_example_of_a_library_gives_what_it_shows(library: str) -> None:
    outcome = doctest.testfile(str(SHARED / library / "README.md"), module_relative=False)
    assert outcome.attempted > 0
    assert outcome.failed == 0
