"""deploy/docs/contract.md says what the code does: its paths, problem types and limits are compared with both."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.ctl.openapi import openapi
from edge.http.faults import CATALOGUE
from shared.jobs import contract as jobs

PAGE = (Path(__file__).parents[2] / "deploy" / "docs" / "contract.md").read_text(encoding="utf-8")
MIGRATIONS = Path(__file__).parents[2] / "shared" / "db" / "migrations"
_OPERATION = re.compile(r"`(GET|POST|DELETE) (/[a-z0-9/{}._-]*)[^`]*`")
_UNITS = re.compile(
    r"cohorts, insights (\d+) \((\d+) if cached\); rollup (\d+); export (\d+); price index (\d+) \((\d+) if cached\)"
)


def section(number: int) -> str:
    """Return the text of a section of the page."""
    return re.split(r"^## \d+\. ", PAGE, flags=re.MULTILINE)[number]


@pytest.fixture(scope="module")
def documented() -> set[tuple[str, str]]:
    """The operations of the OpenAPI document, with `{}` for each path parameter."""
    paths = json.loads(CliRunner().invoke(openapi, []).stdout)["paths"]
    return {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path.removeprefix("/v1")))
        for path, operations in paths.items()
        for method in operations
    }


def test_each_operation_of_the_page_exists(documented: set[tuple[str, str]]) -> None:
    named = {(m, re.sub(r"\{\w+\}", "{}", path)) for m, path in _OPERATION.findall(section(1) + section(11))}
    assert len(named) > 15
    assert named - documented == set()


def test_each_problem_type_of_the_page_exists_with_its_status() -> None:
    rows = [row for row in section(7).splitlines() if re.match(r"\| \d", row)]
    assert len(rows) > 6
    for row in rows:
        statuses, slugs = row.split("|")[1:3]
        known = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", slugs)) - {"retry-after"}
        assert known, row
        for slug in known:
            assert str(CATALOGUE[slug].status) in statuses, slug


def test_the_units_of_the_page_are_charged() -> None:
    found = _UNITS.search(section(9))
    assert found
    units = [jobs.COHORTS.units, jobs.COHORTS.units_cached, jobs.SUSTAINABILITY_ROLLUP.units, jobs.EXPORT.units]
    units += [jobs.PRICE_INDEX.units, jobs.PRICE_INDEX.units_cached]
    assert [int(number) for number in found.groups()] == units


def test_the_limits_of_the_page_are_those_a_new_database_has() -> None:
    row = next(line for line in section(9).splitlines() if line.startswith("| daily"))
    limits = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) (?:requests|units) /", row)]
    founding = (MIGRATIONS / "0001_accounts.sql").read_text(encoding="utf-8")
    stored = re.findall(r"\('(?:anonymous|free|brand|institutional)', '[^']*', \d, '\w+', (\d+),", founding)
    assert limits == [int(number) for number in stored]
