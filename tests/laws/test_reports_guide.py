"""docs/guides/reports.md names every parameter and every column that reports have, and none that they have not."""

import re
from pathlib import Path

import pytest

from edge.analytics.reports.declaration import Report
from edge.analytics.reports.declared import REPORTS
from edge.analytics.reports.question import question_names
from edge.analytics.schemas import SustainabilityRow

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "reports.md").read_text(encoding="utf-8")

SECTIONS = dict(re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))

NAME = re.compile(r"`([a-z_0-9]+)`")

every_report = pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.kind.name)


def section_of(heading: str) -> str:
    """Return the section whose heading has this in it."""
    found = [text for title, text in SECTIONS.items() if heading in title]
    assert len(found) == 1, f"docs/guides/reports.md needs one section whose heading has {heading}"
    return found[0]


def report_section(report: Report) -> str:
    """Return the section of a report, whose heading names its call."""
    parameter = report.path_parameter
    return section_of(f"`GET /v1/index{report.base_path}{f'[/{{{parameter}}}]' if parameter else ''}`")


def parameters_of(section: str) -> set[str]:
    """Return the parameters that a section names, with those of another section that it refers to."""
    sentence = re.search(r"Parameters: (.*?)\n\n", section, re.DOTALL)
    assert sentence is not None, "the section needs a paragraph that begins with `Parameters: `"
    same = re.search(r"the same as for (\w+ \w+)", sentence[1])
    return {*NAME.findall(sentence[1])} | (parameters_of(section_of(same[1].capitalize())) if same else set())


@every_report
def test_the_guide_defines_each_column(report: Report) -> None:
    cells = re.findall(r"^\| (`[^|]*) \|", report_section(report), re.MULTILINE)
    defined = {name for cell in cells for name in NAME.findall(cell)}
    assert defined == set(report.row.fields)


def test_the_guide_defines_each_column_of_an_items_footprint() -> None:
    assert set(SustainabilityRow().fields) <= set(NAME.findall(section_of("`GET /v1/index/sustainability/{iid}`")))


@every_report
def test_the_guide_names_each_parameter(report: Report) -> None:
    names = question_names(report.endpoints[0].query)
    assert {*names, "format", "dry_run"} <= parameters_of(report_section(report))
