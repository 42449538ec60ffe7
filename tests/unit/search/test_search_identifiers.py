"""Which identifiers a query is searched for, and that their items come first on every page."""

import pytest

from edge.search.engine import identifiers_in


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("4006381333931", {("gtin", "04006381333931"), ("mpn", "4006381333931"), ("sku", "4006381333931")}),
        ("pens 4006381333931 blue fine", {("gtin", "04006381333931")}),
        ("0-306-40615-2", {("gtin", "09780306406157"), ("mpn", "0306406152"), ("sku", "0-306-40615-2")}),
        ("04252614", {("gtin", "00042100005264"), ("mpn", "04252614"), ("sku", "04252614")}),
        (
            "Sony WH-1000XM4",
            {("mpn", "SONYWH1000XM4"), ("sku", "Sony WH-1000XM4"), ("mpn", "WH1000XM4")},
        ),
        ("https://shop.test/p/1?utm_source=x", {("url", "shop.test/p/1")}),
        ("soy milk", set()),
        ("iphone 5", {("mpn", "IPHONE5"), ("sku", "iphone 5")}),
        ("a4", set()),
        ("iid-0A1B2C3", set()),
        ("a case for the iphone 5", set()),
        ("4006381333932 of a wrong check digit", set()),
    ],
)
def test_a_query_is_looked_up_as_the_identifiers_that_it_may_be(q: str, found: set[tuple[str, str]]) -> None:
    asked = identifiers_in(q)
    assert {(one.scheme, one.value) for one in asked} == found
    assert len(asked) == len(found)
