"""A report's answer in a sentence with its figure first; of nothing: why, and the form that changes it."""

from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit

from edge.analytics.period_words import Periods
from edge.analytics.reports.declared import REPORTS_BY_KIND
from edge.analytics.wording import RowContext
from edge.dashboard.summaries import summary_of

NAMES = {"brand": {"vitasoy": "Vitasoy", "vita": "Vita"}}

MONTHS = RowContext(Periods("month", date(2026, 6, 1), date(2026, 7, 24)), {}, NAMES)

TEN_DAYS = RowContext(Periods("month", date(2026, 7, 15), date(2026, 7, 24)), {}, NAMES)

NOTHING = RowContext(Periods("month"), {}, NAMES)


def cohort(period: str, p50: str, **group: str) -> dict[str, Any]:
    return {"period": period, **group, "currency": "HKD", "p50": p50, "items": 1, "observations": 409}


def index(period: str, value: float) -> dict[str, Any]:
    return {"period": period, "currency": "HKD", "index": value, "low": value - 1, "high": value + 2}


def footprint(period: str, central: float | None, **group: str) -> dict[str, Any]:
    bounds = {f"co2e_kg_{name}": central and central * n for n, name in enumerate(("low", "central", "high"))}
    return {"period": period, **group, **bounds, "basis": "sales", "items": 40, "items_covered": 0.25}


def text_of(kind: str, rows: list[dict[str, Any]], reading: RowContext = MONTHS, **parameters: Any) -> str:
    answer = summary_of(REPORTS_BY_KIND[kind], {"brand": ["vitasoy"], **parameters}, rows, reading)
    return f"{answer.figure} {answer.sentence}"


