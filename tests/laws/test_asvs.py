"""The table of ASVS 5.0 has every requirement of levels 1 and 2 once, and each row leads to what exists or to a date."""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from tests.laws.named_tests import TEST, functions_of
from tests.laws.sources import PROJECT

TABLE = PROJECT / "docs" / "asvs.md"

REQUIREMENTS = Path(__file__).parent / "asvs-5.0.0.txt"

ROW = re.compile(r"^\| (\d+\.\d+\.\d+) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)


FILE = re.compile(
    r"\b(?:(?:clients|deploy|docs|edge|shared|tests|workers)/[\w./-]*\w\.\w+|(?:nginx\.conf|SECURITY\.md)\b)"
)

OPEN = re.compile(r"open until (\d{4}-\d{2}-\d{2}): \S.{20,}")

REASON = re.compile(r"not applicable: \S.{15,}")

AS_OF = re.compile(r"^As of (\d{4}-\d{2}-\d{2})\.", re.MULTILINE)


def faults(page: str, required: dict[str, str]) -> Iterator[str]:
    """Name everything that is wrong with a page; `required` has the level of each number."""
    rows = ROW.findall(page)
    as_of = AS_OF.search(page)
    if as_of is None:
        yield "the page has no date"
        return
    if [(number, level) for number, level, _, _ in rows] != list(required.items()):
        yield "the numbers and levels are not those of the standard, each once and in their order"
    for number, _, subject, how in rows:
        if not subject.strip():
            yield f"{number}: no subject"
        yield from (f"{number}: {fault}" for fault in _faults_of(how, date.fromisoformat(as_of[1])))


def _faults_of(how: str, as_of: date) -> Iterator[str]:
    left = OPEN.match(how)
    if left is not None and date.fromisoformat(left[1]) <= as_of:
        yield "the date of an open row has come"
    if not (left or REASON.match(how) or TEST.match(how) or FILE.match(how)):
        yield "neither a test nor a file nor a reason nor a date"
    yield from (f"no test {path}::{name}" for path, name in TEST.findall(how) if name not in functions_of(path))
    yield from (f"no file {path}" for path in FILE.findall(how) if not (PROJECT / path).is_file())


def requirements() -> dict[str, str]:
    """Return the level of each requirement of levels 1 and 2, by number, in the standard's order."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    pairs = [line.split() for line in lines if not line.startswith("#")]
    assert len({number for number, _ in pairs}) == len(pairs) == 253
    return {pair[0]: pair[1] for pair in pairs}


def test_each_requirement_is_held_by_something_that_exists_or_open_until_a_date() -> None:
    assert list(faults(TABLE.read_text(encoding="utf-8"), requirements())) == []


def test_the_totals_at_the_top_are_those_of_the_rows() -> None:
    page = TABLE.read_text(encoding="utf-8")
    hows = [how for *_, how in ROW.findall(page)]
    totals = {
        "held by a test": sum(TEST.match(how) is not None for how in hows),
        "met by a file": sum(FILE.match(how) is not None and TEST.match(how) is None for how in hows),
        "not applicable": sum(REASON.match(how) is not None for how in hows),
        "open": sum(OPEN.match(how) is not None for how in hows),
    }
    assert dict(re.findall(r"^\| ([a-z ]+) \| (\d+) \|$", page, re.MULTILINE)) == {
        name: str(total) for name, total in totals.items()
    }
