"""What the dashboard draws of rollups and of converted rows."""

from datetime import date

from edge.analytics.period_words import Periods
from edge.analytics.wording import RowContext
from edge.dashboard.charts import bars, plots
from tests.unit.edge.dashboard.rows_of_reports import COHORT, FOOTPRINT, footprint

WEEKS = ("2026-07-13", "2026-07-20")


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


TEN_DAYS = RowContext(Periods("week", date(2026, 7, 15), date(2026, 7, 24)))


def test_a_title_states_the_days_with_data_and_unfinished_periods_are_marked() -> None:
    rows = [{"period": day, "currency": "HKD", "p50": "1", "channel": c} for day in WEEKS for c in "AB"]
    [drawn] = plots(COHORT, rows, TEN_DAYS)
    assert drawn["title"] == "Median price per week, HKD, 2026-07-15 to 2026-07-24"
    assert drawn["partial"] == [0, 1]
    assert drawn["labels"] == ["2026-07-15 to 2026-07-19", "2026-07-20 to 2026-07-24"]
    [boxes] = bars(COHORT, rows, TEN_DAYS)
    assert boxes["title"] == "Distribution of prices, 2026-07-20 to 2026-07-24, HKD"


def test_each_indicator_has_a_plot_of_its_own_and_one_with_a_single_period_has_no_picture() -> None:
    def row(period: str, water: float | None) -> dict[str, object]:
        figures = {f"water_l{bound}": water for bound in ("", "_low", "_central", "_high")}
        return {**footprint(period, 1, 2, 4), **figures}

    rows = [row("2026-06-01", None), row("2026-07-01", 300.0)]
    assert [one["title"] for one in plots(FOOTPRINT, rows)] == ["Greenhouse gas emissions, kg CO2e per period"]
    assert bars(FOOTPRINT, rows) == []
    both = [row("2026-06-01", 200.0), row("2026-07-01", 300.0)]
    assert [one["title"] for one in plots(FOOTPRINT, both)][1:] == ["Water consumption, l per period"]
