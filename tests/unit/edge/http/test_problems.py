"""`detail` alone says what was wrong: the parameter, the value, what is allowed; short, and safe to print."""

from typing import Any

import pytest
from marshmallow import Schema, ValidationError

from edge.analytics.reports.cohorts import CohortsQuery
from edge.analytics.reports.sustainability_rollup import RollupQuery
from edge.analytics.schemas import PricingQuery
from edge.events.schemas import FeedQuery, NewWatch, NewWebhook
from edge.http.catalogue import CATALOGUE
from edge.http.faults import DETAIL_CHARACTERS_MAX, Fault, detail_of, shown_value, unknown
from edge.http.problem_details import problem_of
from edge.http.problems import Problem, invalid_parameters
from edge.http.validation import in_our_words, problem_of_validation
from edge.index.list_schemas import BrandsQuery
from edge.index.resolve_schemas import ResolveBody
from edge.mcp.calls import rename_parameters
from shared.errors import InvalidParameter, WrongIdentifier


def test_every_problem_has_a_reason_phrase_and_a_remedy() -> None:
    for entry in CATALOGUE.values():
        assert entry.title
        assert 300 <= entry.status <= 599 and entry.status != 304
        assert entry.meaning.endswith(".") and entry.remedy.endswith(".")


BELOW = {"target": "brand", "code": "b", "condition": "below", "amount": "9.125"}


def _refused(schema: type[Schema], given: dict[str, Any]) -> Problem:
    with pytest.raises(ValidationError) as raised:
        schema().load(given)
    raised.value.messages = {"querystring": raised.value.messages}
    return problem_of_validation(raised.value, schema())


@pytest.mark.parametrize(
    ("schema", "given", "detail"),
    [
        (BrandsQuery, {"limit": "0"}, "`limit`: `0` is not valid; must be a whole number from 1 to 500."),
        (
            FeedQuery,
            {"after": "-1"},
            "`after`: `-1` is not valid; must be a whole number of at most 18 digits, at least 0.",
        ),
        (
            RollupQuery,
            {"displacement_rate": "2"},
            "`displacement_rate`: `2` is not valid; must be a number from 0 to 1.",
        ),
        (
            CohortsQuery,
            {"brand": ["b"], "group_by": ["brand", "category", "channel"]},
            '`group_by`: `["brand","category","channel"]` is not valid; must be repeated at most 2 times.',
        ),
        (
            PricingQuery,
            {"currency": "hkd"},
            "`currency`: `hkd` is not valid; must be a three-letter currency code in capitals",
        ),
        (BrandsQuery, {"limit": "many"}, "`limit`: `many` is not valid; must be a whole number from 1 to"),
        (BrandsQuery, {"lmit": "5"}, "`lmit` is unknown; allowed: cursor, limit, q"),
        (PricingQuery, {"channel": ["ok", "x" * 201]}, f"`channel`: `{'x' * 39}…` is not valid; must have 1 to 200"),
        (PricingQuery, {"from": "20260701"}, "`from`: `20260701` is not valid; must be a date in the form YYYY-MM-DD"),
        (NewWatch, {"target": "brand", "condition": "new-low"}, "`code` is required"),
        (NewWatch, {"target": "shop", "code": "x", "condition": "new-low"}, "`target`: `shop` is not valid; must be"),
        (NewWatch, {**BELOW, "currency": "JPY"}, "`amount`: `9.125` is not valid; must have no decimals in JPY."),
        (
            ResolveBody,
            {"identifiers": [{"gtin": "4006381333931"}, {"gtin": 1}]},
            "`identifiers.1.gtin`: `1` is not valid; must be a string.",
        ),
        (ResolveBody, {"identifiers": [{"gtni": "1"}]}, "`identifiers.0.gtni` is unknown; allowed: as_of, brand, ean,"),
        (ResolveBody, {"identifiers": ["x"]}, "`identifiers.0`: must be an object."),
        (ResolveBody, {"identifiers": [None]}, "`identifiers.0`: must not be null."),
        (  # not two thousand faults
            ResolveBody,
            {"identifiers": [5] * 2_000},
            "`identifiers`: `[5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,…` is not valid; must have a length between 1 and 1000.",
        ),
        (NewWatch, {**BELOW, "amount": 1.5}, "`amount`: `1.5` is not valid; must be a string."),
        (
            NewWatch,
            {**BELOW, "currency": "HKD"},
            "`amount`: `9.125` is not valid; must have at most 2 decimals in HKD.",
        ),
    ],
)
def test_a_refusal_names_the_parameter_the_value_and_what_is_allowed(
    schema: type[Schema], given: dict[str, Any], detail: str
) -> None:
    problem = _refused(schema, given)
    assert problem.detail.startswith(detail)
    assert "errors" in problem.extra
    assert "See `errors`" not in problem.detail


