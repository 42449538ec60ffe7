"""What the dashboard draws of rollups and of converted rows."""

from datetime import date

from edge.analytics.report_declarations import REPORTS_BY_KIND
from edge.dashboard.charts import bars, plots
from edge.dashboard.periods import Periods
from edge.dashboard.tables import Reading

ROLLUP = REPORTS_BY_KIND["sustainability-rollup"].picture
COHORT = REPORTS_BY_KIND["cohorts"].picture
WEEKS = ("2026-07-13", "2026-07-20")


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


TEN_DAYS = Reading(Periods("week", date(2026, 7, 15), date(2026, 7, 24)))


def test_a_title_states_the_days_with_data_and_unfinished_periods_are_marked() -> None:
    rows = [{"period": day, "currency": "HKD", "p50": "1", "channel": c} for day in WEEKS for c in "AB"]
    [drawn] = plots(COHORT, rows, TEN_DAYS)
    assert drawn["title"] == "Median price per week, HKD, 2026-07-15 to 2026-07-24"
    assert drawn["partial"] == [0, 1]
    assert drawn["labels"] == ["2026-07-15 to 2026-07-19", "2026-07-20 to 2026-07-24"]
    [boxes] = bars(COHORT, rows, TEN_DAYS)
    assert boxes["title"] == "Distribution of prices, 2026-07-20 to 2026-07-24, HKD"


def test_a_whole_range_is_named_by_its_days_with_data_and_never_by_its_first_day() -> None:
    row = {"period": "2026-04-26", "currency": "HKD", **dict.fromkeys(("min", "p10", "p25", "p75", "p90", "max"), "2")}
    [drawn] = bars(COHORT, [{**row, "p50": "2"}], Reading(Periods(None, date(2026, 7, 15), date(2026, 7, 24))))
    assert drawn["title"] == "Distribution of prices, 2026-07-15 to 2026-07-24, HKD"


def test_each_indicator_has_a_scale_of_its_own_and_one_with_a_single_period_is_a_bar_with_its_unit() -> None:
    def row(period: str, water: float | None) -> dict[str, object]:
        figures = {f"water_l{bound}": water for bound in ("", "_low", "_central", "_high")}
        return {**footprint(period, 1, 2, 4), **figures}

    rows = [row("2026-06-01", None), row("2026-07-01", 300.0)]
    assert [one["title"] for one in plots(ROLLUP, rows)] == ["Greenhouse gas emissions, kg CO2e per period"]
    [drawn] = bars(ROLLUP, rows)
    assert [(e["label"], e["text"]) for e in drawn["entries"]] == [("Water consumption", "300 (300 to 300) l")]
    both = [row("2026-06-01", 200.0), row("2026-07-01", 300.0)]
    assert [one["title"] for one in plots(ROLLUP, both)][1:] == ["Water consumption, l per period"]


def test_the_central_figure_of_a_footprint_is_drawn_and_not_its_sum() -> None:
    rows = [{**footprint("2026-06-01", 1, 2, 4), "co2e_kg": 1.9, "brand": brand} for brand in "ab"]
    [drawn] = bars(ROLLUP, rows)
    assert [e["text"] for e in drawn["entries"]] == ["2 (1 to 4)", "2 (1 to 4)"]
