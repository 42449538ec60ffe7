"""A history of years says how each year's prices compare with the newest one."""

from datetime import date

from edge.dashboard.price_chart import years
from tests.unit.edge.dashboard.rows_of_reports import price


def test_each_year_is_compared_with_the_newest_price() -> None:
    told = [(2019, 200), (2019, 400), (2020, 300), (2021, 500), (2021, 600)]
    prices = [price(1, minor)._replace(day=date(year, 1 + n, 1)) for n, (year, minor) in enumerate(told)]
    found = [(one.year, one.median, round(one.change, 3)) for one in years(prices)]
    assert found == [(2021, "5.50", 0.091), (2020, "3.00", 1.0), (2019, "3.00", 1.0)]


def test_of_few_years_and_of_free_items_nothing_is_said() -> None:
    assert years([price(1, 100), price(2, 200)]) == []
    assert years([price(1, 0)._replace(day=date(year, 1, 1)) for year in (2019, 2020, 2021)]) == []
