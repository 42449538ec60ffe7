"""Words, model numbers and numbers as matching sees them."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

_CANONICAL = {
    "inch": "in", "inches": "in", "feet": "ft", "foot": "ft", "watts": "w", "watt": "w", "volt": "v", "volts": "v",
    "pack": "pk", "count": "ct", "lbs": "lb", "megapixel": "mp", "megapixels": "mp", "users": "user",
    "sheets": "sheet", "pages": "page", "ports": "port", "liter": "l", "litre": "l", "grams": "g", "gr": "g",
}  # fmt: skip
_UNITS = (
    "gb|mb|tb|kb|ghz|mhz|mm|cm|in|inch|inches|ft|feet|foot|w|watts?|v|volts?|mah|btu|pk|pack|ct|count|kg|lbs?|oz|ml|"
    "cl|l|liter|litre|g|gr|grams|mp|megapixels?|ports?|users?|x|hz|rpm|sheets?|pages?|tab|dpi"
)
_BLANK_BEFORE_POINT = re.compile(r"\s+\.(?=\d)")
_INCH_SIGN = re.compile(r"(\d)\s*-?\s*(?:''|\"|')(?=\W|$)")
_MEASURE = re.compile(rf"(?<![\w.])(\d+(?:\.\d+)?)[\s-]*({_UNITS})(?!\w)")
_WORD = re.compile(r"[^\W_]+(?:\.\d+)?")
_CODE = re.compile(r"[^\W_]+(?:[.\-/][^\W_]+)*")
_NO_CODE = re.compile(rf"\d+(?:{_UNITS}|x\d+|k|p|th|fps|cc)")
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
UNSPACED = "\u3040-\u30ff\u3400-\u9fff"
"""Chinese and Japanese characters, as a range of a pattern: no blanks separate them from neighbouring words."""
_UNSPACED = re.compile(f"[{UNSPACED}]+")
_SQUASH = re.compile(r"[^a-z0-9]+")


def normalize(text: str) -> str:
    """Bring a text into compatibility form and small letters, with each number joined to its unit: `8 GB` to `8gb`."""
    lower = compose(text).lower()
    return _MEASURE.sub(_join, lower) if _DIGITS.search(lower) else lower


def compose(text: str) -> str:
    """Bring a text into compatibility form, with inches written out and no blank before a point; case is kept."""
    if not text:
        return ""
    # A look for a sign costs a tenth of a pattern that needs it.
    text = unicodedata.normalize("NFKC", text)
    if "." in text:
        text = _BLANK_BEFORE_POINT.sub(".", text)
    return _INCH_SIGN.sub(r"\1 in ", text) if "'" in text or '"' in text else text


def words(normalized: str) -> list[str]:
    """Return the words of a normalized text, without a plural's `s`; of scripts without blanks each two characters."""
    if normalized.isascii():
        return [_stem(word) for word in _WORD.findall(normalized)]
    stems = [_stem(word) for word in _WORD.findall(_UNSPACED.sub(" ", normalized))]
    runs = _UNSPACED.findall(normalized)
    return stems + [run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))]


def trigrams(normalized: str) -> frozenset[tuple[str, str, str]]:
    """Return every three neighbouring letters and digits of a text, blanks and signs left out."""
    letters = "".join(_WORD.findall(normalized))
    return frozenset(zip(letters, letters[1:], letters[2:], strict=False))


def codes(normalized: str) -> list[str]:
    """Return what may be model numbers, squashed, each once: letters with digits from 4 marks on, digits from 5."""
    if not _DIGITS.search(normalized):
        return []
    squashed = [_code(word) for word in _CODE.findall(normalized) if not word.isalpha()]
    return list(dict.fromkeys(code for code in squashed if code))


def bigrams(squashed: str) -> frozenset[str]:
    """Return every two neighbouring letters and digits of a squashed text."""
    return frozenset(map("".join, pairwise(squashed)))


def digit_runs(codes_of_text: Iterable[str]) -> frozenset[str]:
    """Return the runs of digits in model numbers, from two digits on, without the zeros that a run begins with."""
    runs = (run.lstrip("0") for code in codes_of_text for run in _DIGITS.findall(code))
    return frozenset(run for run in runs if len(run) >= 2)


def numbers(normalized: str) -> frozenset[str]:
    """Return the numbers that a text contains, also those inside words."""
    return frozenset(_NUMBER.findall(normalized))


def squash(text: str) -> str:
    """Keep only small letters and digits: the form in which part numbers and brands are compared."""
    return _SQUASH.sub("", text.lower())


def _join(measure: re.Match[str]) -> str:
    unit = measure.group(2)
    return measure.group(1) + _CANONICAL.get(unit, unit)


@lru_cache(1 << 16)
def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") and word.isalpha() else word


@lru_cache(1 << 16)
def _code(word: str) -> str:
    squashed = squash(word)
    letters = any(mark.isalpha() for mark in squashed)
    if len(squashed) < (4 if letters else 5) or not any(mark.isdigit() for mark in squashed):
        return ""
    return "" if _NO_CODE.fullmatch(squashed) else squashed