def test_a_change_of_the_median_is_said_with_its_sign_and_the_days_of_its_period() -> None:
    for before, now, text in (
        (
            "20.00",
            "19.38",
            "−3.1 % Vitasoy’s median price fell 3.1 % since 2026-06, to HKD 19.38",
        ),
        (
            "20.00",
            "21.00",
            "+5.0 % Vitasoy’s median price rose 5.0 % since 2026-06, to HKD 21.00",
        ),
        (
            "20.00",
            "20.00",
            "0.0 % change in Vitasoy’s median price since 2026-06: it is HKD 20.00",
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
        "HKD 9.50 to 23.00 is the range of the median prices of 2 shops, from B to A (2026-06)."
    )


def test_a_unit_price_is_named_with_its_unit() -> None:
    per_litre = cohort("2026-06-01", "23.00") | {"unit": "l"}
    assert text_of("cohorts", [per_litre]).startswith("HKD 23.00 per l is Vitasoy’s median price, from 409")
    groups = [per_litre | {"channel": "A"}, per_litre | {"channel": "B", "p50": "9.50"}]
    assert text_of("cohorts", groups).startswith("HKD 9.50 to 23.00 per l is the range of the median prices")


def test_a_range_counts_what_distinguishes_its_groups() -> None:
    groups = [
        cohort("2026-06-01", price, category="x", channel=name) for price, name in (("23.00", "A"), ("9.50", "B"))
    ]
    assert "of 2 shops, from B to A (" in text_of("cohorts", groups)
    groups = [cohort("2026-06-01", "9.50", brand=brand, channel=name) for brand in "xy" for name in "AB"]
    assert "of 4 groups, from x, A to x, A (" in text_of("cohorts", groups)


def test_groups_in_several_currencies_are_counted_once_and_the_currencies_listed() -> None:
    def priced(currency: str, **group: str) -> dict[str, Any]:
        return cohort("2026-06-01", "9.50", **group) | {"currency": currency}

    both = [priced("EUR", channel="A"), priced("KWD", channel="A"), priced("HKD", channel="B")]
    assert text_of("cohorts", both) == "2 shops have prices, in EUR, HKD and KWD (2026-06)."
    assert text_of("cohorts", both[:2]) == "2 currencies have prices: EUR and KWD (2026-06)."


def test_an_index_is_the_change_since_its_first_period_with_its_interval() -> None:
    said = text_of("price-index", [index("2026-06-01", 100.0), index("2026-07-01", 97.4)])
    assert said == (
        "−2.6 % Prices of the same items fell 2.6 % from 2026-06 to the incomplete month 2026-07 "
        "(95 % interval −3.6 % to −0.6 %)."
    )


def test_a_change_whose_interval_holds_zero_is_said_to_be_unclear() -> None:
    said = text_of("price-index", [index("2026-06-01", 100.0), index("2026-07-01", 99.4)])
    assert said == (
        "No clear change in the prices of the same items from 2026-06 to the incomplete month 2026-07: "
        "the 95 % interval −1.6 % to +1.4 % contains zero."
    )


def test_several_periods_are_answered_over_all_of_them_and_not_over_the_last_two() -> None:
    said = text_of("cohorts", [cohort(f"2026-0{n}-01", price) for n, price in ((5, "20"), (6, "22"), (7, "22"))])
    assert said.startswith("+10.0 % Vitasoy’s median price rose 10.0 % since 2026-05, to HKD 22.00")


def test_an_index_of_one_period_says_which_periods_to_choose_and_fills_them_in() -> None:
    for granularity, finer in (("month", "week"), ("week", "day"), ("day", None)):
        days = (
            (date(2026, 7, 15), date(2026, 7, 24)) if granularity == "month" else (date(2026, 7, 20), date(2026, 7, 24))
        )
        if granularity == "day":
            days = (days[0], days[0])
        reading = RowContext(Periods(granularity, *days), {}, NAMES)
        answer = summary_of(
            REPORTS_BY_KIND["price-index"], {"brand": ["vitasoy"]}, [index("2026-07-01", 100.0)], reading
        )
        assert answer.figure == f"1 {granularity}", granularity
        form = {name: values[0] for name, values in parse_qs(urlsplit(answer.link).query).items()}
        assert form == {"kind": "price-index", "brand": "vitasoy", **({"granularity": finer} if finer else {})}, (
            granularity
        )
        assert answer.advice.startswith(f"Choose periods of a {finer}" if finer else "Choose an earlier first day"), (
            granularity
        )


def test_an_index_of_periods_without_items_in_common_does_not_say_that_one_period_has_data() -> None:
    reading = RowContext(Periods("year", date(1999, 1, 1), date(2026, 11, 27)), {}, NAMES)
    rows = [index("1999-01-01", 100.0), index("2026-01-01", 100.0) | {"index": None, "low": None, "high": None}]
    assert text_of("price-index", rows, reading) == (
        "2 years have data, from 1999 to the incomplete year 2026, but too few items in common to be compared."
    )


def test_an_answer_of_nothing_does_not_advise_to_leave_empty_what_is_empty() -> None:
    assert summary_of(REPORTS_BY_KIND["cohorts"], {"brand": ["vitasoy"]}, [], NOTHING).advice == "Choose other filters."
    assert "both days empty" in summary_of(REPORTS_BY_KIND["cohorts"], {"from": "2027-01-01"}, [], NOTHING).advice


def test_an_answer_of_nothing_says_why_and_what_to_change() -> None:
    none = summary_of(REPORTS_BY_KIND["reductions"], {"category": []}, [], TEN_DAYS)
    assert none.figure == "0 reductions" and "no listing fell below a list price" in none.sentence
    assert "list price" in none.advice and none.link == "/dashboard/reports?kind=reductions"
    assert summary_of(REPORTS_BY_KIND["reductions"], {}, [], NOTHING).figure == "0 prices"
    asked = {"brand": ["vitasoy"], "from": "2020-01-01", "to": "2020-02-01", "kind": "sale"}
    none = summary_of(REPORTS_BY_KIND["cohorts"], asked, [], NOTHING)
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


def test_a_comparison_of_footprints_says_what_most_of_the_change_is() -> None:
    row = {"period": "2026-06-01", "basis": "sales", "indicator": "co2e_kg", "items": 4, "items_with_figure": 3}
    row |= {"footprint": 337.5, "per_unit": 1.125, "change": -112.5, "volume": 0.0, "mix": -120.0, "intensity": 7.5}
    said = text_of("footprint-comparison", [row])
    assert "1.12 kg CO2e is the footprint per unit sold" in said
    assert "3 items of 4 have a figure." in said
    assert "The whole changed by −112 against the" in said
    assert "most of it by mix (−120)" in said
