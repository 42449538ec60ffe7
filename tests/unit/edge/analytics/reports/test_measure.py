"""Whether a question of unit prices names exactly one unit."""

from typing import Any

import pytest
from marshmallow import ValidationError

from edge.analytics.reports.brand_insights import BrandListQuery
from edge.analytics.reports.category_insights import CategoryListQuery
from edge.analytics.reports.cohorts import CohortsQuery
from edge.analytics.reports.price_index import PriceIndexQuery
from edge.analytics.reports.question import ReportQuery, question_of

_ASKED: dict[type[ReportQuery], dict[str, Any]] = {
    CohortsQuery: {"brand": ["vita"]},
    PriceIndexQuery: {"brand": ["vita"]},
    BrandListQuery: {},
    CategoryListQuery: {},
}
every_query = pytest.mark.parametrize("query", _ASKED)


@every_query
def test_prices_are_asked_for_unless_unit_prices_are(query: type[ReportQuery]) -> None:
    question = question_of(query, query().load(_ASKED[query]))
    assert (question["measure"], question["unit"]) == ("price", None)
    question = question_of(query, query().load(_ASKED[query] | {"measure": "unit_price", "unit": "kg"}))
    assert (question["measure"], question["unit"]) == ("unit_price", "kg")


@every_query
@pytest.mark.parametrize(
    ("asked", "named", "reason"),
    [
        ({"measure": "unit_price"}, "unit", "is required with `measure=unit_price`: one of kg, l, piece, m"),
        ({"unit": "kg"}, "measure", "must be `unit_price` with `unit`"),
        ({"measure": "price", "unit": "kg"}, "measure", "must be `unit_price` with `unit`"),
        ({"measure": "unit_price", "unit": "oz"}, "unit", "Must be one of: kg, l, piece, m."),
    ],
)
def test_a_measure_without_its_unit_is_refused(
    query: type[ReportQuery], asked: dict[str, str], named: str, reason: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        query().load(_ASKED[query] | asked)
    assert refused.value.messages == {named: [reason]}
