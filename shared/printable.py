"""Text of others made safe: for a terminal by `printable`, a log by `json_line`, a file by `file_name`, CSV. Pure.

Names, rows, paths and messages may hold escape sequences that rewrite what an operator reads, line breaks that forge a
line, and marks that turn the direction of writing. Each such character becomes its escape: `\\u001b`.
"""

import base64
import json
import re
from collections.abc import Mapping

import msgspec

# Control characters of ASCII and of Latin-1, line and paragraph separators, marks of direction, the byte order mark,
# and surrogates, which no encoder takes.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
# The blocks of Hebrew, Arabic and the other scripts that are written from right to left.
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_ENCODER = msgspec.json.Encoder()
FORMULA_STARTS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
"""What a spreadsheet runs a cell of CSV as a formula for, also in the full width of Chinese and Japanese keyboards."""
FORMULA_PREFIX = "'"
"""What makes such a cell the text that it is."""
_FORMULA_STARTS = tuple(FORMULA_STARTS)
FILE_NAME_CHARACTERS_MAX = 200


def printable(text: str) -> str:
    """Return the text in one line, every character that a terminal would act on replaced by its escape."""
    return _UNSAFE.sub(_escape, text)


def printable_lines(text: str) -> str:
    """Return text of many lines with its line breaks, each line printable."""
    return "\n".join(printable(line) for line in text.split("\n"))


def without_formula(text: str) -> str:
    """Return a text for a cell of CSV that no spreadsheet takes for a formula."""
    return f"{FORMULA_PREFIX}{text}" if text.startswith(_FORMULA_STARTS) else text


def isolate(name: str) -> str:
    """Return a name for use within a sentence: between the marks U+2068 and U+2069 if it runs from right to left.

    Without them the words and figures beside it would change places with it (Unicode Standard Annex 9). In HTML the
    element `bdi` does the same.
    """
    return f"\u2068{name}\u2069" if _RIGHT_TO_LEFT.search(name) else name


def json_line(members: Mapping[str, object]) -> bytes:
    """Encode one line of a log, line break included: JSON without a character that a terminal would act on."""
    try:
        encoded = _ENCODER.encode(members)
    except UnicodeEncodeError:  # a surrogate, which JSON in ASCII can name
        encoded = json.dumps(members, default=str).encode()
    if not encoded.isascii() or b"\x7f" in encoded:
        encoded = printable(encoded.decode()).encode()
    return encoded + b"\n"


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def base64url(content: bytes) -> str:
    """Write bytes as base64url without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def many(count: int, word: str) -> str:
    """Return a count with the word in its number: 1 row, 1,204 rows."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def file_name(text: str) -> str:
    """Return the last part of a path as a name that is safe in a directory, empty where nothing is left of it.

    Of a long name the end stays, which says what the file is.
    """
    last = re.split(r"[/\\]", text)[-1]
    return re.sub(r"[^\w.-]+", "_", last, flags=re.ASCII).lstrip(".")[-FILE_NAME_CHARACTERS_MAX:]
