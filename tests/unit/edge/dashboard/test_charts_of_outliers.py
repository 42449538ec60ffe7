"""Outliers are hollow points: in a record's picture those that were set aside, in a report's the periods that have some."""

from typing import Any

from edge.dashboard.charts import plots
from edge.dashboard.price_chart import history
from tests.unit.edge.dashboard.rows_of_reports import CATEGORY, COHORT, cohort, price


def test_an_outlier_is_a_hollow_point_of_its_channel_and_no_part_of_its_line() -> None:
    [plot] = history(
        [price(1, 1000), price(3, 1010), price(1, 990, channel="B")], [price(3, 10100, "d"), price(2, 101, "d")]
    )
    assert plot["x"] == ["2026-07-01", "2026-07-02", "2026-07-03"]
    line, outliers, other = plot["series"]
    assert (line["label"], line["values"]) == ("A", [10.0, None, 10.1])
    assert (outliers["label"], outliers["values"]) == ("A, outliers", [None, 1.01, 101.0])
    assert (outliers["hollow"], outliers["line"]) == ([1, 2], False)
    assert outliers["colour"] == line["colour"] != other["colour"]
    assert "hollow" not in other


def test_a_picture_says_how_many_shops_it_leaves_out() -> None:
    [six], [seven] = (history([price(1, 1000, channel=channel) for channel in some]) for some in ("ABCDEF", "ABCDEFG"))
    assert len(six["series"]) == len(seven["series"]) == 6
    assert "largest" not in six["title"] and seven["title"].endswith("(the 6 largest of 7 shops)")


def test_far_outliers_make_the_axis_logarithmic_so_that_the_line_stays_readable() -> None:
    prices = [price(1, 1000), price(2, 1100)]
    scales = [history(prices, aside)[0]["scale"] for aside in ([], [price(2, 300, "n")], [price(2, 11000, "d")])]
    assert scales == ["linear", "linear", "log"]
    assert history(prices, [price(2, 0, "n")])[0]["scale"] == "linear", "a logarithm of 0 there is none"


def test_an_item_of_outliers_alone_is_drawn() -> None:
    [plot] = history([], [price(2, 101, "d")])
    assert [one["values"] for one in plot["series"]] == [[None], [1.01]]


def test_periods_with_outliers_are_hollow_in_the_line_of_the_median() -> None:
    [plot] = plots(COHORT, [cohort("2026-06-01", "2", set_aside=0), cohort("2026-07-01", "2", set_aside=2)])
    assert {one["label"]: one.get("hollow") for one in plot["series"]} == {
        "10th percentile": None,
        "Median": [1],
        "90th percentile": None,
        "Mean": None,
    }


def test_each_group_has_hollow_points_of_its_own_periods() -> None:
    rows = [
        cohort("2026-06-01", "2", set_aside=0, channel="A"),
        cohort("2026-07-01", "2", set_aside=2, channel="A"),
        cohort("2026-07-01", "2", set_aside=1, channel="B"),
    ]
    [plot] = plots(COHORT, rows)
    assert [(one["label"], one["hollow"]) for one in plot["series"]] == [("A", [1]), ("B", [1])]
    assert plot["series"][1]["values"] == [None, 2.0]


def test_insights_are_drawn_as_the_median_and_the_index_change_within_its_interval() -> None:
    def row(period: str, low: float | None) -> dict[str, Any]:
        bounds = {"index_change": 0.01, "index_change_high": 0.03} if low is not None else {"index_change": None}
        return {
            "period": period,
            "currency": "HKD",
            "median": "5.00",
            "set_aside": 1,
            "index_change_low": low,
            **bounds,
        }

    median, change = plots(CATEGORY, [row("2026-06-01", 0.0), row("2026-07-01", -0.02)])
    assert (median["title"], median["series"][0]["hollow"]) == ("Median price per period, HKD", [0, 1])
    assert {one["label"]: one["values"] for one in change["series"]} == {
        "95 % interval, low": [0.0, -2.0],
        "Change of the same items, %": [1.0, 1.0],
        "95 % interval, high": [3.0, 3.0],
    }
    assert change["band"] == ["95 % interval, low", "95 % interval, high"]
