"""Amounts are exact in the minor units of their currency, and the list of codes is CLDR's."""

from datetime import date
from decimal import Decimal

import pytest
from babel.core import get_global
from hypothesis import given
from hypothesis import strategies as st

from shared.analytics.exchange import Rate
from shared.currencies import CODES, CURRENT, WITHDRAWN
from shared.money import minor_exceptions, to_minor, to_text


def test_amounts_are_exact() -> None:
    for text, currency, minor in (
        ("10.90", "HKD", 1090),
        ("10.9", "HKD", 1090),
        ("100", "JPY", 100),
        ("1.234", "KWD", 1234),
        ("0", "USD", 0),
    ):
        assert to_minor(text, currency) == minor, text
        assert Decimal(to_text(minor, currency)) == Decimal(text), text


@pytest.mark.parametrize("text", ["10.905", "-1", "NaN", "Infinity", "1e20", "x", "", "1,5"])
def test_a_text_that_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        to_minor(text, "HKD")


def test_a_converted_amount_is_rounded_once_however_large_it_is() -> None:
    day = date(2026, 7, 1)
    rate = Rate("HKD", day, day, Decimal("0.5"), Decimal(1))
    assert rate.convert(Decimal("12345678901234567890123.4567895")) == Decimal("24691357802469135780246.913579")
    assert Rate("EUR", day, day, Decimal(1), Decimal(1)).convert(Decimal("-0.0000015")) == Decimal("-0.000002")


def test_half_a_cent_of_a_median_stays_exact() -> None:
    assert to_text(Decimal("1050.5"), "HKD") == "10.505"


@given(st.integers(0, 10**14), st.sampled_from(["HKD", "JPY", "KWD"]))
def test_money_survives_the_way_there_and_back(minor: int, currency: str) -> None:
    assert to_minor(to_text(minor, currency), currency) == minor


NOT_ISO = {"CNH", "XTS", "XXX"}


def test_every_legal_tender_of_today_is_a_code() -> None:
    listed = get_global("territory_currencies").values()
    tender = {code for history in listed for code, _, ended, legal in history if ended is None and legal}
    assert len(tender) > 140
    assert tender - NOT_ISO <= CODES


def test_no_code_is_both_current_and_withdrawn_and_test_codes_are_none() -> None:
    assert not CURRENT & WITHDRAWN
    assert not CODES & {"XTS", "XXX"}


def test_every_currency_with_other_minor_digits_is_a_code() -> None:
    assert minor_exceptions().keys() <= CODES
