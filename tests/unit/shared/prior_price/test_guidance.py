"""The cases of the Commission's guidance on Art. 6a of Directive 98/6/EC (2021/C 526/02), each recomputed by DuckDB.

The prices are our own; sections are those of the guidance, C-330/23 is the judgment on percentages.
"""

from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

import duckdb
import pytest

from shared.prior_price import Moment, Options, Reason, reference

# Which price a seller must name who reduces on `began`: the lowest of the days of the period before it.
PRIOR = "SELECT min(price), CAST(round(100 * (1 - ? / min(price)), 2) AS DECIMAL(9, 2)) FROM prices WHERE day BETWEEN ? AND ?"


class Case(NamedTuple):
    """Runs of days and their prices until the day of the announcement; `since` is when the reduction began."""

    runs: tuple[tuple[date, date, str], ...]
    began: date
    since: date
    options: Options = Options()


def day(text: str) -> date:
    return date.fromisoformat(f"2026-{text}")


SALES = (
    (day("06-01"), day("06-30"), "100"),
    (day("07-01"), day("07-07"), "90"),
    (day("07-08"), day("07-14"), "80"),
    (day("07-15"), day("07-21"), "70"),
)
ARRIVAL = ((day("05-20"), day("05-31"), "60"), (day("06-01"), day("06-03"), "45"))
CASES = {
    "2.1: the price of the thirty days before": Case(
        ((day("05-01"), day("06-05"), "50"), (day("06-06"), day("06-10"), "40")), day("06-06"), day("05-07")
    ),
    "2.1: an earlier, shorter offer within the thirty days is the prior price": Case(
        (
            (day("05-01"), day("05-31"), "100"),
            (day("06-01"), day("06-05"), "80"),
            (day("06-06"), day("06-20"), "100"),
            (day("06-21"), day("06-25"), "70"),
        ),
        day("06-21"),
        day("05-22"),
    ),
    "2.1: an earlier offer before the thirty days is not": Case(
        (
            (day("04-01"), day("04-20"), "100"),
            (day("04-21"), day("04-25"), "60"),
            (day("04-26"), day("06-20"), "100"),
            (day("06-21"), day("06-25"), "70"),
        ),
        day("06-21"),
        day("05-22"),
    ),
    "4.2: a new arrival, where the State allows a shorter period": Case(
        ARRIVAL, day("06-01"), day("05-20"), Options(new_arrivals=True, first_offered=day("05-20"))
    ),
    "4.3: progressive, the price before the first step": Case(
        SALES, day("07-01"), day("06-01"), Options(progressive=True)
    ),
    "4.3: not applied, the price of the step before": Case(
        SALES, day("07-15"), day("06-15"), Options(progressive=False)
    ),
}


def moments(runs: tuple[tuple[date, date, str], ...]) -> list[Moment]:
    return [
        Moment(first + timedelta(days=n), price=Decimal(price))
        for first, last, price in runs
        for n in range((last - first).days + 1)
    ]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_prior_price_of_a_case_of_the_guidance(case: Case) -> None:
    known = moments(case.runs)
    found = reference(known, options=case.options)
    with duckdb.connect() as database:
        database.execute("CREATE TABLE prices (day DATE, price DECIMAL(9, 2))")
        database.executemany("INSERT INTO prices VALUES (?, ?)", [[one.day, one.price] for one in known])
        [expected] = database.execute(PRIOR, [known[-1].price, case.since, case.began - timedelta(days=1)]).fetchall()
    assert found.reduction_began_on == case.began
    assert (found.prior_price, found.percent, found.reason) == (*expected, None)


def test_a_price_that_is_not_below_the_prior_price_has_no_percentage() -> None:
    """C-330/23: a percentage refers to the lowest price of the thirty days, which here was as low as the new one."""
    runs = (
        (day("05-01"), day("05-31"), "1.69"),
        (day("06-01"), day("06-05"), "1.29"),
        (day("06-06"), day("06-20"), "1.69"),
    )
    found = reference(moments((*runs, (day("06-21"), day("06-25"), "1.29"))))
    assert (found.prior_price, found.percent, found.applicable) == (Decimal("1.29"), None, False)
    assert (found.reason, found.known) == (Reason.NOT_BELOW, True)
