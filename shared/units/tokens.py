"""A text as tokens: numbers, words and signs, in one spelling. Pure."""

import re
import unicodedata
from fractions import Fraction
from typing import NamedTuple

NUMBER, WORD, SIGN = "number", "word", "sign"
TEXT_CHARACTERS_MAX = 4_000
"""Longer texts are cut here: no name is as long, and reading must stay cheap."""

_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff"
_KANA = "\u3040-\u30ff"
_TOKEN = re.compile(
    r"(?P<number>"
    r"[1-9]\d{0,2}(?:[\u00a0\u2009\u202f']\d{3})+(?!\d)(?:[.,]\d{1,3}(?!\d))?"  # 10 000 (not for breaking), 1'000
    r"|[1-9]\d{0,2}(?:\.\d{3})+,\d{1,3}(?!\d)"  # 1.234,5
    r"|[1-9]\d{0,2}(?:,\d{3})+(?![\d,])(?:\.\d+)?"  # 1,234.5
    r"|[1-9]\d{0,2}(?:\.\d{3}){2,}(?![\d.])"  # 1.000.000
    r"|\d+[.,]\d+"
    r"|(?<![\w.])\.\d+"
    r"|\d+)"
    rf"|(?P<word>(?<=\d)(?:mm|cm|m|in|ft|g|kg|ml|cl|l|oz)(?=x\d)|[{_IDEOGRAPHS}]|[{_KANA}]+"
    rf"|[^\W\d_{_IDEOGRAPHS}{_KANA}]+)"
    r"|(?P<sign>[^\s\w]|_)",
    re.IGNORECASE,
)
_VULGAR = re.compile(r"([¼-¾⅐-⅞])(\d?)")
# Case alone tells 6 Gb/s of a bus from 6 GB/s.
_BITS_PER_SECOND = re.compile(r"(?<=[MG])b(?=/s)")
_SAME = str.maketrans(
    {
        **dict.fromkeys("×✕✖⨯х", "x"),
        **dict.fromkeys("’‘ʼ′´`＇", "'"),
        **dict.fromkeys("”“„″＂", '"'),
        **dict.fromkeys("‐‑‒–—−﹣－", "-"),
        **dict.fromkeys("⋅•∙・", "·"),
        **dict.fromkeys("µμ", "u"),
        **dict.fromkeys("ΩΩ", "ohm"),
        "⁄": "/",
        "º": "°",
        "˚": "°",
    }
)


_UNSPACED = re.compile(f"[{_IDEOGRAPHS}{_KANA}]")


class Token(NamedTuple):
    """A run of one kind with its position in the plain text; `spaced` where white space precedes it."""

    text: str
    start: int
    end: int
    kind: str
    spaced: bool


def unspaced(token: Token | None) -> bool:
    """Return whether a token is of Chinese or Japanese, whose names have no spaces beside a size."""
    return token is not None and _UNSPACED.match(token.text) is not None


def plain(text: str) -> str:
    """Return a text with one spelling for multiplication signs, quotes, dashes, fractions and full-width forms."""
    text = _BITS_PER_SECOND.sub("bit", text[:TEXT_CHARACTERS_MAX])
    if text.isascii():
        return text.replace("''", '"')
    text = _VULGAR.sub(lambda match: f" {unicodedata.normalize('NFKC', match[1])} {match[2]}".rstrip(), text)
    # Compatibility forms lose these spaces' meaning, which is to group thousands.
    kept = re.sub("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))", "\u0000", text.translate(_SAME))
    flat = unicodedata.normalize("NFKC", kept).translate(_SAME)
    return flat.replace("\u0000", "\u00a0").replace("''", '"')


def tokens(text: str) -> list[Token]:
    """Return the tokens of a plain text."""
    tokens: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or SIGN
        shown = match[0] if kind == NUMBER else match[0].lower()
        tokens.append(Token(shown, match.start(), match.end(), kind, match.start() > end or not tokens))
        end = match.end()
    return tokens


def value_of(number: str) -> Fraction:
    """Return the value of a number token: a comma before three digits groups thousands, else it is the decimal sign."""
    if number.isdecimal():
        return Fraction(int(number))
    digits = re.sub(r"[\u00a0\u2009\u202f']", "", number)
    if "," in digits and "." in digits:
        group, decimal = (",", ".") if digits.rindex(".") > digits.rindex(",") else (".", ",")
        digits = digits.replace(group, "").replace(decimal, ".")
    elif re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+", digits):
        digits = digits.replace(",", "")
    elif digits.count(".") > 1:
        digits = digits.replace(".", "")
    return Fraction(digits.replace(",", "."))
