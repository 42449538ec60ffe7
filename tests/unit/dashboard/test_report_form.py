"""The report builder's form has every parameter of the report's declaration, with what it allows."""

import pytest

from edge.analytics.report import Report
from edge.analytics.report_declarations import REPORTS, REPORTS_BY_KIND
from edge.analytics.report_schemas import question_names
from edge.dashboard.forms import Field, fields_of


def fields(kind: str) -> dict[str, Field]:
    return {field.parameter: field for field in fields_of(REPORTS_BY_KIND[kind])}


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.title)
def test_every_parameter_that_changes_the_answer_has_a_field(report: Report) -> None:
    found = fields(report.kind.name)
    path = {report.path_parameter} - {None}
    assert set(found) == set(question_names(report.form.query)) | path
    assert all(field.label for field in found.values())


def test_the_price_index_offers_quarters_and_years() -> None:
    assert {"month", "quarter", "year"} <= {value for value, _ in fields("price-index")["granularity"].choices}


@pytest.mark.parametrize("kind", ["cohorts", "category-insights", "brand-insights", "price-index"])
def test_statistics_of_prices_offer_outliers_and_another_currency(kind: str) -> None:
    found = fields(kind)
    assert {value for value, _ in found["outliers"].choices} == {"exclude", "include"}
    assert {"convert", "rates"} <= set(found)
