"""Pictures of reports: what is drawn of which rows."""

from collections.abc import Iterator
from typing import Any

from edge.analytics.period_words import Periods
from edge.analytics.reports.declaration import Picture
from edge.analytics.reports.declared import REPORTS_BY_KIND
from edge.analytics.wording import RowContext
from edge.dashboard.charts import bars, plots
from edge.dashboard.tables import table_of
from tests.unit.edge.dashboard.rows_of_reports import CATEGORY, COHORT, FOOTPRINT, SHARES, cohort


def test_a_single_group_has_its_distribution_of_the_newest_period_and_shares_of_the_whole() -> None:
    distribution, shares = bars(COHORT, [cohort("2026-06-01", "5.00"), cohort("2026-07-01", "7.00")])
    assert distribution["title"] == "Distribution of prices, 2026-07-01, HKD"
    assert [e["text"] for e in distribution["entries"]] == ["7.00 (1.00 to 1.00)"]
    assert distribution["ends"] == ("1.00", "7.00")
    assert [(e["label"], e["part"], e["text"]) for e in shares["entries"]] == [
        ("A", 63.0, "63.0 %"),
        ("B", 37.0, "37.0 %"),
    ]


def test_a_picture_of_unit_prices_names_their_unit() -> None:
    rows = [cohort(month, price) | {"unit": "l"} for month, price in (("2026-06-01", "5.00"), ("2026-07-01", "7.00"))]
    assert bars(COHORT, rows)[0]["title"] == "Distribution of prices, 2026-07-01, HKD per l"
    assert "HKD per l" in plots(COHORT, rows)[0]["title"]


def test_the_ends_of_a_scale_have_the_decimals_of_the_currency() -> None:
    for currency, low, high in (("CLF", "0.0001", "0.0002"), ("KWD", "0.001", "0.012"), ("JPY", "7", "12")):
        row = {name: low if isinstance(text, str) else text for name, text in cohort("", low).items()}
        row |= {"period": "2026-07-01", "currency": currency, "max": high}
        assert bars(COHORT, [row])[0]["ends"] == (low, high)


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


def test_amounts_of_several_currencies_are_not_drawn_on_one_scale() -> None:
    rows = [
        cohort(day, "7.00", channel=channel) | {"currency": currency}
        for day in ("2026-07-01", "2026-08-01")
        for channel, currency in (("A", "HKD"), ("B", "HKD"), ("C", "KWD"))
    ]
    reading = RowContext(Periods("month"), {"p50": "currency"})
    assert {plot["title"]: [one["label"] for one in plot["series"]] for plot in plots(COHORT, rows, reading)} == {
        "Median price per month, HKD": ["A", "B"],
        "Prices per month, C, KWD": ["10th percentile", "Median", "90th percentile", "Mean"],
    }


def test_the_only_group_of_its_currency_is_named_beside_groups_of_others() -> None:
    rows = [
        cohort("2026-07-01", "7.00", brand=b) | {"currency": c} for b, c in (("x", "HKD"), ("y", "HKD"), ("z", "USD"))
    ]
    assert [picture["title"] for picture in bars(COHORT, rows)] == [
        "Distribution of prices, 2026-07-01, HKD",
        "Distribution of prices, z, 2026-07-01, USD",
        "Share of observations by shop, z, 2026-07-01, USD",
    ]


def test_a_group_of_one_price_has_no_distribution() -> None:
    [shares] = bars(COHORT, [cohort("2026-07-01", "1.00")])
    assert shares["title"].startswith("Share of observations")


def test_a_brand_is_compared_with_its_peers_in_the_category_that_they_share() -> None:
    soy = {"category": "soy", "observations": 9, "share": 0.9, "median": "5.00"}
    tea = {"category": "tea", "observations": 1, "share": 0.1, "median": "50.00"}
    peer = {"brand": "b", "name": "B", "observations": 7, "median": "6.00"}
    row = {"period": None, "currency": "HKD", "brand": "a", "name": "A", "median": "9.00"}
    row |= {"categories": [tea, soy], "peers": [peer]}
    peers, shares = bars(REPORTS_BY_KIND["brand-insights"].picture, [row])
    assert peers["title"].startswith("Median price of the largest brands in soy")
    assert [(e["label"], e["text"]) for e in peers["entries"]] == [("B", "6.00"), ("A", "5.00")]
    assert [(e["label"], e["text"]) for e in shares["entries"]] == [("soy", "90.0 %"), ("tea", "10.0 %")]


