"""What the dashboard says: answers, periods, forms, tables, names of events and browsers."""

import random
import threading
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from edge.analytics.report_declarations import REPORTS_BY_KIND
from edge.dashboard import charts
from edge.dashboard.answers import answer_of
from edge.dashboard.events import words_of
from edge.dashboard.forms import Field
from edge.dashboard.reports import FORMS, defaults_of, drawn
from edge.dashboard.sign_in import browser_of
from edge.dashboard.tables import (
    Names,
    Periods,
    Reading,
    amount,
    export_question,
    figure,
    group_name,
    keys_in,
    question,
    table_of,
)
from shared.events.types import TYPES
from workers.analytics.reports.result import Listed, page_of
from workers.analytics.reports.window import last_day_with_enough

# Browsers are named as people know them.


_WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


def test_a_browser_is_named_with_its_system() -> None:
    for agent, words in (
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox 128 on Linux"),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {_WEBKIT} Chrome/140.0.0.0 Safari/537.36",
            "Chrome 140 on Windows",
        ),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {_WEBKIT} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
            "Edge 140 on Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
            "Version/18.0 Mobile/15E148 Safari/604.1",
            "Safari 18 on iPhone",
        ),
        (f"Mozilla/5.0 (Linux; Android 14; Pixel) {_WEBKIT} Chrome/140.0.0.0 Mobile", "Chrome 140 on Android"),
        (f"Mozilla/5.0 (X11; Linux x86_64) {_WEBKIT} HeadlessChrome/156.0.0.0 Safari/537.36", "Chrome 156 on Linux"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("x" * 500, "x" * 60),
        ("", "unknown"),
    ):
        assert browser_of(agent) == words, agent


# A report's answer in a sentence with its figure first; of nothing: why, and the form that changes it.


NAMES = {"brand": {"vitasoy": "Vitasoy", "vita": "Vita"}}

MONTHS = Reading(Periods("month", date(2026, 6, 1), date(2026, 7, 24)), {}, NAMES)

TEN_DAYS = Reading(Periods("month", date(2026, 7, 15), date(2026, 7, 24)), {}, NAMES)

NOTHING = Reading(Periods("month"), {}, NAMES)


def cohort(period: str, p50: str, **group: str) -> dict[str, Any]:
    return {"period": period, **group, "currency": "HKD", "p50": p50, "items": 1, "observations": 409}


def index(period: str, value: float) -> dict[str, Any]:
    return {"period": period, "currency": "HKD", "index": value, "low": value - 1, "high": value + 2}


def footprint(period: str, central: float | None, **group: str) -> dict[str, Any]:
    bounds = {f"co2e_kg_{name}": central and central * n for n, name in enumerate(("low", "central", "high"))}
    return {"period": period, **group, **bounds, "basis": "sales", "items": 40, "items_covered": 0.25}


def text_of(kind: str, rows: list[dict[str, Any]], reading: Reading = MONTHS, **parameters: Any) -> str:
    answer = answer_of(kind, {"brand": ["vitasoy"], **parameters}, rows, reading)
    return f"{answer.figure} {answer.sentence}"


def test_a_change_of_the_median_is_said_with_its_sign_and_the_days_of_its_period() -> None:
    for before, now, text in (
        (
            "20.00",
            "19.38",
            "−3.1 % Vitasoy’s median price fell 3.1 % against the previous month with data, to HKD 19.38",
        ),
        (
            "20.00",
            "21.00",
            "+5.0 % Vitasoy’s median price rose 5.0 % against the previous month with data, to HKD 21.00",
        ),
        (
            "20.00",
            "20.00",
            "0.0 % change in Vitasoy’s median price against the previous month with data: it is HKD 20.00",
        ),
    ):
        said = text_of("cohorts", [cohort("2026-06-01", before), cohort("2026-07-01", now)])
        assert said.startswith(text), before
        assert said.endswith("(2026-07-01 to 2026-07-24, an incomplete month)."), before


def test_the_reports_own_change_against_the_period_before_is_the_one_that_is_said() -> None:
    row = {
        **cohort("2026-06-01", ""),
        "brand": "vitasoy",
        "name": "Vitasoy",
        "median": "22.00",
        "median_change": -0.031,
    }
    said = text_of("brand-insights", [row])
    assert said == "−3.1 % Vitasoy’s median price fell 3.1 % against the month before, to HKD 22.00 (2026-06)."


