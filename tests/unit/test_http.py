"""HTTP without a server: parameters, bodies, conditions and fields of requests, and what a caller gets to a mistake."""

import asyncio
import json
import logging
import socket
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import Schema, ValidationError, fields

from edge.analytics.report_schemas import CohortsQuery, RollupQuery
from edge.analytics.schemas import DisplacementQuery, PricingQuery
from edge.bulk.schemas import VersionQuery
from edge.events.schemas import FeedQuery, NewWatch, NewWebhook
from edge.http.context import instance_of, request_id_from, uuid7
from edge.http.json import JSON_DEPTH_MAX, decode_json
from edge.http.lists import CursorSigner
from edge.http.middleware import framing_is_excessive
from edge.http.parameters import in_our_words, problem_of_validation
from edge.http.prefer import best_format, wait_seconds
from edge.http.problems import (
    CATALOGUE,
    DETAIL_CHARACTERS_MAX,
    Fault,
    Problem,
    detail_of,
    invalid_parameters,
    problem_of,
    quoted,
    unknown,
)
from edge.http.representation import match, none_match
from edge.http.stream import Slice, Unsatisfiable, slice_of
from edge.index.schemas import BrandsQuery, IdentifierFields, ResolveBody
from edge.mcp.calls import named_as_arguments, path_of
from edge.mcp.tools import RestCall
from edge.quota.billing import limit_fields, refusal
from edge.quota.limiter import Decision
from edge.server import EdgeServer
from shared.analytics.manifest import MEDIA_TYPES
from shared.errors import InvalidCursor, InvalidJson, InvalidParameter, WrongIdentifier
from shared.organizations import credentials
from shared.settings.settings import Settings
from shared.telemetry.log import trace_of
from tests.support.accounts import BRAND

# Tokens, cursors, conditions, limit fields, request ids: decided without a server.


CURSORS = CursorSigner("a secret that is long enough for tests")


def test_a_minted_credential_is_recognized_and_a_mistyped_one_is_not() -> None:
    for prefix in (credentials.FREE_PREFIX, credentials.KEY_PREFIX):
        token = credentials.mint(prefix)
        form = credentials.parse(token)
        assert form is not None, prefix
        assert (form.prefix, len(token)) == (prefix, 58), prefix
        for place in (0, 12, 30, 57):
            wrong = token[:place] + ("a" if token[place] != "a" else "b") + token[place + 1 :]
            assert credentials.parse(wrong) is None, prefix


def test_the_anonymous_token_is_well_formed() -> None:
    assert credentials.parse(Settings().anonymous_token) is not None


def test_garbage_is_no_credential() -> None:
    for text in ("", "iixk_live_", "iixk_live_" + "A" * 48 + "\n", "iixk_live_" + "é" * 48, "x" * 10_000):
        assert credentials.parse(text) is None, text


@given(
    st.dictionaries(st.text(max_size=5), st.integers()),
    st.lists(st.one_of(st.text(max_size=20), st.integers(-(2**60), 2**60)), max_size=3),
)
def test_a_cursor_opens_only_with_its_query(query: dict[str, int], position: list[object]) -> None:
    sealed = CURSORS.seal("search", query, position)
    assert CURSORS.open("search", query, sealed) == position
    for kind, other in (("brands", query), ("search", {**query, "more": 1})):
        with pytest.raises(InvalidCursor):
            CURSORS.open(kind, other, sealed)


@given(st.text(max_size=80))
def test_a_malformed_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidCursor):
        CURSORS.open("search", {}, text)


def test_if_none_match() -> None:
    for field, matches in (
        ('W/"a.1"', True),
        ('"a.1"', True),
        ('"x", W/"a.1"', True),
        ("*", True),
        ('"a.2"', False),
        ("", False),
        (None, False),
        ("a.1", False),
    ):
        assert none_match(field, 'W/"a.1"') == matches, field


