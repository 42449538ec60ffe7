"""MCP tools: their arguments and the pages of their answers."""

import random
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from marshmallow import fields, validate

from edge.analytics.report_declarations import REPORTS, REPORTS_BY_KIND, Report
from edge.http.lists import CursorSigner
from edge.http.parameters import WholeNumber
from edge.http.problems import Problem
from edge.mcp.calls import checked, result_of
from edge.mcp.protocol import encoded_result
from edge.mcp.tools import LEFT_OUT, LISTED, TOOLS, TOOLS_BY_NAME, RestCall, Tool, report_arguments
from edge.mcp.views import ANSWER_BYTES_MAX, Pages, Part, View, fitted
from shared.errors import InvalidCursor

# Arguments of tools are held against their schema as JSON Schema means it.


TOOL = Tool(
    "t",
    "T",
    "",
    {"limit": {"type": "integer", "minimum": 1, "maximum": 50}},
    lambda _: RestCall("/"),
    lambda body: body,
)


def test_a_number_without_a_fraction_is_an_integer() -> None:
    found = checked(TOOL, {"limit": 5.0})["limit"]
    assert (found, type(found)) == (5, int)


@pytest.mark.parametrize("value", [5.5, 51.0, 0.0, True, "5", float("inf"), float("nan")])
def test_all_else_is_refused(value: Any) -> None:
    with pytest.raises(Problem):
        checked(TOOL, {"limit": value})


# Pages of answers: none is over 4 kB, and together they say everything once and in order.


PAGES = Pages(CursorSigner("s" * 32))

ASKED = {"iid": "IID-A"}


def encoded(page: Mapping[str, Any]) -> bytes:
    return encoded_result("i" * 128, result_of(page))


def pages_of(view: View) -> list[dict[str, Any]]:
    """Follow the cursors to the end."""
    found, position = [], PAGES.position("t", ASKED, None)
    while True:
        page = PAGES.page("t", ASKED, view, position, encoded)
        assert len(encoded(page)) <= ANSWER_BYTES_MAX
        found.append(page)
        cursor = found[-1].pop("next_cursor", None)
        if cursor is None:
            return found
        position = PAGES.position("t", ASKED, cursor)
        assert len(found) < 5_000


@pytest.mark.parametrize("seed", range(20))
def test_pages_hold_every_part_once_in_order_and_each_the_most_that_fits(seed: int) -> None:
    chance = random.Random(seed)
    alphabet = ['"', "\\", "é", "豆", "a", "\n", "😀"]
    rows = [
        {"n": n, "text": "".join(chance.choices(alphabet, k=chance.randrange(90)))}
        for n in range(chance.randrange(1, 700))
    ]
    found = pages_of(View({"total": len(rows)}, [Part("rows", row, element=True) for row in rows]))
    assert [row for page in found for row in page["rows"]] == rows
    assert all(page["total"] == len(rows) for page in found)
    assert all(len(encoded(page)) > ANSWER_BYTES_MAX / 2 for page in found[:-1])


def test_members_lists_and_objects_are_put_together_again() -> None:
    parts = [Part("name", "Soy"), Part("codes", 1, element=True), Part("codes", 2, element=True)]
    parts += [Part("attributes", "red", key="color")]
    assert pages_of(View({}, parts)) == [{"name": "Soy", "codes": [1, 2], "attributes": {"color": "red"}}]


@pytest.mark.parametrize(
    "value",
    [
        "x" * 100_000,
        ["y" * 500] * 1_000,
        {"k" * 300 + str(n): "v" * 300 for n in range(300)},
        [[["z" * 9_000] * 9] * 9],
    ],
)
def test_a_part_that_no_page_could_hold_is_cut(value: Any) -> None:
    assert len(pages_of(View({}, [Part("rows", value, element=True)]))) == 1
    assert "…" in msgspec.json.encode(fitted(value)).decode()


def test_text_that_fits_is_not_cut() -> None:
    row = {"text": "x" * 900}
    assert fitted(row) == row


def test_a_cursor_belongs_to_its_tool_and_arguments() -> None:
    view = View({}, [Part("rows", "x" * 900, element=True)] * 9)
    cursor = PAGES.page("t", ASKED, view, PAGES.position("t", ASKED, None), encoded)["next_cursor"]
    for tool, arguments, text in (
        ("u", ASKED, cursor),
        ("t", {"iid": "IID-B"}, cursor),
        ("t", ASKED, cursor[:-2] + "AA"),
    ):
        with pytest.raises(InvalidCursor):
            PAGES.position(tool, arguments, text)


