"""The dashboard draws the index beside the median, and the matched share below."""

from edge.analytics.reports.declared import REPORTS_BY_KIND
from edge.dashboard.charts import plots
from tests.unit.edge.dashboard.rows_of_reports import row

PICTURE = REPORTS_BY_KIND["price-index"].picture


def test_one_plot_has_index_interval_and_median_and_the_next_one_the_matched_share() -> None:
    both, matched = plots(PICTURE, [row("2026-05-01", 100, 0.5), row("2026-06-01", 103, 0.8)])
    assert both["title"] == "Price index and median per period"
    assert {one["label"]: one["values"] for one in both["series"]} == {
        "Price index": [100, 103],
        "95 % interval, low": [99, 102],
        "95 % interval, high": [101, 104],
        "Index of the median price": [200, 206],
    }
    assert matched["title"] == "Matched share, % per period"
    assert [one["values"] for one in matched["series"]] == [[50.0, 80.0]]
    assert [both["unit"], matched["unit"]] == ["first period = 100", "%"]


def test_several_currencies_are_compared_by_their_index() -> None:
    rows = [row("2026-05-01", 100, None), row("2026-05-01", 100, None, "USD"), row("2026-06-01", 90, 0.5, "USD")]
    compared = plots(PICTURE, rows)[0]
    assert compared["title"] == "Price index per period"
    assert {one["label"]: one["values"] for one in compared["series"]} == {"HKD": [100, None], "USD": [100, 90]}
