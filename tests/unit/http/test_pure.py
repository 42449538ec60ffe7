"""Tokens, cursors, conditions, limit fields, request ids: decided without a server."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.http.context import instance_of, request_id_from, uuid7
from edge.http.faults import CATALOGUE
from edge.http.lists import CursorSigner
from edge.http.problems import Problem
from edge.http.representation import none_match
from edge.quota.billing import limit_fields, refusal
from edge.quota.policy import Decision
from shared.errors import InvalidCursor
from shared.organizations import credentials
from shared.organizations.accounts import Plan
from shared.settings.settings import Settings
from shared.telemetry.log import trace_of

BRAND = Plan(
    name="brand",
    title="Brand",
    rank=2,
    counted_by="organization",
    daily_units=50_000,
    burst_units=50,
    jobs_running=4,
    jobs_queued=20,
    batch_iids_max=100,
)
CURSORS = CursorSigner("a secret that is long enough for tests")


@pytest.mark.parametrize("prefix", [credentials.FREE_PREFIX, credentials.KEY_PREFIX])
def test_a_minted_credential_is_recognized_and_a_mistyped_one_is_not(prefix: str) -> None:
    token = credentials.mint(prefix)
    form = credentials.parse(token)
    assert form is not None
    assert (form.prefix, len(token)) == (prefix, 58)
    for place in (0, 12, 30, 57):
        wrong = token[:place] + ("a" if token[place] != "a" else "b") + token[place + 1 :]
        assert credentials.parse(wrong) is None


def test_the_anonymous_token_is_well_formed() -> None:
    assert credentials.parse(Settings().anonymous_token) is not None


@pytest.mark.parametrize(
    "text", ["", "iixk_live_", "iixk_live_" + "A" * 48 + "\n", "iixk_live_" + "é" * 48, "x" * 10_000]
)
def test_garbage_is_no_credential(text: str) -> None:
    assert credentials.parse(text) is None


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


@pytest.mark.parametrize(
    ("field", "matches"),
    [
        ('W/"a.1"', True),
        ('"a.1"', True),
        ('"x", W/"a.1"', True),
        ("*", True),
        ('"a.2"', False),
        ("", False),
        (None, False),
        ("a.1", False),
    ],
)
def test_if_none_match(field: str | None, matches: bool) -> None:
    assert none_match(field, 'W/"a.1"') == matches


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


def test_limit_fields_are_structured_fields_of_both_windows() -> None:
    assert limit_fields(_decision()).decode() == (
        'RateLimit-Policy: "brand-daily";q=50000;w=86400, "brand-burst";q=50;w=1\r\n'
        'RateLimit: "brand-daily";r=49990;t=41213, "brand-burst";r=48;t=1\r\n'
    )
    assert limit_fields(_decision(verified=False)) == b""


@pytest.mark.parametrize("used", [50_000, 70_000])
def test_a_refusal_states_when_to_retry_and_is_never_negative(used: int) -> None:
    decision = _decision(outcome=0, used_day=used)
    problem = refusal(decision, "192.0.2.1")
    assert problem.extra["retry_after"] == int(problem.fields["Retry-After"]) == 41_213
    assert problem.extra["resets_at"] == "2026-11-22T00:00:00.000Z"
    assert decision.remaining_day == 0


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
    assert "test_pure.py" in reported[0]
    assert "secret" not in str(reported)
    assert Problem("internal-error", "x").type.status == 500