def test_one_period_is_the_median_itself_and_several_groups_are_their_range() -> None:
    assert text_of("cohorts", [cohort("2026-06-01", "23.00")]) == (
        "HKD 23.00 is Vitasoy’s median price, from 409 observations of 1 item (2026-06)."
    )
    assert "from 1 observation of 1 item" in text_of("cohorts", [cohort("2026-06-01", "23.00") | {"observations": 1}])
    groups = [cohort("2026-06-01", "23.00", channel="A"), cohort("2026-06-01", "9.50", channel="B")]
    assert text_of("cohorts", groups) == (
        "HKD 9.50 to 23.00 is the range of the median prices of 2 channels, from B to A (2026-06)."
    )


def test_a_range_counts_what_distinguishes_its_groups() -> None:
    groups = [
        cohort("2026-06-01", price, category="x", channel=name) for price, name in (("23.00", "A"), ("9.50", "B"))
    ]
    assert "of 2 channels, from B to A (" in text_of("cohorts", groups)
    groups = [cohort("2026-06-01", "9.50", brand=brand, channel=name) for brand in "xy" for name in "AB"]
    assert "of 4 groups, from x, A to x, A (" in text_of("cohorts", groups)


def test_groups_in_several_currencies_are_counted_once_and_the_currencies_listed() -> None:
    def priced(currency: str, **group: str) -> dict[str, Any]:
        return cohort("2026-06-01", "9.50", **group) | {"currency": currency}

    both = [priced("EUR", channel="A"), priced("KWD", channel="A"), priced("HKD", channel="B")]
    assert text_of("cohorts", both) == "2 channels have prices, in EUR, HKD and KWD (2026-06)."
    assert text_of("cohorts", both[:2]) == "2 currencies have prices: EUR and KWD (2026-06)."


def test_an_index_is_the_change_since_its_first_period_with_its_interval() -> None:
    said = text_of("price-index", [index("2026-06-01", 100.0), index("2026-07-01", 99.4)])
    assert said == (
        "−0.6 % Prices of the same items fell 0.6 % from 2026-06 to the incomplete month 2026-07 "
        "(95 % interval −1.6 % to +1.4 %)."
    )


def test_an_index_of_one_period_says_which_periods_to_choose_and_fills_them_in() -> None:
    for granularity, finer in (("month", "week"), ("week", "day"), ("day", None)):
        days = (
            (date(2026, 7, 15), date(2026, 7, 24)) if granularity == "month" else (date(2026, 7, 20), date(2026, 7, 24))
        )
        if granularity == "day":
            days = (days[0], days[0])
        reading = Reading(Periods(granularity, *days), {}, NAMES)
        answer = answer_of("price-index", {"brand": ["vitasoy"]}, [index("2026-07-01", 100.0)], reading)
        assert answer.figure == f"1 {granularity}", granularity
        form = {name: values[0] for name, values in parse_qs(urlsplit(answer.link).query).items()}
        assert form == {"kind": "price-index", "brand": "vitasoy", **({"granularity": finer} if finer else {})}, (
            granularity
        )
        assert answer.advice.startswith(f"Choose periods of a {finer}" if finer else "Choose an earlier first day"), (
            granularity
        )


def test_an_index_of_periods_without_items_in_common_does_not_say_that_one_period_has_data() -> None:
    reading = Reading(Periods("year", date(1999, 1, 1), date(2026, 11, 27)), {}, NAMES)
    rows = [index("1999-01-01", 100.0), index("2026-01-01", 100.0) | {"index": None, "low": None, "high": None}]
    assert text_of("price-index", rows, reading) == (
        "2 years have data, from 1999 to the incomplete year 2026, but too few items in common to be compared."
    )


def test_an_answer_of_nothing_does_not_advise_to_leave_empty_what_is_empty() -> None:
    assert answer_of("cohorts", {"brand": ["vitasoy"]}, [], NOTHING).advice == "Choose other filters."
    assert "both days empty" in answer_of("cohorts", {"from": "2027-01-01"}, [], NOTHING).advice