def test_a_body_that_is_no_object_is_told_to_be_one() -> None:
    assert in_our_words(BrandsQuery().error_messages["type"]) == "must be an object"


def test_a_name_that_the_index_does_not_have_is_named_with_the_list_of_those_it_has() -> None:
    problem = invalid_parameters([unknown("brand", "brand", "nosuch")])
    assert problem.detail == "`brand`: `nosuch` is not a known brand; see /v1/index/brands."
    assert problem.extra["errors"] == [
        {"parameter": "brand", "detail": "is not a known brand; see /v1/index/brands", "value": "nosuch"}
    ]


def test_a_refusal_of_a_domain_error_has_its_value_too() -> None:
    problem = problem_of(InvalidParameter("from", "must not be after `to`, which is 2026-01-01", "2026-02-01"))
    assert problem is not None
    assert problem.detail == "`from`: `2026-02-01` is not valid; must not be after `to`, which is 2026-01-01."


def test_a_number_whose_zero_was_eaten_comes_back_with_it() -> None:
    """waistline#701: eleven digits of a UPC-A whose first zero a spreadsheet removed."""
    wrong = WrongIdentifier("gtin", "must have 8, 12, 13 or 14 digits", "31146262571", None, "031146262571")
    problem = problem_of(wrong)
    assert problem is not None
    assert problem.detail == (
        "`gtin`: `31146262571` is not valid; must have 8, 12, 13 or 14 digits; did you mean `031146262571`?"
    )
    assert problem.extra["suggestion"] == "031146262571"


def test_the_first_of_many_faults_are_in_the_detail_and_all_of_them_in_the_list() -> None:
    faults = [unknown("brand", "brand", f"brand-{n}") for n in range(50)]
    problem = invalid_parameters(faults)
    assert "`brand-0`" in problem.detail
    assert "`brand-2`" in problem.detail
    assert problem.detail.endswith("46 more in `errors`.")
    assert len(problem.detail) <= DETAIL_CHARACTERS_MAX
    assert len(problem.extra["errors"]) == 50


def test_one_long_fault_is_cut() -> None:
    text = detail_of([Fault("granularity", f"must be one of {'a' * 900}", "x"), Fault("limit", "is required")])
    assert len(text) == DETAIL_CHARACTERS_MAX
    assert text.startswith("`granularity`: `x` is not valid; must be one of aaa")
    assert text.endswith("… 1 more in `errors`.")


def test_a_quoted_value_is_short_and_in_one_line() -> None:
    for value, shown in (
        ("a\nb\x1b[2J\u202e", "a\\u000ab\\u001b[2J\\u202e"),
        ("`x`", "'x'"),
        ("<script>", "\\u003cscript\\u003e"),
        ("", None),
        (" ", None),
        (True, "true"),
        ({"a": [1]}, '{"a":[1]}'),
        ("\ud800", "\\ud800"),
        ("x" * 500, "x" * 39 + "…"),
        (None, None),
    ):
        assert shown_value(value) == shown, value


def test_a_credential_in_the_wrong_place_is_not_repeated() -> None:
    for secret in ("iixk_live_0123456789abc", "x iixp_free_01", "eyJhbGciOi.eyJzdWIi.c2ln"):
        problem = problem_of(InvalidParameter("brand", "is not a known brand", value=secret))
        assert problem is not None, secret
        assert secret[-6:] not in problem.detail, secret
        assert problem.detail.startswith("`brand` is not a known brand"), secret


def test_the_address_of_a_webhook_is_not_repeated_since_it_may_hold_a_password() -> None:
    problem = _refused(NewWebhook, {"url": "https://me:secret@shop.example/" + "x" * 3_000})
    assert "secret" not in problem.detail
    assert "secret" not in str(problem.extra)


def test_a_tool_names_its_own_arguments_and_leaves_values_alone() -> None:
    rest = invalid_parameters([Fault("from", "must not be after `to`, which is 2026-01-01", "to")])
    renamed = rename_parameters(rest, {"from": "first_day", "to": "last_day"})
    assert renamed.detail == "`first_day`: `to` is not valid; must not be after `last_day`, which is 2026-01-01."
    assert renamed.extra["errors"][0]["parameter"] == "first_day"
