"""Amounts that a text states: pack counts and measures with units, in base units, and colours."""

import re
from dataclasses import dataclass

from shared.units.reader import value_of
from workers.articles.matching.text import UNSPACED

_UNITS: dict[str, tuple[str, float]] = {
    "kg": ("g", 1000.0), "g": ("g", 1.0), "gr": ("g", 1.0), "gram": ("g", 1.0), "grams": ("g", 1.0), "mg": ("g", 0.001),
    "lb": ("g", 453.59237), "lbs": ("g", 453.59237), "pound": ("g", 453.59237), "pounds": ("g", 453.59237),
    "oz": ("g", 28.349523125), "ounce": ("g", 28.349523125), "ounces": ("g", 28.349523125),
    "l": ("ml", 1000.0), "lt": ("ml", 1000.0), "liter": ("ml", 1000.0), "litre": ("ml", 1000.0),
    "liters": ("ml", 1000.0), "litres": ("ml", 1000.0), "cl": ("ml", 10.0), "dl": ("ml", 100.0), "ml": ("ml", 1.0),
    "floz": ("ml", 29.5735295625), "gal": ("ml", 3785.411784), "gallon": ("ml", 3785.411784),
    "mm": ("mm", 1.0), "cm": ("mm", 10.0), "m": ("mm", 1000.0), "meter": ("mm", 1000.0), "meters": ("mm", 1000.0),
    "in": ("mm", 25.4), "inch": ("mm", 25.4), "inches": ("mm", 25.4), "ft": ("mm", 304.8), "feet": ("mm", 304.8),
    "foot": ("mm", 304.8), '"': ("mm", 25.4), "''": ("mm", 25.4),
    "kb": ("mb", 1 / 1024), "mb": ("mb", 1.0), "gb": ("mb", 1024.0), "tb": ("mb", 1048576.0),
    "mhz": ("mhz", 1.0), "ghz": ("mhz", 1000.0), "w": ("w", 1.0), "watt": ("w", 1.0), "watts": ("w", 1.0),
    "kw": ("w", 1000.0), "v": ("v", 1.0), "volt": ("v", 1.0), "volts": ("v", 1.0), "mah": ("mah", 1.0),
    "mp": ("mp", 1.0), "megapixel": ("mp", 1.0), "megapixels": ("mp", 1.0), "port": ("port", 1.0),
    "ports": ("port", 1.0), "user": ("user", 1.0), "users": ("user", 1.0), "sheet": ("sheet", 1.0),
    "sheets": ("sheet", 1.0), "blatt": ("sheet", 1.0), "page": ("page", 1.0), "pages": ("page", 1.0),
    "btu": ("btu", 1.0),
}  # fmt: skip
# A size in a Chinese or Japanese name has no blanks beside it: `洗发水500ml装`.
_BEGINS = rf"(?<![^\W{UNSPACED}])(?<!\.)(?<!\d,(?=\d{{3}}))(?<!\d (?=000))"
_ENDS = rf"(?![^\W{UNSPACED}])"
# 1,234.5, 1.000.000, 1.234,5 and 1 000.
_GROUPED = r"[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d{1,4})?|(?:\.\d{3}){2,}|(?:\.\d{3})+,\d{1,3}|(?: 000)+)"
_NUMBER = rf"((?:{_GROUPED}|\d{{1,9}}(?:[.,]\d{{1,4}})?)(?!\d))"
# Not of `1.250 ct`: carats have thousandths.
_COUNT = r"([1-9]\d{0,2}(?:,\d{3}|\.\d\d0(?!\s*-?\s*ct))|\d{1,4})"
# Three digits that end in 0 behind a point are thousands of these: no name states a thousandth of them.
_WHOLE = frozenset(
    "g gr gram grams ml w watt watts mah btu user users sheet sheets blatt page pages port ports".split()
)
_THOUSANDS_BY_POINT = re.compile(r"[1-9]\d{0,2}\.\d\d0")
_IN_THOUSANDTHS = frozenset("kg l lt liter litre liters litres".split())
# Letters of other spellings that a pattern without case takes for those of a unit, as in the Turkish `LİTRE`.
_PLAIN = str.maketrans("İıſ", "iis")
_NAMES = "|".join(sorted((re.escape(name) for name in _UNITS), key=len, reverse=True))
# A network (`5G`) or a memory (`128G`), and the brand 3M where it begins a name or stands before Chinese characters.
_NO_MEASURE = rf"(?:[2-6]|8|16|32|64|128|256|512)G{_ENDS}|\A3M{_ENDS}|3M(?=[{UNSPACED}])"
_UNIT = rf"fl\.?\s?oz|{_NAMES}"
_MEASURE = re.compile(rf"{_BEGINS}(?!(?-i:{_NO_MEASURE})){_NUMBER}\s*-?\s*({_UNIT}){_ENDS}", re.IGNORECASE)
_PACKED = "packs?|pk|pcs?|pieces?|counts?|ct|rolls?|sachets?|bottles?|cans?|tablets?|bags?|stück|stk"
_PACK = re.compile(
    rf"{_BEGINS}(\d{{1,4}})\s*-?\s*(?:x|×)\s*(?=\d)"
    rf"|{_BEGINS}{_COUNT}\s*-?\s*(?:{_PACKED}){_ENDS}"
    rf"|\b(?:pack|set|box|case)\s+of\s+{_COUNT}{_ENDS}"
    rf"|(?<![^\W{UNSPACED}])(?<!\d\s)x\s?(\d{{1,3}}){_ENDS}(?![.,]\d)(?!\s*-?\s*(?:{_UNIT}){_ENDS})",
    re.IGNORECASE,
)
COLOURS = frozenset(
    "black white silver grey gray red blue green yellow pink purple orange brown gold beige navy violet teal ivory "
    "champagne bronze turquoise burgundy charcoal platinum copper".split()
)
_WORDS = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class Amounts:
    """What a text says of amounts: `measures` maps a base unit to its values; `packs` and `colours` may be empty."""

    measures: dict[str, frozenset[float]]
    packs: frozenset[int]
    colours: frozenset[str]


