"""A report's answer in a sentence with its figure first; of nothing: why, and the form that changes it."""

from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from edge.dashboard.answers import answer_of
from edge.dashboard.periods import Periods
from edge.dashboard.tables import Reading

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


@pytest.mark.parametrize(
    ("before", "now", "text"),
    [
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
    ],
)
def test_a_change_of_the_median_is_said_with_its_sign_and_the_days_of_its_period(
    before: str, now: str, text: str
) -> None:
    said = text_of("cohorts", [cohort("2026-06-01", before), cohort("2026-07-01", now)])
    assert said.startswith(text)
    assert said.endswith("(2026-07-01 to 2026-07-24, an incomplete month).")


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
    groups = [cohort("2026-06-01", "23.00", channel="A"), cohort("2026-06-01", "9.50", channel="B")]
    assert text_of("cohorts", groups) == (
        "HKD 9.50 to 23.00 is the range of the median prices of 2 channels, from B to A (2026-06)."
    )


def test_an_index_is_the_change_since_its_first_period_with_its_interval() -> None:
    said = text_of("price-index", [index("2026-06-01", 100.0), index("2026-07-01", 99.4)])
    assert said == (
        "−0.6 % Prices of the same items fell 0.6 % between 2026-06 and 2026-07-01 to 2026-07-24 "
        "(95 % interval −1.6 % to +1.4 %)."
    )


@pytest.mark.parametrize(("granularity", "finer"), [("month", "week"), ("week", "day"), ("day", None)])
def test_an_index_of_one_period_says_which_periods_to_choose_and_fills_them_in(
    granularity: str, finer: str | None
) -> None:
    days = (date(2026, 7, 15), date(2026, 7, 24)) if granularity == "month" else (date(2026, 7, 20), date(2026, 7, 24))
    if granularity == "day":
        days = (days[0], days[0])
    reading = Reading(Periods(granularity, *days), {}, NAMES)
    answer = answer_of("price-index", {"brand": ["vitasoy"]}, [index("2026-07-01", 100.0)], reading)
    assert answer.figure == f"1 {granularity}"
    form = {name: values[0] for name, values in parse_qs(urlsplit(answer.link).query).items()}
    assert form == {"kind": "price-index", "brand": "vitasoy", **({"granularity": finer} if finer else {})}
    assert answer.advice.startswith(f"Choose periods of a {finer}" if finer else "Choose an earlier first day")


def test_an_answer_of_nothing_says_why_and_what_to_change() -> None:
    none = answer_of("reductions", {"category": []}, [], TEN_DAYS)
    assert none.figure == "0 reductions" and "no listing fell below a list price" in none.sentence
    assert "list price" in none.advice and none.link == "/dashboard/reports?kind=reductions"
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