def test_the_last_page_leads_to_the_next_one_of_the_rest_call() -> None:
    page = PAGES.page("t", ASKED, View({}, [], "rest-cursor"), PAGES.position("t", ASKED, None), encoded)
    assert PAGES.position("t", ASKED, page["next_cursor"]) == ("rest-cursor", 0)


def test_the_list_of_tools_takes_at_most_2500_tokens() -> None:
    # A token of JSON and English has 3 characters or more in the tokenizers in use; 2.5 is on the safe side of all.
    assert len(msgspec.json.encode(LISTED)) / 3 <= 2_500
    # What hosts let a model read: schemas of answers are for the host itself.
    read = [{name: value for name, value in tool.items() if name != "outputSchema"} for tool in LISTED["tools"]]
    assert len(msgspec.json.encode({"tools": read})) / 2.5 <= 2_500
    assert len(TOOLS) <= 8


@pytest.mark.parametrize("value", [{"a": 1}, [1], "x"])
def test_a_part_that_is_left_out_keeps_its_type(value: Any) -> None:
    huge = {"a": {"b": {"c": {"d": {"e": {"f": "豆" * 400}}}}}}
    for _ in range(7):
        huge = {"left": huge, "right": huge}
    large = {dict: huge, list: [huge], str: "x" * 9_000}[type(value)]
    assert type(fitted(large)) is type(value) and "…" in msgspec.json.encode(fitted(large)).decode()


# The tool of reports takes what the reports declare: a parameter that one of them gains is an argument at once.


ARGUMENTS = TOOLS_BY_NAME["market_report"].properties

OWN = {"report", "job"}


def declared(report: Report) -> Mapping[str, fields.Field[Any]]:
    query = report.endpoints[-1].query()
    return {field.data_key or name: field for name, field in query.fields.items()}


def choices(field: fields.Field[Any]) -> list[str]:
    return [choice for one in field.validators if isinstance(one, validate.OneOf) for choice in one.choices]


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.kind.name)
def test_each_parameter_of_a_report_is_an_argument_with_all_its_values(report: Report) -> None:
    for name, field in declared(report).items():
        if name in LEFT_OUT:
            assert name not in ARGUMENTS or name == "cursor"
            continue
        schema = Draft202012Validator({"type": "object", "properties": ARGUMENTS, "additionalProperties": False})
        inner = field.inner if isinstance(field, fields.List) else field
        for value in choices(inner):
            assert schema.is_valid({name: [value] if isinstance(field, fields.List) else value}), (name, value)
        for bound in (one for one in field.validators if isinstance(one, validate.Range)):
            assert schema.is_valid({name: bound.min}) and schema.is_valid({name: bound.max})


def test_the_tool_has_no_argument_that_no_report_has() -> None:
    assert set(ARGUMENTS) - OWN == {name for report in REPORTS for name in declared(report)} - LEFT_OUT
    assert ARGUMENTS["report"]["enum"] == list(REPORTS_BY_KIND)


def test_a_parameter_that_some_reports_do_not_restrict_is_restricted_for_none() -> None:
    both = report_arguments([REPORTS_BY_KIND["cohorts"], REPORTS_BY_KIND["price-index"]])
    alone = report_arguments([REPORTS_BY_KIND["cohorts"]])
    assert set(alone["granularity"]["enum"]) < set(both["granularity"]["enum"])
    assert "enum" not in both["currency"]
    assert (both["window"]["type"], alone.get("window")) == ("integer", None)
    assert isinstance(declared(REPORTS_BY_KIND["price-index"])["window"], WholeNumber)


@pytest.mark.parametrize(
    ("rate", "fits"), [(0, True), (0.5, True), (1, True), (1.01, False), (True, False), ("0.5", False)]
)
def test_a_rate_is_a_number_within_its_bounds(rate: object, fits: bool) -> None:
    given = {"report": "sustainability-rollup", "displacement_rate": rate}
    if fits:
        assert checked(TOOLS_BY_NAME["market_report"], given) == given
    else:
        with pytest.raises(Problem) as refused:
            checked(TOOLS_BY_NAME["market_report"], given)
        [fault] = refused.value.faults
        assert fault == ("displacement_rate", "must be a number from 0 to 1", rate)
