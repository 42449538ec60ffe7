"""Compressed Digital Links: what GS1's own toolkit compresses is read, and what cannot be read is refused.  The addresses were made once by GS1's toolkit (github gs1/GS1DigitalLinkCompressionPrototype, commit 21a894b, Apache-2.0) with and without its sequences of identifiers; those of `PUBLISHED` stand in the documents and tests of others: of GS1's community resolver, digital-link.js, gs1-compression of Trust Codes, and Gs1DigitalLinkLib of Solidsoft Reply."""

import base64
import contextlib
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as some

from edge.index.compressed_digital_link import decompress, first_key
from edge.index.digital_link_path import DigitalLink, read_path
from shared.errors import InvalidIdentifier, WrongIdentifier

_ARTICLE = "/01/09506000134352"

COMPRESSED_BY_GS1 = [
    (_ARTICLE, "/ARFKk4XBoA"),
    ("/01/00000096385074", "/AQAAC31wZA"),
    (f"{_ARTICLE}/10/ABC1", "/CxFKk4XBoIlXgg"),
    (f"{_ARTICLE}/10/ABC1", "/ARFKk4XBoCCJV4I"),
    (f"{_ARTICLE}/10/ABC1/21/0012345", "/CxFKk4XBoIlXgkIOAGBy"),
    (f"{_ARTICLE}/22/2A/10/A%2FB/21/%21x", "/ChFKk4XBoIRUIQcFfCIYJD4"),
    (f"{_ARTICLE}/22/2A/10/A%2FB/21/%21x", "/ARFKk4XBoCEHBXwiGCQ-CJCKg"),
    (f"{_ARTICLE}/21/abcdef0123", "/DBFKk4XBoFVXm94CRg"),
    (f"{_ARTICLE}/21/ABCDEF0123", "/DBFKk4XBoJVXm94CRg"),
    (f"{_ARTICLE}/21/Zz_-90", "/DBFKk4XBoMzOf_3ug"),
    (f"{_ARTICLE}/10/0?17=261231", "/CxFKk4XBoAIC5_je"),
    (f"{_ARTICLE}?3103=000195&17=261231&3922=0299", "/LRFKk4XBoAAYYuf43nJEgJW"),
    (f"{_ARTICLE}?17=261231&3103=000195&3922=0299", "/ARFKk4XBoC5_jeYgYAGGckSAlY"),
    (f"{_ARTICLE}/10/ABC1/21/98765?17=261231", "/GhFKk4XBoIlXgguBzT_G8"),
    (f"{_ARTICLE}/10/x?15=261231", "/HxFKk4XBoMOJ_je"),
    (f"{_ARTICLE}?7003=2612312359", "/DhFKk4XBoE3aXJO"),
    (f"{_ARTICLE}?17=261231&421=276X1&423=276&3932=9780299", "/DRFKk4XBoH-N5yZekgJWhCijJfVCNFAA"),
    (f"{_ARTICLE}?linkType=gs1:pip&foo=b%26r", "/ARFKk4XBoeIlinkTypegfPzYuuGnh4N-iiA8Sbk"),
    (f"{_ARTICLE}?11=261231&foo=00123", "/HBFKk4XBoH-N_g36KAFAD2"),
    (f"{_ARTICLE}?30=12&400=PO-77&7007=261231261232&8008=26123112", "/DxFKk4XBoEMQAZTzvu-3AHP8b8f44QAQY6baA"),
    (
        f"{_ARTICLE}?710=PZN-4&7004=0120&7008=COD&7030=276AB%2F1&8005=000199",
        "/ARFKk4XBoOAJAHhwCHhHBuBgikJBhL2LiDKeyb9xAAoAGO",
    ),
    (
        f"{_ARTICLE}?90=a1&91=INTERNAL-9&3200=000012&7010=AB&7020=r3&8200=example.com",
        "/OhFKk4XBoAABjgIKq3AgYq94IAgvL4w7eGzKux79sgRUMixRBqYiJoBf3o",
    ),
    (
        f"{_ARTICLE}?20=07&253=9506000134376X1&255=950600013437612&410=9506000134376&427=BE",
        "/ARFKk4XBoEAclOKVJwuDoYl9SVYpUnC4OghiCEUqThcHQhOq-",
    ),
    (f"{_ARTICLE}/10/ABC1", f"{_ARTICLE}/EESrwQ"),
    (f"{_ARTICLE}/22/2A/10/A%2FB/21/%21x", f"{_ARTICLE}/EIOCvhEMEh8ESEVA"),
    (f"{_ARTICLE}/10/ABC1/21/98765?17=261231", f"{_ARTICLE}/EESrwRc_xvIQXA5o"),
    (f"{_ARTICLE}?17=261231&3103=000195&3922=0299", f"{_ARTICLE}/Fz_G8xAwAMM5IkBKw"),
]

PUBLISHED = [
    ("/01/05392000229648/10/LOT01/21/SERIAL01", "/AQnO2IRCICDKWcnpqQtCQiJABemo"),
    ("/01/09780345418913/21/43786", "/DBHKVAdpQgqrCg"),
    ("/01/09780345418913", "/ARHKVAdpQg"),
    ("/01/09421902960055/10/2010005828/21/xyz1234", "/AREjalurbiAUO-cgohCz45Z67b8A"),
    ("/01/05412345000013/10/ABC%26%2B123?7003=1903061658&k1=v1", "/AQnYUc1gmiERBhQ0ytiyZuAGOLc1TXgpNWCv1"),
    ("/01/05412345000013/22/AJY3095721P49/10/ABC123/21/72292641703", "/AQnYUc1gmiCNV4JGQhcNT6K6cibQCWN9Pee9tT-PQ"),
    ("/01/05412345000013/22/AJY3095721P49/21/72292641703", "/01/05412345000013/IQuGp9FdORNoBLG-nvPe2p_Ho"),
]