def amounts(text: str) -> Amounts:
    """Read every pack count, measure and colour that a text states; a count of one is not stated.

    Case tells `5G` and `3M` from 5 g and 3 m, so the text must have that of its seller.
    """
    measures: dict[str, set[float]] = {}
    for number, written in _MEASURE.findall(text):
        unit = written.translate(_PLAIN).lower()
        base, factor = _UNITS["floz" if unit.startswith("fl") else unit]
        measures.setdefault(base, set()).update(round(value * factor, 4) for value in _values(number, unit))
    packs = {int(re.sub(r"\D", "", next(filter(None, groups)))) for groups in _PACK.findall(text)}
    words = {"grey" if word == "gray" else word for word in _WORDS.findall(text.lower())}
    return Amounts(
        {base: frozenset(values) for base, values in measures.items()},
        frozenset(pack for pack in packs if pack > 1),
        frozenset(words & COLOURS),
    )


def _values(number: str, unit: str) -> set[float]:
    """Return the values that a number may mean; `1,250` of a unit whose thousandths are stated is one of two."""
    decimal = float(number.replace(",", ".")) if number.count(",") + number.count(".") == 1 else None
    if re.fullmatch(_GROUPED, number):
        values = {float(value_of(number.replace(" ", "")))}
        return values | {decimal} if decimal is not None and unit in _IN_THOUSANDTHS else values
    if decimal is None:
        return {float(number)}
    return {1000 * decimal if unit in _WHOLE and _THOUSANDS_BY_POINT.fullmatch(number) else decimal}


def contradictions(left: Amounts, right: Amounts) -> list[str]:
    """Name what both texts state differently: `pack`, `colour` or a base unit. Measures differ from 3 % on."""
    contradictory = []
    if left.packs != right.packs and left.packs and right.packs and not left.packs & right.packs:
        contradictory.append("pack")
    for unit in sorted(left.measures.keys() & right.measures.keys()):
        if not any(_close(one, other) for one in left.measures[unit] for other in right.measures[unit]):
            contradictory.append(unit)
    if left.colours and right.colours and not left.colours & right.colours:
        contradictory.append("colour")
    return contradictory


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= 0.03 * max(one, other)
