"""Pictures of a report: one line or bar for each group, none of an arbitrary row; shares of 100 %."""

from typing import Any

from edge.analytics.report_declarations import REPORTS_BY_KIND
from edge.dashboard.charts import bars, plots
from edge.dashboard.tables import question, table_of

COHORT, CATEGORY, FOOTPRINT = (
    REPORTS_BY_KIND[kind].picture for kind in ("cohorts", "category-insights", "sustainability-rollup")
)
SHARES = [{"channel": "A", "observations": 63, "share": 0.63}, {"channel": "B", "observations": 37, "share": 0.37}]


def cohort(period: str, p50: str, **group: Any) -> dict[str, Any]:
    prices = dict.fromkeys(("min", "p10", "p25", "p75", "p90", "max", "mean"), "1.00")
    return {"period": period, **group, "currency": "HKD", **prices, "p50": p50, "channels": SHARES}


def test_a_single_group_has_its_distribution_of_the_newest_period_and_shares_of_the_whole() -> None:
    distribution, shares = bars(COHORT, [cohort("2026-06-01", "5.00"), cohort("2026-07-01", "7.00")])
    assert distribution["title"] == "Distribution of prices, 2026-07-01, HKD"
    assert [e["text"] for e in distribution["entries"]] == ["7.00 (1.00 to 1.00)"]
    assert distribution["ends"] == ("1.00", "7.00")
    assert [(e["label"], e["part"], e["text"]) for e in shares["entries"]] == [
        ("A", 63.0, "63.0 %"),
        ("B", 37.0, "37.0 %"),
    ]


def test_several_groups_are_compared_by_a_box_each_on_one_scale_and_none_is_drawn_alone() -> None:
    rows = [cohort("2026-07-01", "7.00", channel="A"), cohort("2026-07-01", "9.00", channel="B")]
    [compared] = bars(COHORT, rows)
    assert compared["title"] == "Distribution of prices, 2026-07-01, HKD"
    assert [(e["label"], e["text"], e["box"]["p50"]) for e in compared["entries"]] == [
        ("A", "7.00 (1.00 to 1.00)", 75.0),
        ("B", "9.00 (1.00 to 1.00)", 100.0),
    ]


def test_a_list_of_categories_is_a_bar_each() -> None:
    rows = [
        {"period": None, "currency": "HKD", "category": name, "median": "3.00", "channels": SHARES} for name in "abc"
    ]
    [compared] = bars(CATEGORY, rows)
    assert [e["label"] for e in compared["entries"]] == ["a", "b", "c"]


def test_currencies_are_not_compared_with_each_other() -> None:
    rows = [cohort("2026-07-01", "7.00", brand=b) | {"currency": c} for b in ("x", "y") for c in ("HKD", "USD")]
    assert [picture["title"][-3:] for picture in bars(COHORT, rows)] == ["HKD", "USD"]


def test_one_period_is_no_line_but_a_bar_of_each_group() -> None:
    rows = [
        {"period": "2026-07-01", "category": name, "co2e_kg": 1.0, "co2e_kg_central": 1_494_348.6}
        for name in ("a", None)
    ]
    assert plots(FOOTPRINT, rows) == []
    [picture] = [one for one in bars(FOOTPRINT, rows) if one["title"].startswith("Greenhouse")]
    assert [(e["label"], e["part"], e["text"]) for e in picture["entries"]] == [
        ("a", 100.0, "1,494,349"),
        ("no category", 100.0, "1,494,349"),
    ]


def test_a_plot_of_several_periods_has_one_line_for_each_group() -> None:
    rows = [cohort(day, "7.00", channel=name) for day in ("2026-07-01", "2026-08-01") for name in "AB"]
    [plot] = plots(COHORT, rows)
    assert [series["label"] for series in plot["series"]] == ["A", "B"]


def test_a_table_has_figures_on_the_right_shares_in_percent_and_lists_in_words() -> None:
    table = table_of(
        [{"period": "2026-07-01", "path": ["Drinks", "Tea"], "share_matched": 0.27923, "mean": "88.229565", "n": None}]
    )
    assert [(column.heading, column.style, column.shown) for column in table.columns] == [
        ("Period", "day", True),
        ("Path", "text", True),
        ("Matched share, %", "number", True),
        ("Mean", "number", True),
        ("N", "text", False),
    ]
    assert [[cell.text for cell in row] for row in table.rows] == [["2026-07-01", "Drinks › Tea", "27.9", "88.2296"]]


def test_a_question_in_words_names_what_it_is_of_first_and_leaves_defaults_out() -> None:
    asked = {"granularity": "week", "brand": ["vitasoy"], "group_by": ["channel"], "outliers": "exclude", "kind": None}
    assert question(asked, {"outliers": "exclude"}) == "vitasoy · by week · grouped by channel"
    assert question({"brand": []}, {}) == "all"
