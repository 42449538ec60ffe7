"""A figure with bounds is drawn with them: whiskers of bars, bands of lines."""

from typing import Any

from edge.analytics.reports.declaration import Picture
from edge.dashboard.charts import bars, plots
from tests.unit.edge.dashboard.rows_of_reports import FOOTPRINT


def rollup(period: str, scale: float, **group: str) -> dict[str, Any]:
    figures = {"water_l": 4 * scale, "water_l_low": 2 * scale, "water_l_central": 5 * scale, "water_l_high": 10 * scale}
    return {
        "period": period,
        **group,
        **figures,
        "co2e_kg": None,
        "co2e_kg_low": None,
        "co2e_kg_central": None,
        "co2e_kg_high": None,
    }


def test_groups_are_compared_by_bars_with_whiskers_on_one_scale() -> None:
    [picture] = bars(FOOTPRINT, [rollup("2026-07-01", 1, brand="a"), rollup("2026-07-01", 2, brand="b")])
    assert [(e["label"], e["part"], e["whisker"]) for e in picture["entries"]] == [
        ("b", 50.0, (20.0, 100.0)),
        ("a", 25.0, (10.0, 50.0)),
    ]
    assert picture["entries"][1]["text"] == "5 (2 to 10)"


def test_an_indicator_over_periods_has_its_interval_as_a_band() -> None:
    [plot] = [
        one
        for one in plots(FOOTPRINT, [rollup("2026-06-01", 1), rollup("2026-07-01", 2)])
        if one["title"] == "Water consumption, l per period"
    ]
    assert plot["band"] == ["95 % interval, low", "95 % interval, high"]
    assert {one["label"]: one["values"] for one in plot["series"]} == {
        "95 % interval, low": [2, 4],
        "Median": [5, 10],
        "95 % interval, high": [10, 20],
    }


def test_indicators_of_one_group_have_no_bars_as_no_scale_is_common_to_them() -> None:
    assert bars(FOOTPRINT, [rollup("2026-07-01", 1)]) == []


def test_shares_and_their_bounds_are_in_per_cent() -> None:
    row = {"period": "2026-07-01", "currency": "HKD", "share_first": 0.25, "share_first_low": 0.2}
    rows = [{**row, "channel": name, "share_first_high": high} for name, high in (("A", 0.3), ("B", 0.5))]
    [picture] = bars(Picture(lines=("share_first",)), rows)
    assert [(e["part"], e["whisker"], e["text"]) for e in picture["entries"]] == [
        (25.0, (20.0, 30.0), "25 % (20 to 30)"),
        (25.0, (20.0, 50.0), "25 % (20 to 50)"),
    ]


def test_a_ratio_with_bounds_is_drawn_as_it_is() -> None:
    rows = [
        {"period": period, "factor": factor, "factor_low": factor - 0.1, "factor_high": factor + 0.1}
        for period, factor in (("2026-06-01", 0.5), ("2026-07-01", 1.5))
    ]
    [plot] = plots(Picture(lines=("factor",)), rows)
    assert plot["series"][1]["values"] == [0.5, 1.5]
