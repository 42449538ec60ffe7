"""The judge sees what it must see: a digit that is wrong, a row that is missing, a field too few."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tests.truth import naming
from tests.truth.compare import OneOf, Question, Verdict, differences
from tests.truth.exact import Near, deviation, mean, percentile


def places(ours: Any, theirs: Any) -> list[str]:
    return [found.place for found in differences(Question("asked", ours, theirs))]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("10.50", Decimal("10.5")),
        (3, 3),
        ("2026-07-01", date(2026, 7, 1)),
        (None, None),
        ([1, "a"], [1, "a"]),
        ({"a": 1, "new": 2}, {"a": 1}),
        (Decimal("0.333333"), Near(Fraction(1, 3), places=6)),
        (Decimal("0.1"), Near(Fraction(1, 10))),
        ("x", frozenset({"x", "y"})),
        ([2], OneOf([[1], [2]])),
    ],
)
def test_equal_items_compare_as_equal(ours: Any, theirs: Any) -> None:
    assert places(ours, theirs) == []


@pytest.mark.parametrize(
    ("ours", "theirs", "place"),
    [
        ("10.51", Decimal("10.5"), "(all)"),
        (None, 0, "(all)"),
        (0, None, "(all)"),
        (True, 1, "(all)"),
        ([1], [1, 2], "(length)"),
        ({}, {"a": None}, ".a"),
        ({"rows": [{"n": 1}]}, {"rows": [{"n": 2}]}, ".rows[0].n"),
        ("z", frozenset({"x"}), "(all)"),
        (Decimal("0.333334"), Near(Fraction(1, 3), places=6), "(all)"),
        ([3], OneOf([[1], [2]]), "(all)"),
        (Decimal("0.1000000000000001"), Near(Fraction(1, 10)), "(all)"),
        ({"type": "a problem"}, [], "(all)"),
    ],
)
def test_a_difference_is_named_by_its_place(ours: Any, theirs: Any, place: str) -> None:
    assert places(ours, theirs) == [place]


def test_members_that_nothing_is_expected_of_are_listed() -> None:
    verdict = Verdict("lookup")
    verdict.add(Question("asked", {"a": 1, "rows": [{"n": 1, "new": 2}]}, {"a": 1, "rows": [{"n": 1}]}))
    assert (verdict.different, verdict.unjudged) == (0, {".rows[].new"})


def test_statistics_are_exact() -> None:
    prices = [Decimal("1"), Decimal("2"), Decimal("4")]
    assert percentile(prices, 10) == Fraction(6, 5)
    assert percentile(prices, 75) == Fraction(3)
    assert mean(prices) == Fraction(7, 3)
    assert Near(Fraction(deviation(prices) or 0), places=6).allows(Fraction("1.527525"))
    assert deviation(prices[:1]) is None


def test_names_are_those_of_the_contract() -> None:
    assert naming.mint("hk_pricewatch", "P000003205") == "IID-XCBY0-DC7P6-CM5JH"
    assert naming.slug("Café  Noir's & Co.") == "cafe-noirs-co"
    assert (naming.weight("SEAWEED 3'S X 5G"), naming.weight("Milk Bar Bun 210g"), naming.weight("6 rolls")) == (
        "0.015",
        "0.21",
        None,
    )
