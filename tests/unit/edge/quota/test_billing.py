"""Refusals and limit fields: which window is named, and when to retry."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from edge.quota.decision import QuotaDecision, limit_fields
from edge.quota.refusals import refusal
from tests.support.accounts import BRAND


def _decision(**changes: object) -> QuotaDecision:
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
    return QuotaDecision(**{**values, **changes})  # type: ignore[arg-type]


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
