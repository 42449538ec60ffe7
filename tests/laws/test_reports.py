"""Each report is declared once, and everything that serves it follows from the declaration."""

import pytest

from edge.analytics.report import Report
from edge.analytics.report_declarations import REPORTS, REPORTS_BY_KIND
from edge.analytics.report_schemas import question_names
from edge.dashboard.forms import FormFaults, fields_of, read_form
from edge.dashboard.session_guard import PageError
from edge.docs.document import EXAMPLES
from edge.docs.root import CAPABILITIES
from shared.jobs.contract import KINDS
from workers.analytics.reports.publish import COMPUTATIONS

every_report = pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.kind.name)


def test_each_kind_of_report_is_declared_and_computed() -> None:
    kinds = {name for name, kind in KINDS.items() if kind.queue == "reports"}
    assert REPORTS_BY_KIND.keys() == kinds
    assert COMPUTATIONS.keys() == kinds
    assert len(REPORTS_BY_KIND) == len(REPORTS)


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
    rows = report.reply().fields["data"].inner.schema.fields
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
    assert wanted <= EXAMPLES.keys()


@every_report
def test_the_dashboards_form_has_the_parameters_of_the_api(report: Report) -> None:
    typed = {"brand": "b,a", "category": "c", "slug": "b", "code": "c", "from": "2026-07-01", "channel": "z, y"}
    names = {field.name for field in fields_of(report)}
    form = read_form({"kind": report.kind.name, **{n: v for n, v in typed.items() if n in names}}, "https://host/v1")
    assert form.report is report
    assert form.parameters["channel"] == ["y", "z"]
    assert form.parameters["from"] == "2026-07-01"
    named = {report.path_parameter} if report.path_parameter else set()
    assert form.parameters.keys() == {*question_names(report.form.query), *named}
    assert form.url.startswith(f"https://host/v1/index{report.base_path}{'/' if named else '?'}")


@every_report
def test_the_form_has_a_field_for_each_parameter_of_the_report_and_refuses_every_other(report: Report) -> None:
    parameters = [field.parameter for field in fields_of(report)]
    named = [report.path_parameter] if report.path_parameter else []
    assert parameters == [*named, *question_names(report.form.query)]
    others = {field.name for other in REPORTS for field in fields_of(other)} - {f.name for f in fields_of(report)}
    for name in others:
        with pytest.raises(FormFaults, match=name):
            read_form({"kind": report.kind.name, "brand": "a", "slug": "a", name: "x"}, "https://host/v1")


def test_a_form_without_a_known_report_is_refused() -> None:
    with pytest.raises(PageError):
        read_form({"kind": "export"}, "https://host/v1")


@every_report
def test_each_field_has_a_sentence_and_its_own_name(report: Report) -> None:
    listed = fields_of(report)
    assert all(field.sentence and field.label for field in listed)
    names = [field.name for field in listed]
    assert len(names) == len(set(names))
    assert "kind" not in names  # the form's own `kind` is the report's
