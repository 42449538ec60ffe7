"""The report builder's form has every parameter of the report's declaration, with what it allows."""

from edge.dashboard.forms import FormField
from edge.dashboard.reports import FORMS


def fields(kind: str) -> dict[str, FormField]:
    return {field.parameter: field for field in FORMS[kind].form.fields}


def test_the_price_index_offers_quarters_and_years() -> None:
    assert {"month", "quarter", "year"} <= {value for value, _ in fields("price-index")["granularity"].choices}


def test_statistics_of_prices_offer_outliers_and_another_currency() -> None:
    for kind in ("cohorts", "category-insights", "brand-insights", "price-index"):
        found = fields(kind)
        assert {value for value, _ in found["outliers"].choices} == {"exclude", "include"}, kind
        assert {"convert", "rates"} <= set(found), kind
