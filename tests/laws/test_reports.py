"""Each report is declared once, and everything that serves it follows from the declaration."""

from collections.abc import Iterator

import pytest
from marshmallow import Schema, fields
from multidict import MultiDict

from edge.analytics.period_words import Periods
from edge.analytics.reports.declaration import Report
from edge.analytics.reports.declared import REPORTS
from edge.analytics.reports.question import question_names
from edge.analytics.wording import RowContext
from edge.dashboard.reports import FORMS, asked_report
from edge.dashboard.summaries import summary_of
from edge.docs.document import EXAMPLES as EXAMPLES_REPORTS
from edge.docs.root import CAPABILITIES
from edge.http.problems import Problem
from tests.assurance.truth.endpoints import ENDPOINTS
from tests.laws.contract_page import units_of_the_page
from tests.laws.test_reports_guide import every_report


@every_report
def test_each_sentence_on_the_dashboard_reads_the_rows_that_the_report_has(report: Report) -> None:
    for example in (EXAMPLES_REPORTS[endpoint.operation] for endpoint in report.endpoints if endpoint.example):
        reading = RowContext(Periods.of({}, example["meta"]), example["meta"]["units"])
        summary = summary_of(report, {}, example["data"], reading)
        assert summary.figure
        assert summary.sentence


def test_operations_paths_and_entitlements_are_unique() -> None:
    endpoints = [endpoint for report in REPORTS for endpoint in report.endpoints]
    assert len({one.operation for one in endpoints}) == len({one.path for one in endpoints}) == len(endpoints)
    assert len({report.entitlement for report in REPORTS}) == len({report.route_name for report in REPORTS})
    assert {report.entitlement: report.route_name for report in REPORTS}.items() <= CAPABILITIES.items()


@every_report
def test_each_path_names_the_parameter_that_its_schema_has(report: Report) -> None:
    for endpoint in report.endpoints:
        parameter = endpoint.path_parameter
        assert endpoint.path == report.base_path + (f"/{{{parameter}}}" if parameter else "")


@every_report
def test_each_picture_draws_columns_that_the_rows_have(report: Report) -> None:
    rows = report.row.fields
    picture = report.picture
    drawn = {*picture.lines, *picture.spread, *([picture.compared] if picture.spread else ())}
    boxes = {"min", "p10", "p25", "p50", "p75", "p90", "max"} if picture.boxes else set()
    assert drawn | boxes <= rows.keys()
    assert report.columns, "the dashboard's table shows these first"
    assert set(report.columns) <= rows.keys()


@every_report
def test_each_example_has_its_answer_in_the_document(report: Report) -> None:
    wanted = {endpoint.operation for endpoint in report.endpoints if endpoint.example}
    assert wanted
    assert wanted <= EXAMPLES_REPORTS.keys(), "run `python -m tests.support.examples`"


def figures_of(schema: Schema, before: str = "") -> Iterator[str]:
    """Yield the names of the figures of a row; of those in a list the list's name is before theirs."""
    for name, field in schema.fields.items():
        if isinstance(field, fields.List) and isinstance(field.inner, fields.Nested):
            yield from figures_of(field.inner.schema, f"{before}{name}.")
        elif isinstance(field, fields.Integer | fields.Float) or field.metadata.get("format") == "decimal":
            yield before + name


@every_report
def test_each_figure_has_its_unit(report: Report) -> None:
    [example, *_] = (EXAMPLES_REPORTS[endpoint.operation] for endpoint in report.endpoints if endpoint.example)
    units = example["meta"]["units"]
    without = {name for name in figures_of(report.row) if name not in units}
    # A rank is a place, and the figures of a list may have the unit that the list says.
    assert {name for name in without if name.partition(".")[0] not in units} <= {"rank", "rank_before"}


@every_report
def test_the_judge_of_all_figures_asks_each_call(report: Report) -> None:
    paths = {endpoint.path.removeprefix("/") for endpoint in report.endpoints}
    assert paths <= ENDPOINTS.keys(), (
        "recompute it in tests/assurance/truth/questions, and name it in `ENDPOINTS` there"
    )


@every_report
def test_the_dashboards_form_has_the_parameters_of_the_api(report: Report) -> None:
    typed = {
        **{"brand": "b,a", "category": "c", "slug": "b", "code": "c", "from": "2026-07-01", "channel": "z, y"},
        "weights": "cpi",
    }
    form = FORMS[report.kind.name].form
    names = {field.name for field in form.fields}
    asked = asked_report(form.sent(MultiDict((n, v) for n, v in typed.items() if n in names)), "https://host/v1")
    assert asked.report is report
    assert asked.parameters["channel"] == ["y", "z"]
    assert asked.parameters["from"] == "2026-07-01"
    named = {report.path_parameter} if report.path_parameter else set()
    assert asked.parameters.keys() == {*question_names(report.form.query), *named}
    assert asked.url.startswith(f"https://host/v1/index{report.base_path}{'/' if named else '?'}")


def test_a_name_in_the_path_of_a_call_is_escaped() -> None:
    asked = asked_report(FORMS["category-insights"].form.sent(MultiDict(code="a/b c?")), "https://host/v1")
    assert asked.url == "https://host/v1/index/insights/categories/a%2Fb%20c%3F"


@every_report
def test_the_form_has_a_field_for_each_parameter_of_the_report_and_refuses_every_other(report: Report) -> None:
    form = FORMS[report.kind.name].form
    named = [report.path_parameter] if report.path_parameter else []
    assert [field.parameter for field in form.fields] == [*named, *question_names(report.form.query), "format"]
    others = {field.name for other in REPORTS for field in FORMS[other.kind.name].form.fields}
    for name in others - {field.name for field in form.fields}:
        with pytest.raises(Problem) as raised:
            form.sent(MultiDict({name: "x"})).body()
        assert name in raised.value.detail


@every_report
def test_each_field_has_a_sentence_and_its_own_name(report: Report) -> None:
    listed = FORMS[report.kind.name].form.fields
    assert all(field.sentence and field.label for field in listed)
    names = [field.name for field in listed]
    assert len(names) == len(set(names))
    assert "kind" not in names  # the form's own `kind` is the report's


def test_the_units_of_reports_are_those_of_the_page() -> None:
    words = {"cohorts", "insights", "price index", "reductions", "rollup"}
    assert words <= units_of_the_page().keys()
    for report in REPORTS:
        named = [
            units for name, units in units_of_the_page().items() if report.kind.name.replace("-", " ").endswith(name)
        ]
        assert named in ([], [(report.kind.units, report.kind.units_cached)])


def test_a_name_of_a_column_has_one_heading() -> None:
    headings = {pair for report in REPORTS for pair in report.headings.items()}
    assert len(headings) == len({name for name, _ in headings})