def test_an_answer_of_nothing_says_why_and_what_to_change() -> None:
    none = answer_of("reductions", {"category": []}, [], TEN_DAYS)
    assert none.figure == "0 reductions" and "no listing fell below a list price" in none.sentence
    assert "list price" in none.advice and none.link == "/dashboard/reports?kind=reductions"
    assert answer_of("reductions", {}, [], NOTHING).figure == "0 prices"
    asked = {"brand": ["vitasoy"], "from": "2020-01-01", "to": "2020-02-01", "kind": "sale"}
    none = answer_of("cohorts", asked, [], NOTHING)
    assert none.sentence == "were observed from 2020-01-01 to 2020-02-01 with these filters."
    assert none.link == "/dashboard/reports?kind=cohorts&brand=vitasoy&observed=sale"


def test_a_footprint_is_the_median_of_the_picture_and_says_how_many_items_have_a_figure() -> None:
    said = text_of("sustainability-rollup", [footprint("2026-06-01", 1500.0)])
    assert said == (
        "1,500 kg CO2e is the footprint of all units sold (2026-06); the 95 % interval is 0 to 3,000. "
        "25 % of 40 items have a figure."
    )
    assert text_of("sustainability-rollup", [footprint("2026-06-01", None)]) == (
        "0 of 40 items have a footprint figure (2026-06)."
    )


def test_reductions_that_nobody_can_judge_are_no_share() -> None:
    counts = {"period": "2026-06-01", "announced": 10, "holding": 3, "undecided": 4}
    assert text_of("reductions", [counts]).startswith("50.0 % of the 6 reductions that can be judged hold")
    assert text_of("reductions", [counts | {"undecided": 10}]).startswith("0 of 10 announced reductions can be judged")


# Every type of events has words of its own on the dashboard's page, and the pages that it links exist.


_FIRED = {"watch": "w", "label": None, "target": "brand", "code": "vita", "day": "2026-07-02", "currency": "HKD"}

_JOB = {"job": "j-1", "kind": "sustainability-rollup", "state": "failed"}

_CASES: list[tuple[str, dict[str, Any], str, str | None]] = [
    (
        "watch.fired",
        {**_FIRED, "condition": "below", "price": "9.90", "amount": "10.00", "iid": "IID-1"},
        "brand vita: 9.90 HKD on 2026-07-02, below 10.00",
        "/dashboard/explorer/IID-1",
    ),
    (
        "watch.fired",
        {**_FIRED, "condition": "new-low", "price": "9.90", "days": 90, "low_before": "10.10", "iid": "IID-1"},
        "brand vita: 9.90 HKD on 2026-07-02, the lowest of 90 days; it was 10.10 before",
        "/dashboard/explorer/IID-1",
    ),
    (
        "watch.fired",
        {**_FIRED, "condition": "index-moved", "change_percent": -7.25, "percent": 5},
        "brand vita: prices changed by -7.25 % up to 2026-07-02",
        None,
    ),
    ("job.ended", _JOB, "Footprint report failed", "/dashboard/jobs/j-1"),
    ("export.ready", _JOB, "The files of an export are ready to download", "/dashboard/exports/j-1"),
    (
        "release.cut",
        {"dataset": "items", "data_version": 7, "rows": 12_345, "bytes": 1},
        "Release 7 of items: 12,345 rows",
        "/dashboard/datasets/items?release=7",
    ),
    ("item.merged", {"iid": "A", "survivor_iid": "B"}, "A became part of B", "/dashboard/explorer/B"),
    ("item.split", {"iid": "A", "survivor_iid": "B"}, "A is no longer part of B", "/dashboard/explorer/A"),
    ("item.withdrawn", {"iid": "A", "survivor_iid": None}, "A was withdrawn", None),
    ("item.restored", {"iid": "A", "survivor_iid": None}, "A is active again", "/dashboard/explorer/A"),
    (
        "quota.reached",
        {"day": "2026-07-02", "percent": 80, "used": 8_000, "limit": 10_000},
        "80 % of the daily units used on 2026-07-02: 8,000 of 10,000",
        "/dashboard/usage",
    ),
    (
        "outliers.changed",
        {"month": "2026-07", "observations": 2, "changes": []},
        "Later observations changed which prices of 2026-07 are outliers: 2",
        None,
    ),
    ("key.rotated", {"key_id": "k1"}, "Key k1 is the new key", "/dashboard/key"),
    ("key.revoked", {"key_id": "k1"}, "Key k1 was revoked", "/dashboard/key"),
    ("webhook.disabled", {"webhook": "w", "reason": "It answered 410."}, "It answered 410.", "/dashboard/webhooks/w"),
]


