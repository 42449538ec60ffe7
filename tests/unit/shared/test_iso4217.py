"""The list of currency codes, compared with another list: CLDR's, as Babel has it."""

from babel.core import get_global

from shared.money import CODES, CURRENT, WITHDRAWN, minor_exceptions

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
