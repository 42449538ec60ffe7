"""The currencies that marks of prices, names of columns and words may mean. Pure."""

import re
from collections.abc import Iterable
from functools import cache

from shared.currencies import CODES, MARKS
from workers.ingest.column_names import plain, word_list
from workers.ingest.guess.cell_kinds import EXPONENT, FIGURE

# Bookkeeping writes a negative amount in brackets: "(12.50)".
_IN_BRACKETS = re.compile(r"\((.*)\)")
# What Japanese prices say of tax behind the currency.
_OF_TAX = re.compile(r"[(（]税[^)）]*[)）]")
COMMON = ("USD", "EUR", "GBP", "CNY", "JPY", "CAD", "AUD", "SEK", "NOK", "DKK", "INR")

# The places where a number format has a currency: [$€-407], "zł", and a sign alone.
_IN_FORMAT = re.compile(r'\[\$([^\]\-]*)(?:-([^\]]*))?\]|"([^"]*)"|([^\s#0,.;?_*()@%/\\-])')
# The dollars of the regions that a number format may name, by their number or their tag.
_DOLLARS = {"409": "USD", "1009": "CAD", "C09": "AUD", "1409": "NZD", "4809": "SGD", "80A": "MXN", "416": "BRL"}


def mark_of(text: str) -> str:
    """Return what a price states besides its figure: the mark of a currency."""
    text = _IN_BRACKETS.sub(r"\1", text) if _IN_BRACKETS.fullmatch(text) else text
    mark = FIGURE.sub("", EXPONENT.sub("", text)) if any(map(str.isdigit, text)) else ""
    return f"{mark}." if f"{mark}." in MARKS and f"{mark}." in text else mark


def meant_by(mark: str) -> frozenset[str]:
    """Return the currencies that a mark may mean; £ alone is pounds sterling, as $ alone is of no one country."""
    if mark == "£":
        return frozenset(("GBP",))
    return MARKS.get(_OF_TAX.sub("", mark)) or frozenset(code for word, code in _worded() if word == plain(mark))


def meant_together(marks: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the currencies that marks of one column may mean: where 円 stands in others, ¥ is yen too.

    Not so the dollar: where some prices state CA$, a plain $ is that of another country.
    """
    alone = {mark: meant_by(mark) for mark in marks}
    certain = frozenset().union(*(codes for codes in alone.values() if len(codes) == 1))
    return {
        mark: codes & certain if mark != "$" and len(codes & certain) == 1 else codes for mark, codes in alone.items()
    }


def commonest(currencies: Iterable[str]) -> list[str]:
    """Return currencies, the commonest first."""
    return sorted(currencies, key=lambda code: (COMMON.index(code) if code in COMMON else len(COMMON), code))


def currencies_named(column: str) -> set[str]:
    """Return the currencies that a column's name states, by a code or else by a sign of one alone."""
    codes = {word.upper() for word in re.findall(r"[A-Za-z]+", column) if _is_code(word, column)}
    signs = (
        code
        for sign, meant in MARKS.items()
        if len(meant) == 1 and not sign.isalnum() and sign in column
        for code in meant
    )
    worded = (code for word, code in _worded() if f" {word} " in f" {plain(column)} ")
    return codes or set(signs) or set(worded)


def is_called_by_currency(column: str) -> bool:
    """Return whether a column is called by a currency, and by what is said of tax at most, as `€ incl. VAT`."""
    said = (*word_list("said_of_tax"), *word_list("tax"))
    words = [word for word in plain(column).split() if word not in said]
    has_sign = any(sign in column for sign in MARKS if not any(map(str.isalnum, sign)))
    return has_sign if not words else len(words) == 1 and bool(currencies_named(column))


@cache
def _worded() -> tuple[tuple[str, str], ...]:
    """Return the words of currencies, each with its code."""
    pairs = (entry.split("=") for entry in word_list("currencies"))
    return tuple((plain(word), code) for word, code in pairs)


_DOLLARS |= {"EN-US": "USD", "EN-CA": "CAD", "EN-AU": "AUD", "EN-NZ": "NZD", "EN-SG": "SGD", "ES-MX": "MXN"}


def currencies_of_format(form: str) -> set[str]:
    """Return the currencies that a number format shows; OpenDocument has the code alone."""
    if form in CODES:
        return {form}
    found: set[str] = set()
    for mark, region, text, sign in _IN_FORMAT.findall(form.replace("\\", "")):
        shown = (mark or text or sign).strip()
        dollars = _DOLLARS.get(region.upper().lstrip("0")) if shown == "$" else None
        codes = frozenset((dollars,)) if dollars else meant_by(shown)
        found |= codes if len(codes) == 1 else set()
    return found


def _is_code(word: str, column: str) -> bool:
    """Return whether a word of a column's name is the code of a currency, and no other word, as `all` or `top` are."""
    written_as_code = word.isupper() and not column.isupper()
    return word.upper() in CODES and (written_as_code or word.upper() in COMMON)


def may_be(currencies: Iterable[str]) -> str:
    """Say which currencies a sign may mean, the commonest first."""
    ordered = commonest(currencies)
    if not ordered:
        return "is no currency that is known"
    return f"may be {', '.join(ordered[:4])}{' or another' if len(ordered) > 4 else ''}"