def test_an_event_is_a_sentence_with_its_page() -> None:
    for type_, data, text, link in _CASES:
        assert words_of(type_, data) == (text, link), type_


def test_every_type_has_words_and_one_whose_members_are_missing_has_the_sentence_of_its_type() -> None:
    for type_ in TYPES:
        assert type_ in {case[0] for case in _CASES}, type_
        assert words_of(type_, {}) == (TYPES[type_], None), type_


def test_a_type_that_is_not_known_is_its_own_name() -> None:
    assert words_of("item.renamed", {}) == ("item.renamed", None)


# Periods by their days with data: titles state those, and a period without data for all of its days is known.


FIRST, LAST = date(2026, 7, 15), date(2026, 7, 24)


def test_a_period_is_never_named_by_a_day_before_its_data() -> None:
    for granularity, period, text, partial in [
        ("day", "2026-07-15", "2026-07-15", False),
        ("week", "2026-07-13", "2026-07-15 to 2026-07-19", True),
        ("week", "2026-07-20", "2026-07-20 to 2026-07-24", True),
        ("month", "2026-07-01", "2026-07-15 to 2026-07-24", True),
        ("month", "2026-06-01", "2026-06", False),  # a footprint of items without a price
        ("quarter", "2026-07-01", "2026-07-15 to 2026-07-24", True),
        (None, "2026-04-26", "2026-07-15 to 2026-07-24", False),
    ]:
        periods = Periods(granularity, FIRST, LAST)
        assert (periods.text(period), periods.is_partial(period)) == (text, partial), granularity


def test_a_period_among_others_is_named_by_what_people_call_it() -> None:
    for granularity, period, name in (
        ("day", "2026-07-15", "2026-07-15"),
        ("week", "2026-07-13", "the incomplete week of 2026-07-15"),
        ("week", "2026-07-20", "the week of 2026-07-20"),
        ("month", "2026-08-01", "2026-08"),
        ("quarter", "2026-07-01", "the incomplete quarter 2026-Q3"),
        ("quarter", "2026-10-01", "2026-Q4"),
        ("year", "2026-01-01", "the incomplete year 2026"),
        ("year", "2027-01-01", "2027"),
    ):
        assert Periods(granularity, date(2026, 7, 15), date(2028, 1, 1)).name(period) == name, granularity


def test_a_period_with_data_for_all_of_its_days_is_whole() -> None:
    periods = Periods("week", date(2026, 7, 13), date(2026, 7, 26))
    assert [periods.text(monday) for monday in ("2026-07-13", "2026-07-20")] == [
        "2026-07-13 to 2026-07-19",
        "2026-07-20 to 2026-07-26",
    ]
    assert not periods.is_partial("2026-07-20")
    assert Periods("month", date(2026, 6, 1), date(2026, 7, 1)).text("2026-06-01") == "2026-06"


def test_the_coverage_of_a_result_is_what_titles_state() -> None:
    coverage = {"coverage": {"first": "2026-07-15", "last": "2026-07-24"}}
    assert Periods.of({"granularity": "month"}, coverage).span == "2026-07-15 to 2026-07-24"
    assert Periods.of({}, {"coverage": {"first": None, "last": None}}).span == ""


# The pictures of a report's page: those of many rows are made beside the event loop.


PICTURE = REPORTS_BY_KIND["cohorts"].picture


