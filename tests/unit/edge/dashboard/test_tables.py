"""Questions in words, as lists of jobs and exports show them, and figures for people."""

from datetime import date

from edge.analytics.period_words import Periods
from edge.analytics.reports.declared import REPORTS_BY_KIND
from edge.analytics.wording import Names, RowContext, amount, figure, group_name
from edge.dashboard.event_words import words_of
from edge.dashboard.questions import export_question, question
from edge.dashboard.reports import defaults_of
from edge.dashboard.tables import keys_in, table_of
from tests.unit.edge.dashboard.test_events import _FIRED
from tests.unit.edge.dashboard.test_summaries import footprint, text_of


def test_an_export_is_named_by_what_narrows_it() -> None:
    for asked, words in (
        ({"dataset": "items", "filter": None, "since": None, "format": "csv", "columns": ["iid"]}, "items"),
        (
            {"dataset": "observations", "filter": {"brand": ["a", "b"], "from": "2026-07-01"}, "format": "parquet"},
            "observations, a, b · 2026-07-01 to the last day",
        ),
        ({"dataset": "impacts", "filter": {"channel": ["NORTH"]}, "since": 7}, "impacts · channel NORTH · since 7"),
    ):
        assert export_question(asked) == words, asked


def test_a_question_names_its_subject_first_and_leaves_defaults_out() -> None:
    asked = {
        "granularity": "week",
        "group_by": ["brand", "channel"],
        "brand": ["vita"],
        "outliers": "exclude",
        "currency": None,
    }
    words = question(asked, {"outliers": "exclude"})
    assert words == "vita · by week · grouped by brand and channel"


def test_a_question_names_the_version_of_its_weights_and_not_their_id() -> None:
    assert question({"weights": "cpi@2", "weights_id": "01a2"}, {}) == "all · weights cpi@2"


def test_a_question_about_unit_prices_names_their_unit() -> None:
    usual = defaults_of(REPORTS_BY_KIND["cohorts"])
    asked = {"brand": ["vita"], "granularity": "month", "measure": "unit_price", "unit": "l"}
    assert question(asked, usual) == "vita · prices per l"


def test_amounts_for_a_unit_are_headed_by_it() -> None:
    row = {"currency": "HKD", "unit": "kg", "p50": "24.000000", "items": 3}
    shown = table_of([row], RowContext(units={"p50": "currency per kg", "items": "items"}))
    headings = {column.name: column.heading for column in shown.columns}
    assert (headings["p50"], headings["items"]) == ("Median, HKD per kg", "Items")


def test_an_order_and_a_limit_other_than_usual_are_part_of_the_question() -> None:
    usual = defaults_of(REPORTS_BY_KIND["brand-insights"])
    assert question({"sort": "-items", "limit": 50}, usual) == "all"
    assert question({"sort": "-brand", "limit": 10}, usual) == "all · sorted by brand, descending · first 10"


def test_a_name_from_right_to_left_keeps_its_place_in_a_sentence() -> None:
    names: Names = {"brand": {"watania": "الوطنية", "elite": "עלית", "vita": "Vita"}}
    asked = question({"brand": ["watania", "vita"], "from": "2026-01-01"}, {}, names)
    assert asked == "\u2068الوطنية\u2069, Vita · 2026-01-01 to the last day"
    assert group_name({"brand": "elite", "channel": "NORTH"}, names) == "\u2068עלית\u2069, NORTH"
    fired = {**_FIRED, "label": "زيت", "condition": "returned", "days": 30}
    assert words_of("watch.fired", fired).text.startswith("\u2068زيت\u2069: ")


def test_a_parameter_of_zero_is_part_of_the_question() -> None:
    assert question({"displacement_rate": 0.0, "dry_run": False}, {}) == "all · displacement rate 0.0"


def test_a_figure_is_rounded_for_people() -> None:
    for value, text in (
        (0, "0"),
        (1234567, "1,234,567"),
        (1234.5678, "1,234.57"),
        (999_999.4, "999,999"),
        (999_999.5, "1,000,000"),
        (-999_999.7, "-1,000,000"),
        (1e6, "1,000,000"),
        ("12.50", "12.50"),
        (None, "–"),
    ):
        assert figure(value) == text, value


