"""Identifiers of articles, GS1's: their spellings and check digits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidIdentifier
from shared.gtin import gtin14, is_restricted
from shared.index.identifiers import SCHEMES, NormalIdentifier, address, brand_key, normal, part_number

# Published examples: GS1's own article, ISO 2108's and Wikipedia's of ISBN, GS1 US's of UPC-E.
SAME = [
    ("gtin", "9506000134352", "09506000134352"),
    ("gtin", "09506000134352", "09506000134352"),
    ("gtin", "96385074", "00000096385074"),
    ("gtin", "036000291452", "00036000291452"),
    ("ean", " 4006381-333931 ", "04006381333931"),
    ("upc", "036000291452", "00036000291452"),
    ("upc", "04252614", "00042100005264"),
    ("upc", "01234565", "00012345000065"),
    ("upc", "01234133", "00012300000413"),
    ("upc", "01234145", "00012340000015"),
    ("isbn", "0-306-40615-2", "09780306406157"),
    ("isbn", "978-0-306-40615-7", "09780306406157"),
    ("isbn", "080442957X", "09780804429573"),
    ("isbn", "080442957x", "09780804429573"),
    ("gtin", "9780306406157", "09780306406157"),
    ("isbn", "978\u20110\u2011306\u201140615\u20117", "09780306406157"),
    ("gtin", "9780306\u00a0406157", "09780306406157"),
    ("gtin", "\u200e9780306406157\u200f", "09780306406157"),
]

DIGITS = st.text("0123456789", min_size=1).filter(lambda body: len(body) in (7, 11, 12, 13) and bool(body.strip("0")))


def test_every_spelling_of_an_article_number_is_one_gtin_of_14_digits() -> None:
    for scheme, text, gtin in SAME:
        assert normal(scheme, text) == NormalIdentifier("gtin", gtin), scheme


@pytest.mark.parametrize(
    ("scheme", "text", "expected"),
    [
        ("gtin", "9506000134351", "2"),
        ("gtin", "09506000134351", "2"),
        ("ean", "96385073", "4"),
        ("upc", "036000291453", "2"),
        ("upc", "04252615", "4"),
        ("isbn", "0306406151", "2"),
        ("isbn", "0804429570", "X"),
        ("isbn", "9780306406158", "7"),
    ],
)
def test_a_wrong_check_digit_is_refused_with_the_one_that_was_expected(scheme: str, text: str, expected: str) -> None:
    with pytest.raises(InvalidIdentifier, match=f"the correct one is {expected}$") as refused:
        normal(scheme, text)
    assert refused.value.expected == expected


@pytest.mark.parametrize(
    ("scheme", "text", "detail", "suggestion"),
    [
        ("gtin", "", "must have digits only", None),
        (
            "gtin",
            "5.90422E+12",
            "was cut to a few digits by a spreadsheet such as Excel: export its column as text",
            None,
        ),
        ("gtin", "5904215121565.0", "must have digits only", "5904215121565"),
        ("gtin", "590421512156O", "must have digits only", None),
        ("gtin", "٥٩٠٤٢١٥١٢١٥٦٥", "must have digits only", None),
        ("gtin", "+5904215121565", "must have digits only", None),
        ("gtin", "-5904215121565", "must have digits only", None),
        ("gtin", "5904215121565-", "must have digits only", None),
        ("gtin", "590--4215121565", "must have digits only", None),
        ("gtin", "12478753272", "must have 8, 12, 13 or 14 digits", "012478753272"),
        ("gtin", "311296221", "must have 8, 12, 13 or 14 digits", None),
        ("gtin", "295512813334234", "must have 8, 12, 13 or 14 digits", None),
        ("gtin", "9" * 5_000, "must have 8, 12, 13 or 14 digits", None),
        ("gtin", "00000000000000", "has only zeros, which were never given to an article", None),
        ("ean", "04252614", "has a wrong check digit; the correct one is 0", "042100005264"),
        ("upc", "24252614", "is no UPC-E: it must begin with 0 or 1", None),
        ("isbn", "4006381333931", "of 13 digits must begin with 978 or 979", None),
        ("isbn", "08044295X7", "must have 10 or 13 digits; the tenth of 10 may be X", None),
        ("url", "ftp://a.test/x", "must be an absolute http or https address", None),
        ("url", "https://a:b@a.test/x", "must be an absolute http or https address", None),
        ("url", "https://a.test:x/", "must be an absolute http or https address", None),
        ("url", "https://[a.test/", "must be an absolute http or https address", None),
        ("url", "/only/a/path", "must be an absolute http or https address", None),
        ("url", "https://a.test/\u202e", "must be an absolute http or https address", None),
        ("sku", "a\x00b", "has characters that cannot be shown", None),
        ("sku", "9" * 501, "is too long", None),
    ],
)
def test_a_malformed_identifier_is_refused_with_its_reason(
    scheme: str, text: str, detail: str, suggestion: str | None
) -> None:
    with pytest.raises(InvalidIdentifier) as refused:
        normal(scheme, text)
    assert (refused.value.detail, refused.value.suggestion) == (detail, suggestion)


@given(DIGITS, st.data())
def test_each_number_has_one_check_digit_and_every_single_wrong_digit_is_noticed(
    body: str, data: st.DataObject
) -> None:
    fitting = [body + digit for digit in "0123456789" if _is_gtin(body + digit)]
    assert len(fitting) == 1
    place = data.draw(st.integers(0, len(body)))
    other = data.draw(st.sampled_from("0123456789").filter(lambda digit: digit != fitting[0][place]))
    assert not _is_gtin(fitting[0][:place] + other + fitting[0][place + 1 :])


@given(DIGITS)
def test_zeros_on_the_left_make_no_other_article(body: str) -> None:
    [whole] = [body + digit for digit in "0123456789" if _is_gtin(body + digit)]
    assert gtin14(whole) == gtin14(whole.zfill(14)) == whole.zfill(14)


def test_codes_that_shops_and_regions_give_out_themselves_are_known() -> None:
    for gtin, restricted in (
        ("2012345000003", True),
        ("2999999999994", True),
        ("0212345678901", True),
        ("212345678901", True),
        ("412345678903", True),
        ("512345678900", True),
        ("9800000000009", True),
        ("9991234567891", True),
        ("12012345000000", True),
        ("01234565", True),
        ("20123451", True),
        ("96385074", False),
        ("9506000134352", False),
        ("036000291452", False),
        ("9780306406157", False),
        ("9771234567003", False),
        ("14006381333938", False),
    ):
        assert is_restricted(gtin.zfill(14)) is restricted, gtin


def test_a_part_number_is_compared_without_its_separators() -> None:
    for text, same in (
        ("MDR-XB950BT/B", "MDRXB950BTB"),
        ("mdr xb950bt b", "MDRXB950BTB"),
        ("ＷＨ１０００", "WH1000"),
        ("S10+", "S10+"),
        ("n/a", ""),
        ("Does not apply", ""),
        ("000", ""),
        ("-", ""),
    ):
        assert part_number(text) == same, text


def test_a_brand_is_compared_without_case_accents_and_form_of_company() -> None:
    for text, same in (
        ("Sony Corp.", "sony"),
        ("SONY", "sony"),
        ("Häagen-Dazs", "haagen dazs"),
        ("häagen_dazs", "haagen dazs"),
        ("Robert Bosch GmbH", "robert bosch"),
        ("Co", "co"),
        ("Unbranded", ""),
    ):
        assert brand_key(text) == same, text


def test_an_address_is_compared_without_scheme_fragment_and_marks_of_campaigns() -> None:
    for text, same in (
        ("https://Shop.Test/a/", "shop.test/a"),
        ("http://shop.test:80/a#top", "shop.test/a"),
        ("https://shop.test/a?utm_source=x&b=2&a=1&gclid=z", "shop.test/a?a=1&b=2"),
        ("https://shop.test:8443/a b", "shop.test:8443/a%20b"),
        ("https://shop.test/ä%2Fb", "shop.test/%C3%A4%2Fb"),
    ):
        assert address(text) == same, text


def test_other_schemes_identify_nothing() -> None:
    assert normal("style_code", "4006381333931") is None
    assert "style_code" not in SCHEMES


@given(st.sampled_from(sorted(SCHEMES)), st.text(max_size=40))
def test_any_text_has_a_normal_form_that_stays_as_it_is_or_is_refused(scheme: str, text: str) -> None:
    try:
        found = normal(scheme, text)
    except InvalidIdentifier:
        return
    again = found and normal(found.scheme, f"https://{found.value}" if scheme == "url" else found.value)
    assert again == found


def _is_gtin(text: str) -> bool:
    try:
        gtin14(text)
    except InvalidIdentifier:
        return False
    return True
