"""Pictures of reports: what is drawn of which rows."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from edge.analytics.price_history import Price
from edge.analytics.report_declarations import REPORTS_BY_KIND
from edge.dashboard.charts import bars, history, plots
from edge.dashboard.charts import footprint as footprint_chart
from edge.dashboard.tables import Periods, Reading, table_of

# Pictures of a report: one line or bar for each group, none of an arbitrary row; shares of 100 %.


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
    reading = Reading(Periods("month"), {"p50": "currency"})
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
        "Share of observations by channel, z, 2026-07-01, USD",
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
    assert [(e["label"], e["text"]) for e in peers["entries"]] == [("A", "5.00"), ("B", "6.00")]
    assert [(e["label"], e["text"]) for e in shares["entries"]] == [("tea", "10.0 %"), ("soy", "90.0 %")]


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
    assert [entry["label"] for entry in compared["entries"]] == [f"{n:02}" for n in range(1, 8)]


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


# Outliers are hollow points: in a record's picture those that were set aside, in a report's the periods that have
# some.


def price(day: int, minor: int, outlier: str | None = None, channel: str = "A") -> Price:
    return Price(date(2026, 7, day), channel, "l", "HKD", minor, None, outlier)


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


def test_a_picture_says_how_many_channels_it_leaves_out() -> None:
    [six], [seven] = (history([price(1, 1000, channel=channel) for channel in some]) for some in ("ABCDEF", "ABCDEFG"))
    assert len(six["series"]) == len(seven["series"]) == 6
    assert "channels" not in six["title"] and seven["title"].endswith("(the 6 largest of 7 channels)")


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


# What the dashboard draws of rollups and of converted rows.


WEEKS = ("2026-07-13", "2026-07-20")


def footprint(period: str, low: float, central: float, high: float) -> dict[str, object]:
    return {"period": period, "co2e_kg": central, "co2e_kg_low": low, "co2e_kg_central": central, "co2e_kg_high": high}


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


def test_each_indicator_has_a_scale_of_its_own_and_one_with_a_single_period_is_a_bar_with_its_unit() -> None:
    def row(period: str, water: float | None) -> dict[str, object]:
        figures = {f"water_l{bound}": water for bound in ("", "_low", "_central", "_high")}
        return {**footprint(period, 1, 2, 4), **figures}

    rows = [row("2026-06-01", None), row("2026-07-01", 300.0)]
    assert [one["title"] for one in plots(FOOTPRINT, rows)] == ["Greenhouse gas emissions, kg CO2e per period"]
    [drawn] = bars(FOOTPRINT, rows)
    assert [(e["label"], e["text"]) for e in drawn["entries"]] == [("Water consumption", "300 (300 to 300) l")]
    both = [row("2026-06-01", 200.0), row("2026-07-01", 300.0)]
    assert [one["title"] for one in plots(FOOTPRINT, both)][1:] == ["Water consumption, l per period"]


# The dashboard draws the index beside the median, and the matched share below.


PICTURE = REPORTS_BY_KIND["price-index"].picture


def row(period: str, index: float, share: float | None, currency: str = "HKD") -> dict[str, object]:
    return {
        "period": period,
        "currency": currency,
        "index": index,
        "low": index - 1,
        "high": index + 1,
        "median_index": 2 * index,
        "share_matched": share,
    }


def test_one_plot_has_index_interval_and_median_and_the_next_one_the_matched_share() -> None:
    both, matched = plots(PICTURE, [row("2026-05-01", 100, 0.5), row("2026-06-01", 103, 0.8)])
    assert both["title"] == "Price index and median per period, HKD"
    assert {one["label"]: one["values"] for one in both["series"]} == {
        "Price index": [100, 103],
        "95 % interval, low": [99, 102],
        "95 % interval, high": [101, 104],
        "Median price": [200, 206],
    }
    assert matched["title"] == "Matched share, % per period, HKD"
    assert [one["values"] for one in matched["series"]] == [[50.0, 80.0]]


def test_several_currencies_are_compared_by_their_index() -> None:
    rows = [row("2026-05-01", 100, None), row("2026-05-01", 100, None, "USD"), row("2026-06-01", 90, 0.5, "USD")]
    compared = plots(PICTURE, rows)[0]
    assert compared["title"] == "Price index per period"
    assert {one["label"]: one["values"] for one in compared["series"]} == {"HKD": [100, None], "USD": [100, 90]}


# A figure with bounds is drawn with them: whiskers of bars, bands of lines.


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
        ("a", 25.0, (10.0, 50.0)),
        ("b", 50.0, (20.0, 100.0)),
    ]
    assert picture["entries"][0]["text"] == "5 (2 to 10)"


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


def test_an_items_indicators_are_each_on_a_scale_of_its_own() -> None:
    rows = [
        {"indicator": "co2e_kg", "unit": "kg", "per_unit": 4.0, "low": 2.0, "high": 8.0},
        {"indicator": "water_l", "unit": "l", "per_unit": 300.0, "low": 240.0, "high": 400.0},
        {"indicator": "waste_kg", "unit": "kg", "per_unit": None, "low": None, "high": None},
    ]
    picture = footprint_chart(rows, {"co2e_kg": "CO2e"})
    assert picture is not None
    assert [(e["label"], e["part"], e["whisker"], e["text"]) for e in picture["entries"]] == [
        ("CO2e", 50.0, (25.0, 100.0), "4 (2 to 8) kg"),
        ("water_l", 75.0, (60.0, 100.0), "300 (240 to 400) l"),
    ]
    assert footprint_chart(rows[2:], {}) is None
