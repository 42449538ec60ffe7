"""GTINs in all their forms: read, checked, and written as the one number of 14 digits."""

import re

from shared.errors import InvalidIdentifier

_LENGTHS = (8, 12, 13, 14)
# Printed numbers are grouped, also by the hyphens and spaces of typesetters; a sign before one makes it another text.
_GROUPED = re.compile("[0-9Xx]+(?:[ \u00a0\u2010-\u2013-][0-9Xx]+)*")
_SEPARATORS = re.compile("[ \u00a0\u2010-\u2013-]")
# Marks of direction and the like come along where a number is copied from a page.
_INVISIBLE = "\u200b\u200e\u200f\u2060\ufeff"
_FLOAT = re.compile(r"[0-9]+\.0+", re.ASCII)
# What Excel shows, and writes, of a number of twelve digits or more.
_SHORTENED = re.compile(r"[0-9](?:[.,][0-9]+)?E\+?[0-9]{1,2}", re.ASCII | re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+", re.ASCII)
_ISBN_10 = re.compile(r"[0-9]{9}[0-9Xx]", re.ASCII)
_ISBN_PREFIXES = ("978", "979")
# Of GTIN-13: 02 and 20-29 are given out within a region, 04 within a company, 05 and 98-99 are coupons and refunds.
_RESTRICTED_13 = re.compile(r"02|04|05|2|98|99", re.ASCII)
# Of GTIN-8: 0 and 2 are given out within a company.
_RESTRICTED_8 = re.compile(r"[02]", re.ASCII)


def gtin14(text: str) -> str:
    """Return a GTIN of 8, 12, 13 or 14 digits as 14 digits; spaces and hyphens are ignored.

    Raises InvalidIdentifier, which names the check digit that was expected, or what was probably meant.
    """
    digits = _plain(text)
    if is_shortened(digits):
        raise InvalidIdentifier("was cut to a few digits by a spreadsheet such as Excel: export its column as text")
    if not _DIGITS.fullmatch(digits):
        raise InvalidIdentifier("must have digits only", suggestion=_suggestion(text))
    if len(digits) not in _LENGTHS:
        raise InvalidIdentifier("must have 8, 12, 13 or 14 digits", suggestion=_suggestion(digits))
    if not digits.strip("0"):
        raise InvalidIdentifier("has only zeros, which were never given to an article")
    expected = check_digit(digits[:-1])
    if digits[-1] != expected:
        raise _wrong_check_digit(expected, suggestion=_upc_a(digits))
    return digits.zfill(14)


def gtin_of_upc(text: str) -> str:
    """Return a UPC-A (12 digits), or a UPC-E with number system and check digit (8 digits), as 14 digits.

    Raises InvalidIdentifier, as `gtin14` does.
    """
    digits = _plain(text)
    if len(digits) == 8 and _DIGITS.fullmatch(digits):
        return gtin14(expand_upc(digits))
    return gtin14(text)


def expand_upc(digits: str) -> str:
    """Return the UPC-A of twelve digits that a UPC-E of eight abbreviates; its check digit is not looked at."""
    system, body, check = digits[0], digits[1:7], digits[7]
    if system not in "01":
        raise InvalidIdentifier("is no UPC-E: it must begin with 0 or 1")
    last = body[5]
    if last in "012":
        whole = f"{body[:2]}{last}0000{body[2:5]}"
    elif last == "3":
        whole = f"{body[:3]}00000{body[3:5]}"
    elif last == "4":
        whole = f"{body[:4]}00000{body[4]}"
    else:
        whole = f"{body[:5]}0000{last}"
    return system + whole + check


def gtin_of_isbn(text: str) -> str:
    """Return an ISBN of 10 or 13 digits as a GTIN of 14. Raises InvalidIdentifier, as `gtin14` does."""
    digits = _plain(text)
    if _ISBN_10.fullmatch(digits):
        expected = isbn_check_digit(digits[:9])
        if digits[9].upper() != expected:
            raise _wrong_check_digit(expected)
        body = f"978{digits[:9]}"
        return f"0{body}{check_digit(body)}"
    if not _DIGITS.fullmatch(digits) or len(digits) not in (13, 14):
        raise InvalidIdentifier("must have 10 or 13 digits; the tenth of 10 may be X")
    gtin = gtin14(digits)
    if gtin[0] != "0" or not gtin.startswith(_ISBN_PREFIXES, 1):
        raise InvalidIdentifier("of 13 digits must begin with 978 or 979")
    return gtin


def check_digit(body: str) -> str:
    """Return the check digit that ends a GTIN which begins with these digits."""
    total = 3 * sum(map(int, body[::-2])) + sum(map(int, body[-2::-2]))
    return str(-total % 10)


def isbn_check_digit(body: str) -> str:
    """Return the check digit, or X, that ends an ISBN-10 which begins with these nine digits."""
    remainder = -sum(int(digit) * weight for digit, weight in zip(body, range(10, 1, -1), strict=True)) % 11
    return "X" if remainder == 10 else str(remainder)


def is_restricted(gtin: str) -> bool:
    """Return whether a GTIN of 14 digits is of a restricted range, so that it says nothing outside of its source.

    The packing indicator before the prefix makes no difference: a case of a shop's own article is the shop's own too.
    """
    if gtin.startswith("00000", 1):
        return _RESTRICTED_8.match(gtin, 6) is not None
    return _RESTRICTED_13.match(gtin, 1) is not None


def is_shortened(text: str) -> bool:
    """Return whether a text is a number as a spreadsheet shows it: without most of its digits."""
    return _SHORTENED.fullmatch(text) is not None


def _plain(text: str) -> str:
    stripped = text.strip().strip(_INVISIBLE).strip()
    return _SEPARATORS.sub("", stripped) if _GROUPED.fullmatch(stripped) else stripped


def _wrong_check_digit(expected: str, *, suggestion: str | None = None) -> InvalidIdentifier:
    detail = f"has a wrong check digit; the correct one is {expected}"
    return InvalidIdentifier(detail, expected=expected, suggestion=suggestion)


def _upc_a(digits: str) -> str | None:
    """Return the UPC-A for which eight digits stand if their symbol is a UPC-E; None where they cannot be one."""
    if len(digits) != 8 or digits[0] not in "01":
        return None
    whole = expand_upc(digits)
    return whole if check_digit(whole[:-1]) == whole[-1] else None


def _suggestion(text: str) -> str | None:
    """Return the GTIN that a spreadsheet probably made this text of: a number with `.0`, or without its first zeros."""
    digits = text.split(".")[0] if _FLOAT.fullmatch(text.strip()) else text
    if len(digits) > _LENGTHS[-1] or not _DIGITS.fullmatch(digits) or not digits.strip("0"):
        return None
    length = next(length for length in _LENGTHS if length >= len(digits))
    padded = digits.zfill(length)
    return padded if check_digit(padded[:-1]) == padded[-1] else None
