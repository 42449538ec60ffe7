"""What the dashboard draws of rollups and of converted rows."""

from edge.analytics.report_declarations import REPORTS_BY_KIND
from edge.dashboard.charts import plots

ROLLUP = REPORTS_BY_KIND["sustainability-rollup"].picture
COHORT = REPORTS_BY_KIND["cohorts"].picture


def footprint(period: str, low: float, central: float, high: float) -> dict[str, object]:
    return {"period": period, "co2e_kg": central, "co2e_kg_low": low, "co2e_kg_central": central, "co2e_kg_high": high}


def test_a_rollup_of_one_group_is_drawn_with_its_interval() -> None:
    drawn = plots(ROLLUP, [footprint("2026-06-01", 1, 2, 4), footprint("2026-07-01", 2, 3, 5)])[0]
    assert drawn["title"] == "Greenhouse gas emissions, kg CO2e per period"
    assert {one["label"]: one["values"] for one in drawn["series"]} == {
        "95 % interval, low": [1, 2],
        "Median": [2, 3],
        "95 % interval, high": [4, 5],
    }


def test_rows_converted_from_two_currencies_are_two_lines() -> None:
    rows = [
        {"period": period, "currency": "USD", "original_currency": original, "p50": price}
        for period in ("2026-06-01", "2026-07-01")
        for original, price in (("HKD", "1.5"), ("JPY", "2"), ("USD", "3"))
    ]
    [drawn] = plots(COHORT, rows)
    assert {one["label"]: one["values"] for one in drawn["series"]} == {
        "USD from HKD": [1.5, 1.5],
        "USD from JPY": [2.0, 2.0],
        "USD": [3.0, 3.0],
    }
