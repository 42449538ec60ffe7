"""From text to words, the same at index and at query time: were they to differ, items would not be found."""

import re
import unicodedata
from functools import lru_cache

import tantivy

WORD_CHARACTERS_MAX = 40
PREFIX_CHARACTERS_MAX = 12
STEMMING = "english"

# Scripts written without spaces: cut into single characters and pairs instead of words.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
# Of ASCII text: lower case, and a space for whatever separates words, which apostrophes do not.
_ASCII_WORDS = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(256)).encode("latin-1")
_ASCII_APOSTROPHES = b"'`"
_FIRST_CJK = "\u3040"
_STARTS_CJK = re.compile(rf"[{_CJK}]")
# Only these marks are accents; the sound marks of kana distinguish words and stay.
_ACCENT = re.compile("[\u0300-\u036f]+")
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
    return unicodedata.normalize("NFC", _ACCENT.sub("", flat))


def indexed_words(text: str) -> list[str]:
    """Return every word of a text under which it can be found; of CJK, each character and each pair."""
    if text.isascii():  # as most are, and then no expression is needed
        runs = text.encode().translate(_ASCII_WORDS, _ASCII_APOSTROPHES).decode().split()
        return runs if len(text) <= WORD_CHARACTERS_MAX else [run[:WORD_CHARACTERS_MAX] for run in runs]
    words: list[str] = []
    for run in _RUN.findall(fold(text)):
        if is_cjk(run):
            words.extend(run)
            words.extend(_pairs(run))
        else:
            words.append(run[:WORD_CHARACTERS_MAX])
    return words


def query_words(text: str) -> list[str]:
    """Return the words that a query asks for, each once; of CJK the pairs, or a single character."""
    words: list[str] = []
    for run in _RUN.findall(fold(text)):
        if is_cjk(run):
            words.extend(_pairs(run) or [run])
        else:
            words.append(run[:WORD_CHARACTERS_MAX])
    return list(dict.fromkeys(words))


def is_cjk(word: str) -> bool:
    """Return whether a word was cut from a script that is written without spaces."""
    return word >= _FIRST_CJK and _STARTS_CJK.match(word) is not None


def analyzer() -> tantivy.TextAnalyzer:
    """Make the analyzer of stemmed fields: text that is already words, separated by spaces."""
    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return words.filter(tantivy.Filter.stemmer(STEMMING)).build()


def stems(words: list[str]) -> list[str]:
    """Return the stem of each word, as the stemmed fields hold it."""
    return list(map(stem, words))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    return _stemmer().analyze(word)[0]


@lru_cache(maxsize=1)
def _stemmer() -> tantivy.TextAnalyzer:
    return analyzer()


def _pairs(run: str) -> list[str]:
    return [run[position : position + 2] for position in range(len(run) - 1)]
