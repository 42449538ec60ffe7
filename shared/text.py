"""From text to words, the same at index and at query time: were they to differ, items would not be found."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

import tantivy

WORD_CHARACTERS_MAX = 40
STEMMING = "english"

# Chinese, Japanese and Korean, Thai, Lao, Burmese and Khmer: written without spaces or with few, and therefore cut into
# single characters and pairs instead of words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# The scripts behind Cyrillic, which have such signs and digits of their own.
_FURTHER_SCRIPTS = (*range(0x0483, 0x1D00), *range(0xA620, 0xAC00))
SIGNS = "".join(chr(code) for code in _FURTHER_SCRIPTS if unicodedata.category(chr(code)).startswith("M"))
"""Vowels and other signs that belong to the letter before them, in the scripts that are written with such."""
_LETTERS = rf"[^\W_{_UNSPACED}]"
_RUN = re.compile(f"[{_UNSPACED}]+|{_LETTERS}+(?:[{SIGNS}]+{_LETTERS}*)*")
WORD = re.compile(rf"(?:[^\W_]|[{SIGNS}])+")
"""A word of a name that stands alone, such as that of a column: in every script whole."""
_CHARACTER = re.compile(f"[^{SIGNS}][{SIGNS}]*")
# Points of Hebrew and Arabic, which are seldom written, and the line that only lengthens a word.
_POINTS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]+"
)
_DIGITS = {
    code: str(unicodedata.decimal(chr(code)))
    for code in (*_FURTHER_SCRIPTS, *range(0xFF10, 0xFF1A))
    if chr(code).isdecimal()
}
_FIGURE = str.maketrans("٫٬，．￥", ".,,.¥") | _DIGITS
# Letters of Arabic that are written one for the other, those of Persian that look like them, and each script's digits.
_ALIKE = str.maketrans("ىیئؤةکأإآٱ", "يييوهكاااا") | _DIGITS
_POINTED_OR_ALIKE = re.compile("[\u0591-\uabff]")
# Of ASCII text: lower case, and a space for whatever separates words, which apostrophes do not.
_ASCII_WORDS = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(256)).encode("latin-1")
_ASCII_APOSTROPHES = b"'`"
_ASCII_DIGITS = frozenset("0123456789")
_FIRST_UNSPACED = "\u0e00"
_STARTS_UNSPACED = re.compile(f"[{_UNSPACED}]")
ACCENT = re.compile("[\u0300-\u036f]+")
"""Only these marks are accents; the sound marks of kana and the vowels of other scripts distinguish words and stay."""
# They say how a word may be broken or how its letters join; people write the same word with and without them. The
# non-joiner, which in Persian stands between the parts of a word, separates them.
_INVISIBLE = re.compile("[\u00ad\u200d\u2060\ufeff]")
_APOSTROPHE = re.compile("['’ʼ＇`´]")
# Letters that Unicode does not decompose, as people without that key type them.
_PLAIN = str.maketrans(
    {
        "ø": "o",
        "Ø": "o",
        "ł": "l",
        "Ł": "l",
        "đ": "d",
        "Đ": "d",
        "ð": "d",
        "Ð": "d",
        "ı": "i",
        "æ": "ae",
        "Æ": "ae",
        "œ": "oe",
        "Œ": "oe",
        "þ": "th",
        "Þ": "th",
    }
)


def fold(text: str) -> str:
    """Return the text without case, accents, compatibility forms and apostrophes."""
    text = _APOSTROPHE.sub("", text)
    if text.isascii():
        return text.lower()
    flat = unicodedata.normalize("NFKD", text.translate(_PLAIN)).casefold()
    return unicodedata.normalize("NFC", ACCENT.sub("", flat))


def in_ascii(figure: str) -> str:
    """Return a figure with the digits of ASCII in place of those of its script, and of the marks between them."""
    return figure if figure.isascii() else figure.translate(_FIGURE)


def without_points(text: str) -> str:
    """Return a text without the points of Hebrew and Arabic, its letters and digits as they are written most often."""
    return _POINTS.sub("", text).translate(_ALIKE) if _POINTED_OR_ALIKE.search(text) else text


def indexed_words(text: str) -> list[str]:
    """Return every word of a text under which it can be found; without spaces, each character and each pair."""
    if text.isascii():  # as most are, and then no expression is needed
        runs = text.encode().translate(_ASCII_WORDS, _ASCII_APOSTROPHES).decode().split()
        return runs if len(text) <= WORD_CHARACTERS_MAX else [run[:WORD_CHARACTERS_MAX] for run in runs]
    words: list[str] = []
    for run in _runs(text):
        if is_unspaced(run):
            characters = _CHARACTER.findall(run)
            words.extend(characters)
            words.extend(_pairs(characters))
        else:
            words.append(run[:WORD_CHARACTERS_MAX])
    return words


def query_words(text: str) -> list[str]:
    """Return the words that a query asks for, each once; without spaces the pairs, or a single character."""
    if text.isascii():
        return list(dict.fromkeys(indexed_words(text)))
    words: list[str] = []
    for run in _runs(text):
        if is_unspaced(run):
            characters = _CHARACTER.findall(run)
            words.extend(_pairs(characters) or characters)
        else:
            words.append(run[:WORD_CHARACTERS_MAX])
    return list(dict.fromkeys(words))


def is_unspaced(word: str) -> bool:
    """Return whether a word was cut from a script that is written without spaces."""
    return word >= _FIRST_UNSPACED and _STARTS_UNSPACED.match(word) is not None


def analyzer() -> tantivy.TextAnalyzer:
    """Make the analyzer of stemmed fields: text that is already words, separated by spaces."""
    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return words.filter(tantivy.Filter.stemmer(STEMMING)).build()


def stems(words: list[str]) -> list[str]:
    """Return the stem of each word, as the stemmed fields hold it."""
    return list(map(stem, words))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of a word, as the stemmed fields hold it."""
    # The stemmer removes endings of letters alone: models, of which each name has its own, need not be asked for.
    return word if word[-1:] in _ASCII_DIGITS else _stemmer().analyze(word)[0]


@lru_cache(maxsize=1)
def _stemmer() -> tantivy.TextAnalyzer:
    return analyzer()


def _runs(text: str) -> list[str]:
    return _RUN.findall(without_points(fold(_INVISIBLE.sub("", text))))


def _pairs(characters: list[str]) -> list[str]:
    return ["".join(pair) for pair in pairwise(characters)]
