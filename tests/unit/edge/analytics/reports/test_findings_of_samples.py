"""Findings of reports say how sure they are: neither few changes nor rounding decide what a page says first."""

from typing import Any

from edge.analytics.reports.availability import find_availability
from edge.analytics.reports.price_changes import find_changes
from edge.analytics.reports.seasons import find_season
from edge.analytics.wording import PLAIN


def _leader(channel: str, first_moves: int, changes: int) -> dict[str, Any]:
    figures = {"share_first": first_moves / changes, "first_moves": first_moves, "matched_changes": changes}
    return {"period": "2026-07-01", "channel": channel, "currency": "HKD", **figures}


def test_a_channel_of_few_changes_is_not_the_one_that_moves_first() -> None:
    rows = [_leader("FEW", 6, 6), _leader("NORTH", 160, 200), _leader("SOUTH", 20, 200)]
    found = find_changes({}, rows, PLAIN)
    assert found.figure == "80.0 %"
    assert "of the 200 changes of NORTH" in found.sentence


def test_no_probability_is_zero() -> None:
    season = {"seasonal": True, "p_value": 0.0, "months": 120, "adjusted_change": None, "currency": "NZD"}
    rows = [{"period": f"2026-{month:02d}-01", "factor": 1 + month / 100, **season} for month in range(1, 13)]
    assert "(p < 0.000001)" in find_season({}, rows, PLAIN).sentence
    rows = [{**row, "p_value": 0.00002} for row in rows]
    assert "(p = 2e-05)" in find_season({}, rows, PLAIN).sentence


def test_missing_days_leave_less_than_all_of_them() -> None:
    row = {"period": "2026-07-01", "channel": "NORTH", "item_days": 99_990, "missing_days": 10}
    assert find_availability({}, [row], PLAIN).figure == "99.990 %"
    assert find_availability({}, [{**row, "missing_days": 0}], PLAIN).figure == "100.0 %"