class Rows(list[dict[str, Any]]):
    """Rows that note which threads have read them."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        super().__init__(rows)
        self.threads: set[int] = set()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self.threads.add(threading.get_ident())
        return super().__iter__()


async def test_pictures_of_many_rows_are_drawn_in_a_thread() -> None:
    for brands, in_the_loop in ((2, True), (60, False)):
        names = {*PICTURE.lines, *PICTURE.changes, *PICTURE.spread, "min", "p25", "p75", "max", PICTURE.compared}
        rows = [
            {
                "period": f"2026-{month:02d}",
                "brand": f"b{brand}",
                "currency": "EUR",
                **dict.fromkeys(names, month + 0.5),
            }
            for month in range(1, 13)
            for brand in range(brands)
        ]
        noted = Rows(rows)
        made = await drawn(PICTURE, noted)
        assert made == {"plots": charts.plots(PICTURE, rows), "bars": charts.bars(PICTURE, rows)}, brands
        assert made["plots"] and made["bars"], brands
        assert (noted.threads == {threading.get_ident()}) is in_the_loop, brands


# The report builder's form has every parameter of the report's declaration, with what it allows.


def fields(kind: str) -> dict[str, Field]:
    return {field.parameter: field for field in FORMS[kind].form.fields}


def test_the_price_index_offers_quarters_and_years() -> None:
    assert {"month", "quarter", "year"} <= {value for value, _ in fields("price-index")["granularity"].choices}


def test_statistics_of_prices_offer_outliers_and_another_currency() -> None:
    for kind in ("cohorts", "category-insights", "brand-insights", "price-index"):
        found = fields(kind)
        assert {value for value, _ in found["outliers"].choices} == {"exclude", "include"}, kind
        assert {"convert", "rates"} <= set(found), kind


# Questions in words, as lists of jobs and exports show them, and figures for people.


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
    reading = Reading(units={"mean": "currency"})
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

READING = Reading(Periods(None, date(2026, 7, 15), date(2026, 7, 24)), {"median": "currency"}, {})


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
    [cells] = table_of([row], Reading(names=names)).rows
    assert [cell.text for cell in cells] == ["Drinks › Tea", "NORTH", "Green tea 50.0\u202f%"]
    assert question({"brand": ["vita"], "granularity": "week"}, {}, names) == "Vita · by week"


# Pages: whatever is sorted by whatever, each name comes once, and never twice although the list changes in between.


SORTS = ("items", "-items", "observations", "-observations", "brand", "-brand")


def brands(chance: random.Random, count: int) -> dict[int, Listed]:
    return {number: Listed(chance.randrange(1, 6), f"brand-{number:03d}") for number in range(count)}


def test_pages_hold_everything_once_in_order() -> None:
    for sort in SORTS:
        chance = random.Random(sort)
        for limit in (1, 3, 50):
            found, seen, after = brands(chance, 20), [], None
            while True:
                page = page_of(found, {"sort": sort, "limit": limit, "after": after})
                assert len(page.ids) <= limit, sort
                assert page.total == 20, sort
                seen += page.ids
                if page.after is None:
                    break
                after = page.after
            name = sort.removeprefix("-")
            keys = {number: one.name if name == "brand" else one.n for number, one in found.items()}
            ordered = sorted(sorted(found), key=keys.__getitem__, reverse=sort.startswith("-"))
            assert seen == ordered, sort


def test_an_addition_or_a_removal_between_two_pages_repeats_nothing() -> None:
    for sort in SORTS:
        chance = random.Random(sort)
        found = brands(chance, 20)
        first = page_of(found, {"sort": sort, "limit": 8})
        for number in first.ids[5:]:
            del found[number]
        found |= {100 + number: Listed(chance.randrange(1, 6), f"brand-{number:03d}x") for number in range(20)}
        rest = page_of(found, {"sort": sort, "limit": 500, "after": first.after})
        assert not set(first.ids) & set(rest.ids), sort
        assert {number for number in range(20) if number in found} <= {*first.ids, *rest.ids}, sort


def test_the_default_window_ends_on_the_last_day_that_has_a_fifth_of_the_median_day() -> None:
    first = date(2026, 7, 1)
    counts = {first + timedelta(days=n): 100 for n in range(9)}
    assert last_day_with_enough(counts) == date(2026, 7, 9)
    assert last_day_with_enough(counts | {date(2026, 8, 1): 20, date(2099, 2, 1): 19}) == date(2026, 8, 1)
    assert last_day_with_enough({date(2099, 2, 1): 1}) == date(2099, 2, 1)
