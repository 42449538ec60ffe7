"""The page of the contract, as laws read it."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "contract.md").read_text(encoding="utf-8")


def section(number: int) -> str:
    """Return the text of a section of the page."""
    return re.split(r"^## \d+\. ", PAGE, flags=re.MULTILINE)[number]


def units_of_the_page() -> dict[str, tuple[int, int]]:
    """Return the units of each call, and those if its result exists, by the words that the page has for it."""
    found = re.search(r"^Units: (.*?)\. ", section(9), re.MULTILINE)
    assert found
    return {
        name: (int(units), int(cached or units))
        for names, units, cached in re.findall(r"([^;]+?) (\d+)(?: \((\d+) if cached\))?(?:;|$)", found[1])
        for name in names.strip().split(", ")
    }
