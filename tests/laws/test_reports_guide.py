"""deploy/guides/reports.md names every parameter and every column that reports have, and none that they have not."""

import re
from pathlib import Path

import pytest
from marshmallow import Schema

from edge.analytics import report_declarations as reduction_schemas
from edge.analytics import report_declarations as rollup_schemas
from edge.analytics import report_schemas as rows
from edge.analytics import report_schemas as schemas
from edge.analytics.report_declarations import REPORTS
from edge.analytics.schemas import SustainabilityRow

PAGE = (Path(__file__).parents[2] / "deploy" / "guides" / "reports.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\w+)[^\n]*\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
NAME = re.compile(r"`([a-z_0-9]+)`")


def columns_of(section: str) -> set[str]:
    """Return the names in the first column of a section's table."""
    cells = re.findall(r"^\| (`[^|]*) \|", SECTIONS[section], re.MULTILINE)
    return {name for cell in cells for name in NAME.findall(cell)}


ROWS = [
    ("Cohorts", rows.CohortRow),
    ("Category", rows.CategoryRow),
    ("Brand", rows.BrandRow),
    ("Price", rows.PriceIndexRow),
    ("Reductions", rows.ReductionRow),
    ("Sustainability", rows.RollupRow),
]


def test_every_report_has_its_section() -> None:
    replies = [report.reply().fields["data"] for report in REPORTS]
    assert {type(data.inner.schema) for data in replies} == {row for _, row in ROWS}


@pytest.mark.parametrize(("section", "row"), ROWS)
def test_the_guide_defines_each_column(section: str, row: type[Schema]) -> None:
    assert columns_of(section) == set(row().fields)


def test_the_guide_defines_each_column_of_an_items_footprint() -> None:
    assert set(SustainabilityRow().fields) <= set(NAME.findall(SECTIONS["One"]))


@pytest.mark.parametrize(
    ("section", "names"),
    [
        ("Cohorts", schemas.question_names(schemas.CohortsQuery)),
        ("Price", schemas.question_names(schemas.PriceIndexQuery)),
        ("Reductions", schemas.question_names(reduction_schemas.ReductionsQuery)),
        ("Sustainability", schemas.question_names(rollup_schemas.RollupQuery)),
        ("Category", schemas.question_names(schemas.CategoryListQuery)),
    ],
)
def test_the_guide_names_each_parameter(section: str, names: tuple[str, ...]) -> None:
    sentence = re.search(r"Parameters: (.*?)\n\n", SECTIONS[section], re.DOTALL)
    assert sentence is not None
    assert {*names, "format", "dry_run"} <= set(NAME.findall(sentence[1]))
