"""The table of ASVS 5.0 has every requirement of levels 1 and 2 once, and each row leads to what exists or to a date."""

import ast
import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
TABLE = PROJECT / "deploy" / "docs" / "asvs.md"
REQUIREMENTS = Path(__file__).parent / "asvs-5.0.0.txt"
ROW = re.compile(r"^\| (\d+\.\d+\.\d+) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)
TEST = re.compile(r"(tests/[\w/]+\.py)::(\w+)")
FILE = re.compile(r"\b(?:(?:deploy|edge|shared|tests|workers)/[\w./-]*\w\.\w+|(?:nginx\.conf|SECURITY\.md)\b)")
OPEN = re.compile(r"open until (\d{4}-\d{2}-\d{2}): \S.{20,}")
REASON = re.compile(r"not applicable: \S.{15,}")
AS_OF = re.compile(r"^As of (\d{4}-\d{2}-\d{2})\.", re.MULTILINE)


@cache
def functions_of(path: str) -> frozenset[str]:
    """Return the names of the test functions in a file of the project; none where there is no such file."""
    file = PROJECT / path
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = (node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(name for name in names if name.startswith("test_"))


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


GOOD = "As of 2026-11-22.\n| 1.1.1 | 2 | Decoding | nginx.conf (a note) |\n"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("nginx.conf (a note)", "", "neither a test"),
        ("nginx.conf (a note)", "yes", "neither a test"),
        ("nginx.conf", "not applicable: no", "neither a test"),
        ("nginx.conf", "edge/no_such_file.py", "no file"),
        ("nginx.conf", "tests/laws/test_asvs.py::test_that_is_not_there", "no test"),
        ("nginx.conf", "tests/laws/no_such_file.py::test_x", "no test"),
        ("nginx.conf (a note)", "open: it will be done at some time", "neither a test"),
        ("nginx.conf (a note)", "open until 2026-11-22: this much is not done yet", "date of an open row"),
        ("Decoding", "", "no subject"),
        ("| 2 |", "| 1 |", "not those of the standard"),
        ("1.1.1", "1.1.2", "not those of the standard"),
        ("As of 2026-11-22.", "", "no date"),
    ],
)
def test_the_law_bites(old: str, new: str, fault: str) -> None:
    assert list(faults(GOOD, {"1.1.1": "2"})) == []
    assert any(fault in one for one in faults(GOOD.replace(old, new), {"1.1.1": "2"}))


def test_a_requirement_that_is_listed_twice_or_missing_is_found() -> None:
    row = GOOD.splitlines()[1] + "\n"
    assert any("each once" in one for one in faults(GOOD + row, {"1.1.1": "2"}))
    assert any("each once" in one for one in faults(GOOD, {"1.1.1": "2", "1.1.2": "2"}))