def _decision(**changes: object) -> Decision:
    values = {
        "account": "org:1",
        "charge_id": "c",
        "plan": BRAND,
        "units": 1,
        "outcome": 1,
        "used_day": 10,
        "used_second": 2,
        "day": 20_778,
        "ends_in_seconds": 41_213,
        "verified": True,
    }
    return Decision(**{**values, **changes})  # type: ignore[arg-type]


def test_a_refusal_of_the_burst_resets_with_the_next_second_of_the_stores_clock() -> None:
    problem = refusal(_decision(outcome=-1, ends_in_seconds=41_213), "192.0.2.1")
    resets_at = datetime.fromisoformat(problem.extra["resets_at"])
    now = datetime(2026, 11, 22, tzinfo=UTC) - timedelta(seconds=41_213)
    assert resets_at - now == timedelta(seconds=problem.extra["retry_after"]) == timedelta(seconds=1)


def test_a_limit_of_one_unit_is_named_in_the_singular() -> None:
    for units, words in ((1, "Limit of 1 unit a second reached"), (2, "Limit of 2 units a second reached")):
        decision = _decision(outcome=-1, plan=replace(BRAND, burst_units=units))
        assert words in refusal(decision, "192.0.2.1").detail


def test_limit_fields_are_structured_fields_of_both_windows() -> None:
    assert limit_fields(_decision()).decode() == (
        'RateLimit-Policy: "brand-daily";q=50000;w=86400, "brand-burst";q=50;w=1\r\n'
        'RateLimit: "brand-daily";r=49990;t=41213, "brand-burst";r=48;t=1\r\n'
    )
    assert limit_fields(_decision(verified=False)) == b""


def test_a_refusal_states_when_to_retry_and_is_never_negative() -> None:
    for used in (50_000, 70_000):
        decision = _decision(outcome=0, used_day=used)
        problem = refusal(decision, "192.0.2.1")
        assert problem.extra["retry_after"] == int(problem.fields["Retry-After"]) == 41_213, used
        assert problem.extra["resets_at"] == "2026-11-22T00:00:00.000Z", used
        assert decision.remaining_day == 0, used


def test_every_problem_has_a_reason_phrase_and_a_remedy() -> None:
    for entry in CATALOGUE.values():
        assert entry.title
        assert 300 <= entry.status <= 599 and entry.status != 304
        assert entry.meaning.endswith(".") and entry.remedy.endswith(".")


@given(st.text(max_size=100))
def test_a_request_id_is_taken_over_only_when_well_formed(text: str) -> None:
    taken = request_id_from(text)
    assert 8 <= len(taken) <= 64
    assert taken.replace("-", "").replace("_", "").isalnum()
    UUID(instance_of(taken).removeprefix("urn:uuid:"))


def test_a_uuid7_is_one_and_they_come_in_order() -> None:
    made = [uuid7() for _ in range(3)]
    assert {u.version for u in made} == {7}
    assert {u.variant for u in made} == {"specified in RFC 4122"}


def test_a_trace_names_places_and_never_values() -> None:
    try:
        raise RuntimeError("iixk_live_secret")
    except RuntimeError as error:
        reported = trace_of(error)
    assert Path(__file__).name in reported[0]
    assert "secret" not in str(reported)
    assert Problem("internal-error", "x").type.status == 500


# Prefer, Accept, Range: what a header means, and that nonsense means nothing.


def test_how_long_a_caller_wants_to_wait() -> None:
    for field, seconds in (
        (None, 10),
        ("", 10),
        ("wait=0", 0),
        ("wait=7", 7),
        ("WAIT = 7", 7),
        ('wait="7"', 7),
        ("wait=600", 30),
        ("respond-async", 0),
        ("respond-async, wait=20", 0),
        ("handling=lenient, wait=3", 3),
        ("wait=-1", 10),
        ("wait=soon", 10),
        ("wait=٣", 10),
        ("wait=5; foo=bar", 5),
    ):
        assert wait_seconds(field) == seconds, field


