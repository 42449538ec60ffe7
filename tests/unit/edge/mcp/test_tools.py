"""The tool of reports takes what the reports declare: a parameter that one of them gains is an argument at once."""

import asyncio
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from aiohttp import web
from jsonschema import Draft202012Validator
from marshmallow import fields, validate

from edge.analytics.envelope import light_offer
from edge.analytics.price_history import SCHEMA
from edge.analytics.reports.declaration import Report
from edge.analytics.reports.declared import REPORTS, REPORTS_BY_KIND
from edge.http.faults import Fault
from edge.http.parameters import WholeNumber
from edge.http.problems import Problem
from edge.mcp.calls import check_arguments
from edge.mcp.tools import LEFT_OUT, TOOLS_BY_NAME, report_arguments

ARGUMENTS = TOOLS_BY_NAME["market_report"].properties

OWN = {"report", "job"}


def declared(report: Report) -> Mapping[str, fields.Field[Any]]:
    query = report.endpoints[-1].query()
    return {field.data_key or name: field for name, field in query.fields.items()}


def choices(field: fields.Field[Any]) -> list[str]:
    return [choice for one in field.validators if isinstance(one, validate.OneOf) for choice in one.choices]


def test_each_parameter_of_a_report_is_an_argument_with_all_its_values() -> None:
    schema = Draft202012Validator({"type": "object", "properties": ARGUMENTS, "additionalProperties": False})
    for report in REPORTS:
        for name, field in declared(report).items():
            if name in LEFT_OUT:
                assert name not in ARGUMENTS or name == "cursor", (report, name)
                continue
            inner = field.inner if isinstance(field, fields.List) else field
            for value in choices(inner):
                assert schema.is_valid({name: [value] if isinstance(field, fields.List) else value}), (name, value)
            for bound in (one for one in field.validators if isinstance(one, validate.Range)):
                assert schema.is_valid({name: bound.min}) and schema.is_valid({name: bound.max}), (report, name)


def test_the_tool_has_no_argument_that_no_report_has() -> None:
    assert set(ARGUMENTS) - OWN == {name for report in REPORTS for name in declared(report)} - LEFT_OUT
    assert ARGUMENTS["report"]["enum"] == list(REPORTS_BY_KIND)


def test_a_parameter_that_some_reports_do_not_restrict_is_restricted_for_none() -> None:
    both = report_arguments([REPORTS_BY_KIND["cohorts"], REPORTS_BY_KIND["price-index"]])
    alone = report_arguments([REPORTS_BY_KIND["cohorts"]])
    assert set(alone["granularity"]["enum"]) < set(both["granularity"]["enum"])
    assert "enum" not in both["currency"]
    assert both["match"]["enum"] == ["channel", "item"]
    assert (both["window"]["type"], alone.get("window")) == ("integer", None)
    assert isinstance(declared(REPORTS_BY_KIND["price-index"])["window"], WholeNumber)


def test_the_list_of_tools_leaves_bounds_and_long_choices_to_the_refusal() -> None:
    tool = TOOLS_BY_NAME["market_report"]
    listed = tool.declaration["inputSchema"]["properties"]
    assert listed["method"] == {"type": "string", "description": "Index formula"}
    assert listed["granularity"] == ARGUMENTS["granularity"]
    assert not {"minimum", "maximum", "maxItems"} & {key for schema in listed.values() for key in schema}
    for wrong in ({"method": "none"}, {"follow_days": 91}, {"brand": ["b"] * 101}):
        with pytest.raises(Problem):
            check_arguments(tool, {"report": "price-changes", **wrong})


@pytest.mark.parametrize(
    ("rate", "fits"), [(0, True), (0.5, True), (1, True), (1.01, False), (True, False), ("0.5", False)]
)
def test_a_rate_is_a_number_within_its_bounds(rate: object, fits: bool) -> None:
    given = {"report": "sustainability-rollup", "displacement_rate": rate}
    if fits:
        assert check_arguments(TOOLS_BY_NAME["market_report"], given) == given
    else:
        with pytest.raises(Problem) as refused:
            check_arguments(TOOLS_BY_NAME["market_report"], given)
        [fault] = refused.value.faults
        assert fault == Fault("displacement_rate", "must be a number from 0 to 1", rate)


def test_an_answer_whose_meta_changed_has_another_etag() -> None:
    # Of an item without observations the range ends today, and the rows are the same: none.
    def of(day: date, format: str) -> web.Response:
        meta = {"data_version": 7, "from": date(2026, 8, 30), "to": day, "units": {}, "method": "m"}
        return asyncio.run(light_offer([], SCHEMA, meta, format)).response

    for format in ("json", "csv"):
        today, again, tomorrow = (of(date(2026, 11, day), format) for day in (27, 27, 28))
        assert today.headers["ETag"] == again.headers["ETag"]
        assert (today.headers["ETag"] == tomorrow.headers["ETag"]) == (today.body == tomorrow.body)
    assert of(date(2026, 11, 27), "json").body != of(date(2026, 11, 28), "json").body