def test_an_amount_has_the_decimals_of_its_currency_and_an_estimate_three_digits() -> None:
    reading = RowContext(units={"mean": "currency"})
    row = {"mean": "21.9244", "currency": "HKD", "co2e_kg_central": 1.52712}
    [cells] = table_of([row], reading, chosen=("mean", "co2e_kg_central")).rows
    assert [cell.text for cell in cells] == ["21.92", "1.53"]
    assert [amount("1000.5", "JPY"), amount("0.004", "EUR"), amount("0.00", "EUR")] == ["1000", "0.004", "0.00"]
    said = text_of("sustainability-rollup", [footprint("2026-06-01", 1.52712)])
    assert said.startswith("1.53 kg CO2e is the footprint") and "the 95 % interval is 0 to 3.05." in said


def test_an_amount_of_many_digits_is_rounded_however_large() -> None:
    for value, cell in (("0.123456", "0.1235"), (f"{10**30}.123456", f"{10**30}.1235"), ("-2.00005", "-2.0000")):
        assert [[shown.text for shown in row] for row in table_of([{"total": value}]).rows] == [[cell]], value


BRAND = {
    "period": "2026-04-26",
    "brand": "vita",
    "name": "Vita",
    "currency": "HKD",
    "rank": 1,
    "items": 4,
    "observations": 9,
    "median": "22.00",
    "median_change": -0.0312,
    "kind": "listing",
    "list_price_n": 0,
    "promotion_share": None,
    "peers": [{"brand": f"b{n}", "name": f"B{n}", "observations": n, "share": 0.25} for n in range(44)],
}

USUAL = ("median", "median_change", "rank", "items", "observations", "peers", "promotion_share")

READING = RowContext(Periods(None, date(2026, 7, 15), date(2026, 7, 24)), {"median": "currency"}, {})


def test_eight_columns_are_shown_with_units_and_names_and_three_members_of_a_list() -> None:
    other = BRAND | {"brand": "soy", "name": "Soy", "peers": []}
    table = table_of([BRAND, other], READING, USUAL)
    assert [column.heading for column in table.shown] == [
        "Brand",
        "Median, HKD",
        "Change of the median, %",
        "Rank",
        "Items",
        "Observations",
        "Peers",
    ]
    assert len(table.columns) == 12, "the others can be chosen; the name stands in the column of the slug"
    peers = "B0 25.0\u202f%, B1 25.0\u202f%, B2 25.0\u202f%"
    assert [(cell.text, cell.more) for cell in table.rows[0]][-1] == (peers, 41)
    assert [cell.text for cell in table.rows[1]] == ["Soy", "22.00", "-3.1", "1", "4", "9", "–"]


def test_chosen_columns_are_shown_in_their_order_and_unknown_ones_are_left_out() -> None:
    table = table_of([BRAND], READING, USUAL, ["period", "nosuch", "kind"])
    assert [column.name for column in table.shown] == ["period", "kind"]
    assert [cell.text for cell in table.rows[0]] == ["2026-07-15 to 2026-07-24", "listing"]


def test_slugs_codes_and_ids_are_shown_by_their_names() -> None:
    row = {"category": "a.b", "channel": "NORTH", "contributors": [{"iid": "IID-1", "share": 0.5}]}
    keys = keys_in([row, {"brand": ["vita"]}], {})
    assert keys == {"category": {"a.b"}, "iid": {"IID-1"}, "brand": {"vita"}}
    names = {"category": {"a.b": "Drinks › Tea"}, "iid": {"IID-1": "Green tea"}, "brand": {"vita": "Vita"}}
    [cells] = table_of([row], RowContext(names=names)).rows
    assert [cell.text for cell in cells] == ["Drinks › Tea", "NORTH", "Green tea 50.0\u202f%"]
    assert question({"brand": ["vita"], "granularity": "week"}, {}, names) == "Vita · by week"


def test_a_change_is_per_cent_only_where_its_unit_is_relative() -> None:
    row = {"change": -0.0049, "factor": 1.00192, "days_between_changes": 11.8269}
    units = {"change": "ratio", "factor": "ratio to the mean of a year"}
    seasons = table_of([row], RowContext(units=units))
    assert [cell.text for cell in seasons.rows[0]] == ["-0.5", "100.2", "11.8"]
    assert [column.heading for column in seasons.columns][:2] == ["Change, %", "Factor, %"]
    footprints = table_of([{"change": -1.5049}], RowContext(units={"change": "unit of the indicator"}))
    assert (footprints.rows[0][0].text, footprints.columns[0].heading) == ("-1.5", "Change")