def test_which_format_a_caller_likes_best() -> None:
    for field, format in (
        (None, "json"),
        ("", "json"),
        ("*/*", "json"),
        ("application/json", "json"),
        ("text/csv", "csv"),
        ("text/*", "csv"),
        ("application/*", "json"),
        ("application/json;q=0.1, text/csv;q=0.2", "csv"),
        ("application/json;q=0, */*", "csv"),
        ("application/vnd.apache.parquet", "parquet"),
        ("APPLICATION/X-NDJSON", "ndjson"),
        ("text/html, */*;q=0.1", "json"),
        ("image/png", None),
        ("text/csv;q=0", None),
        ("nonsense", None),
    ):
        assert best_format(field, MEDIA_TYPES) == format, field


@given(st.text(max_size=60))
def test_no_header_breaks_them(field: str) -> None:
    assert 0 <= wait_seconds(field) <= 30
    assert best_format(field, MEDIA_TYPES) in {*MEDIA_TYPES, None}
    assert slice_of(field, None, '"e"', 10) is None or field.lower().startswith("bytes=")


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 20))
def test_a_range_names_what_it_says(first: int, last: int, length: int) -> None:
    field = f"bytes={first}-{last}"
    if first >= length and last >= first:
        with pytest.raises(Unsatisfiable):
            slice_of(field, None, '"e"', length)
        return
    expected = Slice(first, min(last + 1, length)) if first <= last else None
    assert slice_of(field, None, '"e"', length) == expected


def test_if_match_compares_strongly() -> None:
    assert match(None, '"a"') and match("*", '"a"') and match('"b", "a"', '"a"')
    assert not match('W/"a"', '"a"') and not match('"b"', '"a"')


# Parameters take what their documents say, and not what Python's readers would take besides.


@pytest.mark.parametrize(
    ("schema", "name", "text"),
    [
        (DisplacementQuery, "displacement_rate", "0_1"),
        (DisplacementQuery, "displacement_rate", " 0.1"),
        (DisplacementQuery, "displacement_rate", "\u0660.\u0661"),
        (IdentifierFields, "source", "north\n"),
        (VersionQuery, "startingTimestamp", "0001-01-01T00:00:00+14:00"),
        (VersionQuery, "startingTimestamp", "9999-12-31T23:00:00-14:00"),
    ],
)
def test_what_only_looks_like_a_value_is_refused(schema: type[Schema], name: str, text: str) -> None:
    with pytest.raises(ValidationError):
        schema().load({name: text})


def test_a_rate_is_any_usual_spelling_of_a_number() -> None:
    for text, rate in (("0.5", 0.5), (".5", 0.5), ("1", 1.0), ("1.", 1.0), ("5e-1", 0.5)):
        assert DisplacementQuery().load({"displacement_rate": text})["displacement_rate"] == rate, text


@pytest.mark.parametrize(
    ("body", "name"), [([], "body"), ({"filter": []}, "filter"), ({"filter": {"top": 1}}, "filter.top")]
)
def test_what_is_no_object_is_named_where_it_stands(body: object, name: str) -> None:
    schema = Schema.from_dict({"filter": fields.Nested(Schema.from_dict({"brand": fields.Str()}))})()
    with pytest.raises(ValidationError) as raised:
        schema.load(body)  # type: ignore[arg-type]
    error = ValidationError({"json": raised.value.messages})
    assert [fault["parameter"] for fault in problem_of_validation(error, schema).extra["errors"]] == [name]


# Bodies in JSON: what two decoders could read differently is refused.


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_text_of_pythons_own_encoder_is_read_as_it_was(value: object) -> None:
    assert decode_json(json.dumps(value)) == value
    assert decode_json(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize(
    "text",
    ['{"a":1,"a":1}', '{"a":{"b":1,"c":2,"b":3}}', '[{"x":[{"a":1,"\\u0061":2}]}]', '{"":1,"":2}'],
)
def test_a_member_that_comes_twice_is_refused_at_any_depth(text: str) -> None:
    with pytest.raises(InvalidJson, match="twice"):
        decode_json(text)


def test_the_bound_on_nesting_is_exact() -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        decode_json(opening * JSON_DEPTH_MAX + "1" + closing * JSON_DEPTH_MAX)
        with pytest.raises(InvalidJson, match="nested"):
            decode_json(opening * (JSON_DEPTH_MAX + 1) + "1" + closing * (JSON_DEPTH_MAX + 1))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{'a':1}",
        "NaN",
        "[Infinity]",
        "1e999",
        '"\\ud800"',
        "01",
        "[1,]",
        "\ufeff{}",
        "[" * 60_000,
        '{"a":' * 9_000,
    ],
)
def test_malformed_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidJson):
        decode_json(text)


