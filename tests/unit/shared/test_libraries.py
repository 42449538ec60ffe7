"""The libraries explain themselves: the example of each README runs as it stands there."""

import doctest
from pathlib import Path

SHARED = Path(__file__).parents[3] / "shared"
LIBRARIES = ("gtin", "price_index", "prior_price", "search", "uncertainty", "units")


def test_the_example_of_a_library_gives_what_it_shows() -> None:
    for library in LIBRARIES:
        outcome = doctest.testfile(str(SHARED / library / "README.md"), module_relative=False)
        assert outcome.attempted > 0, library
        assert outcome.failed == 0, library