def test_changes_and_shares_are_drawn_in_the_per_cent_that_their_titles_state() -> None:
    rows = [
        {"period": period, "currency": "HKD", "category": name, "median": "3.00", "index_change": 0.05}
        for period in ("2026-06-01", "2026-07-01")
        for name in "ab"
    ]
    change = plots(CATEGORY, rows)[1]
    assert "%" in change["title"] and change["series"][0]["values"] == [5.0, 5.0]
    holding = [
        {"period": period, "currency": "HKD", "channel": "N", "share_holding": share}
        for period, share in (("2026-06-01", 0.25), ("2026-07-01", 0.5))
    ]
    [plot] = plots(REPORTS_BY_KIND["reductions"].picture, holding)
    assert (plot["series"][0]["values"], plot["scale"]) == ([25.0, 50.0], "share")
    reading = RowContext(Periods("month"), {"excess": "share of the other price"})
    gaps = [
        {"period": period, "currency": "HKD", "excess": excess}
        for period, excess in (("2026-06-01", -0.1), ("2026-07-01", 0.2))
    ]
    [plot] = plots(Picture(changes=("excess",)), gaps, reading)
    assert plot["title"].startswith("Excess, %") and plot["series"][0]["values"] == [-10.0, 20.0]


def test_of_many_groups_the_largest_are_drawn() -> None:
    rows = [
        cohort(day, "7.00", channel=name) | {"observations": 1 if name == "B" else 9}
        for day in ("2026-07-01", "2026-08-01")
        for name in "ABCDEFG"
    ]
    [plot] = plots(COHORT, rows)
    assert [series["label"] for series in plot["series"]] == list("ACDEFG")
    assert plot["title"].endswith("(the 6 largest of 7 by observations)")
    many = [cohort("2026-07-01", "7.00", channel=f"{n:02}") | {"observations": n} for n in range(21)]
    [boxes] = bars(COHORT, many)
    assert [entry["label"] for entry in boxes["entries"]] == [f"{n:02}" for n in range(1, 21)]
    assert boxes["title"].endswith("(the 20 largest of 21 by observations)")


def test_of_footprints_the_largest_are_drawn_and_the_unit_stands_once() -> None:
    rows = [
        {"period": day, "category": f"{n:02}", "items": 99 - n, "co2e_kg": None, "co2e_kg_central": float(n) or None}
        for day in ("2026-06-01", "2026-07-01")
        for n in range(8)
    ]
    plot = plots(FOOTPRINT, rows)[0]
    assert [series["label"] for series in plot["series"]] == [f"{n:02}" for n in range(2, 8)]
    assert plot["title"].endswith("(the 6 largest of 7)")
    [compared] = bars(FOOTPRINT, rows)
    assert compared["title"] == "Greenhouse gas emissions, kg CO2e, 2026-07-01"
    assert [entry["label"] for entry in compared["entries"]] == [f"{n:02}" for n in range(7, 0, -1)]


def test_a_figure_that_no_group_has_is_not_drawn_and_groups_without_one_are_not_counted() -> None:
    def footprints(known: int) -> list[dict[str, Any]]:
        return [
            {"period": day, "category": f"{n:02}", "items": 9, "co2e_kg": None, "co2e_kg_central": n + 1.0}
            | ({} if n < known else {"co2e_kg_central": None})
            for day in ("2026-06-01", "2026-07-01")
            for n in range(30)
        ]

    assert plots(FOOTPRINT, footprints(0)) == [] and bars(FOOTPRINT, footprints(0)) == []
    assert bars(FOOTPRINT, footprints(22))[0]["title"].endswith("(the 20 largest of 22)")


def test_a_plot_begins_and_ends_where_its_figure_does() -> None:
    rows = [
        {"period": f"2026-07-0{day}", "category": name, "currency": "HKD", "median": "3.00", "index_change": change}
        for day, change in ((1, None), (2, 0.1), (3, None), (4, 0.2), (5, None))
        for name in "ab"
    ]
    median, change = plots(CATEGORY, rows)
    assert len(median["x"]) == 5 and change["x"] == ["2026-07-02", "2026-07-03", "2026-07-04"]
    assert change["series"][0]["values"] == [10.0, None, 20.0]


def test_what_all_lines_share_stands_in_the_title_and_not_in_each_label() -> None:
    rows = [cohort(day, "7.00", brand="x", channel=channel) for day in ("2026-07-01", "2026-08-01") for channel in "AB"]
    [plot] = plots(COHORT, rows)
    assert [series["label"] for series in plot["series"]] == ["A", "B"]
    assert " per period, x, HKD" in plot["title"]
    [boxes] = bars(COHORT, rows)
    assert [entry["label"] for entry in boxes["entries"]] == ["A", "B"]


def test_the_work_for_a_picture_grows_with_the_rows_and_no_faster() -> None:
    """A page of 16,000 rows whose labels were compared with one another took longer than the proxy waits."""

    class Read(list[dict[str, Any]]):
        times = 0

        def __iter__(self) -> Iterator[dict[str, Any]]:
            Read.times += 1
            return super().__iter__()

    read = []
    for days in (2, 28):
        Read.times = 0
        rows = Read(cohort(f"2026-07-{n + 1:02}", "7.00", channel=name) for n in range(days) for name in "AB")
        plots(COHORT, rows)
        bars(COHORT, rows)
        read.append(Read.times)
    assert read[0] == read[1]


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