def test_a_number_of_any_length_ends_in_an_answer() -> None:
    with suppress(InvalidJson):
        decode_json('{"a":' + "9" * 50_000 + "}")
    assert decode_json("9" * 19) == int("9" * 19)


# The bound of chunked framing.


def chunked(body: bytes, size: int, extension: bytes = b"") -> int:
    """Return the bytes that a body takes on the wire in chunks of this size."""
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return sum(len(b"%x%b\r\n%b\r\n" % (len(part), extension, part)) for part in parts) + len(b"0\r\n\r\n")


def test_a_body_of_any_length_in_chunks_of_any_size_is_within_the_bound() -> None:
    for length, size in product((0, 1, 5, 1000, 65536), (1, 2, 7, 16, 1024, 65536)):
        assert not framing_is_excessive(chunked(b"x" * length, size), length), (length, size)


def test_a_large_extension_is_beyond_the_bound() -> None:
    for length, extension in ((5, 10_000), (5, 10_000_000), (65_536, 400_000)):
        assert framing_is_excessive(chunked(b"x" * length, length, b";" + b"a" * extension), length), length


def test_a_signature_on_each_large_chunk_is_within_the_bound() -> None:
    assert not framing_is_excessive(chunked(b"x" * 65536, 8192, b";chunk-signature=" + b"a" * 64), 65536)


# `detail` alone says what was wrong: the parameter, the value, what is allowed; short, and safe to print.


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
        (ResolveBody, {"identifiers": [{"gtni": "1"}]}, "`identifiers.0.gtni` is unknown; allowed: brand, ean, gtin,"),
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
        assert quoted(value) == shown, value


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
    renamed = named_as_arguments(rest, {"from": "first_day", "to": "last_day"})
    assert renamed.detail == "`first_day`: `to` is not valid; must not be after `last_day`, which is 2026-01-01."
    assert renamed.extra["errors"][0]["parameter"] == "first_day"


# What a caller gets, and what is logged, where the server itself and no handler must answer.


_REQUEST = b"GET / HTTP/1.1\r\nHost: edge\r\n\r\n"


async def answer_of(handler: Any) -> bytes:
    fast_path: Any = SimpleNamespace(draining=True)
    server = EdgeServer(handler, fast_path=fast_path, problem_base_url="http://errors")
    ours, theirs = socket.socketpair()
    await asyncio.get_running_loop().connect_accepted_socket(server, ours)
    reader, writer = await asyncio.open_unix_connection(sock=theirs)
    writer.write(_REQUEST)
    whole = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return whole


async def test_an_error_outside_of_all_middlewares_is_a_problem_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        raise RuntimeError("broken")

    with caplog.at_level(logging.ERROR):
        assert b"internal-error" in await answer_of(handler)
    assert "broken" in caplog.text


async def test_an_error_within_an_answer_ends_the_connection_and_adds_no_second_answer() -> None:
    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"half")
        raise RuntimeError("broken")

    assert (await answer_of(handler)).count(b"HTTP/1.1") == 1


def test_the_path_of_a_call_is_filled_in_whatever_its_parameters_are() -> None:
    assert path_of(RestCall("/v1/index/pricing/{iid}", {"iid": "IID-A"})) == "/v1/index/pricing/IID-A"
    assert path_of(RestCall("/v1/jobs/{id}/result", {"id": "a/../{b}"})) == "/v1/jobs/a%2F..%2F%7Bb%7D/result"
    assert path_of(RestCall("/v1/index/brands")) == "/v1/index/brands"