NGINX = Path(__file__).parents[4] / "nginx.conf"


def key(digits: str) -> str:
    """Return the bits of an application identifier."""
    return "".join(f"{int(digit, 16):04b}" for digit in digits)


def segment(bits: str) -> str:
    """Return bits as characters, the last one filled with zeros."""
    filled = bits + "0" * (-len(bits) % 24)
    read = base64.urlsafe_b64encode(int(filled, 2).to_bytes(len(filled) // 8)).decode()
    return read[: -(-len(bits) // 6)]


LINK = key("01") + f"{9506000134352:047b}"


def test_a_compressed_link_is_read_as_the_one_for_which_it_stands() -> None:
    for uncompressed, compressed in (*COMPRESSED_BY_GS1, *PUBLISHED):
        link, stood_for = read_path(compressed), urlsplit(uncompressed)
        assert read_path(compressed + "/") == link, uncompressed
        plain = read_path(stood_for.path)
        assert link is not None, uncompressed
        assert plain is not None, uncompressed
        assert (link.gtin, link.qualifiers, link.was_compressed) == (plain.gtin, plain.qualifiers, True), uncompressed
        assert sorted(link.query) == sorted(parse_qsl(stood_for.query)), uncompressed
        address = urlsplit(link.uncompressed_path)
        assert (address.path, sorted(parse_qsl(address.query))) == (
            stood_for.path,
            sorted(parse_qsl(stood_for.query)),
        ), uncompressed


def test_a_link_of_something_else_than_an_article_is_none_of_ours() -> None:
    """Published: a shipping container, a place, a service relation, a model; uncompressed they have no route either."""
    for compressed in ("/AN2yxDhfaiaw", "/QUSaVjC_dA", "/gBhbV6rzBENPmAGXPRfk", "/gBNw12345678901234MS"):
        assert decompress(compressed[1:]), compressed
        assert read_path(compressed) is None, compressed


def test_an_address_that_does_not_begin_with_a_gtin_is_no_link() -> None:
    for text in ("administrator", "dashboard1", "login-page", "wordpress-login", "0123456789", "a" * 1000):
        assert read_path(f"/{text}") is None, text


def test_no_location_of_nginx_keeps_a_compressed_link_from_its_route() -> None:
    """A location without a slash at its end is the prefix of longer segments too."""
    locations = re.findall(r"location /([a-z0-9]+)(?:/[^ ]*[^/ ])? {", NGINX.read_text())
    assert {"01", "v1", "dashboard"} <= set(locations)
    assert [first for first in locations if first_key(first) == "01"] == []


@pytest.mark.parametrize(
    ("bits", "detail"),
    [
        (LINK[:40], "ends within a value"),
        (LINK + "00001", "ends within a value"),  # not the zeros that fill the last character
        (key("01") + "1" * 47, "has a number with more digits than it says"),
        (LINK + LINK, "repeats an application identifier or a parameter"),
        (LINK + key("19"), "names an application identifier that the standard's compression does not know"),
        (LINK + key("310A"), "names an application identifier that the standard's compression does not know"),
        (LINK + key("3106"), "names an application identifier that the standard's compression does not know"),
        (LINK + key("10") + "101" + "00001" + "0000000", "has a value of an unknown encoding"),
        (
            LINK + key("10") + "010" + "10101" + "0000" * 21,
            "has a value that is longer than its application identifier allows",
        ),
        (LINK + key("91") + "100" + "0000001" + "0001010", "has a value with characters that cannot be shown"),
        (
            LINK + key("10") + "100" + "00000",
            "takes qualifiers of 1 to 20 letters, digits and signs of GS1's character set",
        ),
        (
            LINK + key("235") + "011" + "00001" + "000000",
            "takes the qualifiers 22, 10, 21 after a GTIN, in this order, each once",
        ),
    ],
)
def test_bits_that_do_not_decode_are_refused_with_their_reason(bits: str, detail: str) -> None:
    with pytest.raises(WrongIdentifier) as refused:
        read_path(f"/{segment(bits)}")
    assert refused.value.detail == detail


def test_a_wrong_check_digit_is_refused_with_the_one_that_was_expected() -> None:
    with pytest.raises(WrongIdentifier) as refused:
        read_path(f"/{segment(key('01') + f'{9506000134353:047b}')}")
    assert (refused.value.parameter, refused.value.expected) == ("gtin", "2")


def test_a_rest_that_names_a_gtin_again_is_refused() -> None:
    with pytest.raises(WrongIdentifier, match="has two GTINs"):
        read_path(f"{_ARTICLE}/{segment(LINK)}")


def test_a_last_byte_that_is_filled_with_zeros_is_read() -> None:
    """Some encoders fill bytes, not characters."""
    assert read_path(f"/{segment(LINK + '0' * (-len(LINK) % 8))}") == DigitalLink("09506000134352", was_compressed=True)


@given(some.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", min_size=1, max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    for one in (text, f"ARFKk4XBo{text}"):
        with contextlib.suppress(InvalidIdentifier):
            assert all(name.isprintable() and value.isprintable() for name, value in decompress(one).items())
