"""The page of the contract has the operations, problems, units and limits of the code."""

import re

import pytest

from edge.http.catalogue import CATALOGUE
from shared.jobs import contract as jobs
from tests.laws.contract_page import section, units_of_the_page
from tests.support import openapi

_OPERATION = re.compile(r"`(GET|POST|DELETE) (/[a-z0-9/{}._-]*)[^`]*`")


@pytest.fixture(scope="module")
def documented() -> set[tuple[str, str]]:
    """The operations of the OpenAPI document, with `{}` for each path parameter."""
    paths = openapi.document()["paths"]
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


def test_the_units_of_an_export_are_those_of_the_page() -> None:
    assert units_of_the_page()["export"] == (jobs.EXPORT.units, jobs.EXPORT.units_cached)
