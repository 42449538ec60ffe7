"""The encoding of a text that does not state it, and the second one that may be meant. Pure.

The bytes alone reveal no encoding, but the letters do that they would be: each language has its own few beyond ASCII.
"""

import codecs
import re
from collections.abc import Callable
from typing import NamedTuple

import charset_normalizer

from shared.printable import many
from workers.ingest.files.text_stream import ByteStream

_JUDGED_BYTES = 1 << 16
_READ_BYTES = 1 << 20
# A text that is not UTF-8 is read line by line, as far as this.
_LINES_BYTES_MAX = 1 << 26
# With fewer broken ones of all lines beyond ASCII a text is UTF-8.
_BROKEN_MAX = 0.1
_WORDS_SHOWN = 60
# A reading that is this much less likely is not worth a person's look.
_AS_LIKELY = 0.1
_UNLISTED_CHAOS = 0.3
# No word has a capital behind a small letter; a wrong reading of Cyrillic does.
_CASE_BREAK = re.compile("[a-zß-öø-ÿа-џα-ω](?=[À-ÖØ-ÞЀ-ЯΑ-Ω])")
# Nor has it letters of two alphabets, a Greek word that begins in a way no word does or has no accent, a Thai vowel
# sign without its consonant, an ordinal mark before a letter, or three Cyrillic consonants as a word.
_OF_NO_LANGUAGE = re.compile(
    "[A-Za-z][Ͱ-\u0eff]|[Ͱ-\u0eff][A-Za-z]|(?<![Ͱ-Ͽ])(?:[ΰΐς]|[α-ω]{4,}(?![Ͱ-Ͽ]))|"
    "(?<![ก-ฮ\u0e31-\u0e4e])[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]|[ªº](?=[^\\W\\d])|"
    "(?<![Ѐ-ӿ])[бвгджзйклмнпрстфхцчшщ]{3,}(?![Ѐ-ӿ])",
    re.IGNORECASE,
)
_NO_LETTERS = frozenset("’‘–—„“”«»€£¥…·•°®™×²³½¼\u00a0")
_WESTERN = (
    "äöüß",
    "àâæçéèêëîïôœùûüÿ",
    "áéíñóúü¿¡ºª",
    "àèéìíòóùú",
    "áéëïíóöü",
    "àáâãçéêíóôõúºª",
    "æøåéäö",
    "áéíóöúýþæð",
)
_CENTRAL = (
    "ąćęłńóśźż",
    "áčďéěíňóřšťúůýž",
    "áäčďéíĺľňóôŕšťúýž",
    "áéíóöőúüű",
    "ăâîşţ",
    "čćđšž",
)
_CYRILLIC = (
    "абвгдежзийклмнопрстуфхцчшщъыьэюяё№",
    "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя№",
    "абвгдђежзијклљмнњопрстћуфхцчџш",
)
_GREEK = ("αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ",)
_HEBREW = ("".join(map(chr, range(0x5D0, 0x5EB))),)
_ARABIC = ("ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيًٌٍَُِّْپچژگ،؛؟ـ",)
_THAI = ("".join(map(chr, range(0xE01, 0xE5C))),)
# The letters of languages, in lower case, by the encodings in which their files are.
_ALPHABETS: dict[str, tuple[str, ...]] = {
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "iso8859_2": _CENTRAL,
    "cp1254": ("çğıöşüâîûi̇",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"),
    "cp1251": _CYRILLIC,
    "koi8_r": _CYRILLIC,
    "cp866": _CYRILLIC,
    "iso8859_5": _CYRILLIC,
    "cp1253": _GREEK,
    "cp1255": _HEBREW,
    "cp1256": _ARABIC,
    "cp874": _THAI,
}
# Encodings of two bytes a character: what most of a text is made of, by the bytes with which those characters begin in
# the national standards (the first level of GB 2312, of Big5 and of JIS X 0208; the syllables of KS X 1001).
_COMMON: dict[str, tuple[str, tuple[int, int]]] = {
    "gb18030": ("gb2312", (0xB0, 0xD7)),
    "big5": ("big5", (0xA4, 0xC6)),
    "cp932": ("euc_jp", (0xB0, 0xCF)),
    "euc_jp": ("euc_jp", (0xB0, 0xCF)),
    "cp949": ("euc_kr", (0xB0, 0xC8)),
}
_KANA = re.compile("[\u3040-\u30ff]")
_EAST_ASIAN_MARKS = frozenset("、。「」・【】（），：；！？％＋－～　￥")
_CANDIDATES = (*_ALPHABETS, *_COMMON)


class Encoding(NamedTuple):
    """An encoding, and what a person should know of it; an empty text where nothing is in doubt."""

    name: str
    doubt: str = ""


def encoding_of(beginning: bytes, stream: Callable[[], ByteStream]) -> Encoding:
    """Return the encoding of a text without a byte order mark; `stream` begins it anew. All of its bytes decide."""
    for place, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        if beginning[place::2].count(0) > len(beginning) / 4:  # most of a table is ASCII, whose other byte is zero
            return Encoding(name, f"the text has no byte order mark, and seems to be {name}: is it?")
    if _is_utf8(stream()):
        return Encoding("utf-8")
    good, broken, lines = _beyond_ascii(stream())
    if good and broken < _BROKEN_MAX * (good + broken):
        shown = " ".join(lines[0].decode("utf-8", "replace").split())[:80]
        sentence = f'{many(broken, "line")} of the text {"is" if broken == 1 else "are"} not UTF-8, such as "{shown}"'
        return Encoding("utf-8", f"{sentence}: a row with such a cell in a column of the mapping is rejected")
    return _most_likely(b"\n".join(lines))


def _is_utf8(stream: ByteStream) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while chunk := stream.read(_READ_BYTES):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _beyond_ascii(stream: ByteStream) -> tuple[int, int, list[bytes]]:
    """Return how many lines beyond ASCII are UTF-8, how many are not, and the first of the latter."""
    good = broken = size = read = 0
    lines: list[bytes] = []
    rest = b""
    while read < _LINES_BYTES_MAX and (chunk := stream.read(_READ_BYTES)):
        read += len(chunk)
        *whole, rest = (rest + chunk).replace(b"\r", b"\n").split(b"\n")
        for line in whole if len(rest) < _READ_BYTES else [*whole, rest]:
            if line.isascii():
                continue
            try:
                line.decode()
                good += 1
            except UnicodeDecodeError:
                broken += 1
                if size < _JUDGED_BYTES:
                    lines.append(line[:_JUDGED_BYTES])
                    size += len(lines[-1])
        rest = rest if len(rest) < _READ_BYTES else b""
    if not rest.isascii():
        broken += 1
        lines.append(rest)
    return good, broken, lines


def _most_likely(raw: bytes) -> Encoding:
    """Return the most likely encoding of lines that are not UTF-8, and what they are in it and in the next likely."""
    found = charset_normalizer.from_bytes(raw, cp_isolation=[*_CANDIDATES])
    listed = {name: match.chaos for match in found for name in match.could_be_from_charset}
    scores = {name: _likeness(raw, name) - listed.get(name, _UNLISTED_CHAOS) for name in _CANDIDATES}
    first, *others = sorted(_CANDIDATES, key=lambda name: -scores[name])
    shown = _words(raw, first)
    doubt = f'the text is not UTF-8; read as {first} it has the words "{shown}": are they right?'
    second = next((name for name in others if _words(raw, name) != shown), first)
    if scores[first] - scores[second] < _AS_LIKELY:
        doubt += f' Read as {second} they are "{_words(raw, second)}"'
    return Encoding(first, doubt)


def _words(raw: bytes, encoding: str) -> str:
    """Return the first words with a letter beyond ASCII."""
    words = re.findall(r"\w*[^\W\d_\x00-\x7f]\w*", raw.decode(encoding, "replace"))
    return ", ".join(dict.fromkeys(words[:50]))[:_WORDS_SHOWN]


def _likeness(raw: bytes, encoding: str) -> float:
    """Return the share of the letters beyond ASCII that are those of one language, less what no language has."""
    text = raw.decode(encoding, "replace")
    beyond = [letter for letter in text if ord(letter) > 127 and letter not in _NO_LETTERS]
    if not beyond:
        return 0.0
    if encoding in _COMMON:
        fitting = sum(_is_common(letter, *_COMMON[encoding]) for letter in beyond)
    else:
        fitting = max(sum(letter.lower() in alphabet for letter in beyond) for alphabet in _ALPHABETS[encoding])
    wrong = 2 * text.count("\ufffd") + len(_CASE_BREAK.findall(text)) + len(_OF_NO_LANGUAGE.findall(text))
    return (fitting - wrong) / len(beyond)


def _is_common(letter: str, standard: str, leads: tuple[int, int]) -> bool:
    """Return whether a character is one of those of which most of a text is made."""
    if _KANA.match(letter) or letter in _EAST_ASIAN_MARKS:
        return standard == "euc_jp" or letter in _EAST_ASIAN_MARKS
    try:
        coded = letter.encode(standard)
    except UnicodeEncodeError:
        return False
    return len(coded) == 2 and leads[0] <= coded[0] <= leads[1]
