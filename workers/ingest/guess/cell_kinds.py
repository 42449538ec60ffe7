"""What cells are by how they are written: GTINs, addresses, amounts, flags. Pure."""

import re
from collections.abc import Callable

from shared.gtin import check_digit
from workers.ingest.column_names import name_score, role_names
from workers.ingest.sampling.sample import Sample

# Shares of the cells of a column that decide what it holds.
MOSTLY = 0.9
HALF = 0.5
# A point between two letters belongs to the mark of a currency, as in "ر.س".
FIGURE = re.compile(r"(?:[\d\s,'’`\u2013\u2014\u2212\u066b\u066c，．-]|/-|(?<![^\W\d_])\.|\.(?![^\W\d_]))+")
EXPONENT = re.compile(r"(?<=[0-9])[eE][+-]?[0-9]+\b")
_DOTTED = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}", re.ASCII)
_FLAGS = frozenset("true false yes no 0 1".split())
SHORT_FLAGS = frozenset("yn")
_SHORT_CHARACTERS_MAX = 80
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|svg|bmp|tiff?)(?:$|[?#&,; ])", re.IGNORECASE)


def is_gtin(text: str) -> bool:
    """Return whether a text has the length and the check digit of a GTIN (GS1 General Specifications, 7.9)."""
    return len(bare_digits(text)) in (8, 12, 13, 14) and fits_gtin(text)


def fits_gtin(text: str) -> bool:
    """Return whether a text is a GTIN by its check digit, also without the zeros that a program took from it."""
    digits = bare_digits(text)
    return 8 <= len(digits) <= 14 and bool(digits.strip("0")) and check_digit(digits[:-1]) == digits[-1]


def bare_digits(text: str) -> str:
    """Return the digits of a text that has nothing else but what programs put around them; an empty text otherwise."""
    found = re.fullmatch(r"'?([0-9]+)(?:\.0+)?", text, re.ASCII)
    return found[1] if found else ""


def is_isbn(text: str) -> bool:
    """Return whether a text has the form of an ISBN, of 13 digits or of ten with an X as the last one at most."""
    return bool(re.fullmatch(r"97[89][0-9]{10}|[0-9]{9}[0-9Xx]", text.replace("-", ""), re.ASCII))


def is_address(text: str) -> bool:
    """Return whether a text is a web address."""
    return bool(_ADDRESS.fullmatch(text))


def is_picture(text: str) -> bool:
    return bool(_PICTURE.search(text))


def is_json(text: str) -> bool:
    """Return whether a text is an object of JSON, or a list of objects or of lists."""
    return text.startswith(('{"', "[{", "[["))


def is_text(text: str) -> bool:
    """Return whether a text has letters, and is no web address."""
    return not is_address(text) and any(character.isalpha() for character in text)


def has_figure(text: str) -> bool:
    """Return whether a text is an amount with the marks of a currency or a unit at most."""
    rest = FIGURE.sub("", text)
    return any(character.isdigit() for character in text) and len(rest) <= 6


def share_of(cells: list[str], fits: Callable[[str], bool]) -> float:
    """Return the share of cells for which something holds."""
    return sum(map(fits, cells)) / len(cells) if cells else 0.0


def all_plain(cells: list[str]) -> bool:
    """Return whether cells, but for a total, are digits with separators and no days with points: amounts, or years."""
    plainly = [text for text in cells if re.fullmatch(r"[\d.,]+", text)]
    return len(plainly) >= MOSTLY * len(cells) and not all(map(_DOTTED.fullmatch, plainly))


def zeros(cells: list[str]) -> list[str]:
    """Return the texts of cells that are the amount zero, each once."""
    return sorted(set(filter(is_zero, cells)))


def is_zero(text: str) -> bool:
    """Return whether a text is the amount zero."""
    return re.fullmatch(r"[^1-9]*0[^1-9]*", text) is not None


def is_list(text: str) -> bool:
    """Return whether a text is a list of texts as JSON writes it."""
    return text.startswith('["') and text.endswith('"]')


def are_flags(cells: list[str], further: frozenset[str] = frozenset()) -> bool:
    return (_FLAGS | further).issuperset(map(str.casefold, cells))


def gtin_by_cells(sampled: Sample) -> str:
    """Return the first column whose cells are GTINs by their check digits; an empty text where there is none."""
    others = role_names()["no_gtin"]
    return next(
        (c for c in sampled.columns if not name_score(c, others) and are_gtins(sampled.values(c))),
        "",
    )


def are_numbers(cells: list[str]) -> bool:
    """Return whether cells are bare numbers, such as the ids of categories whose names stand elsewhere."""
    return bool(cells) and all(map(str.isdecimal, cells))


def are_gtins(cells: list[str]) -> bool:
    """Return whether the check digits alone say so: of other numbers one in ten would fit."""
    return len(cells) >= 3 and share_of(cells, lambda text: len(bare_digits(text)) >= 12 and is_gtin(text)) >= MOSTLY


def are_amounts(cells: list[str]) -> bool:
    """Return whether most cells are amounts, with the marks of a currency or a unit at most."""
    return share_of(cells, has_figure) >= HALF


def are_words(cells: list[str]) -> bool:
    """Return whether cells are neither addresses nor objects of JSON."""
    return share_of(cells, lambda text: is_address(text) or is_json(text)) < HALF


def are_short(cells: list[str]) -> bool:
    """Return whether cells are no longer than what tells variants apart."""
    return share_of(cells, lambda text: len(text) <= _SHORT_CHARACTERS_MAX) >= MOSTLY


def are_texts(cells: list[str]) -> bool:
    """Return whether most cells have letters, and are no addresses or flags."""
    return share_of(cells, is_text) >= HALF and not are_flags(cells, SHORT_FLAGS)
