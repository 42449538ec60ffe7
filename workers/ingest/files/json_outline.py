"""How deep JSON is nested and how long its numbers are, seen before a parser meets it."""

import re

import numpy as np

DEPTH_MAX = 32
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_TEXT = re.compile(rb'"[^"]*"')
_NO_MARKS = bytes(set(range(256)) - set(b'"[]{}'))
# The parser of documents makes Python's integers, and ends the process where one has more digits than Python converts
# (4,300, or as few as 640 where PYTHONINTMAXSTRDIGITS says so).
DIGITS_MAX = 500
_DIGITS = b"0123456789"
_DIGITS_AS_ZERO = bytes(0x30 if byte in _DIGITS else 0x20 for byte in range(256))
_TOO_MANY_DIGITS = b"0" * (DIGITS_MAX + 1)
_STEPS = np.zeros(256, "i8")
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


def is_deep(raw: bytes) -> bool:
    """Return whether a line is nested deeper than is read."""
    return raw.count(b"[") + raw.count(b"{") > DEPTH_MAX and JsonOutline().read(raw)[0] > DEPTH_MAX


class JsonOutline:
    """What a parser must not meet outside of the texts of JSON that comes in pieces: depth, and numbers without end."""

    def __init__(self) -> None:
        self._begun = b""
        self._depth = 0

    def read(self, piece: bytes) -> tuple[int, bool]:
        """Return the deepest level of the next piece, and whether a number in it has too many digits."""
        seen = _ESCAPED.sub(b"", self._begun + piece)
        marks = seen.translate(None, _NO_MARKS).replace(b'""', b"")  # most texts have no bracket between their marks
        outside, text, _ = _TEXT.sub(b"", marks).partition(b'"')
        is_long = _TOO_MANY_DIGITS in seen.translate(_DIGITS_AS_ZERO) and _has_long_number(seen)
        # Of a text that is open only its mark is kept, of a number all digits so far.
        number = b"" if text else seen[len(seen.rstrip(_DIGITS)) :]
        self._begun = text + (b"\\" if seen.endswith(b"\\") else number)
        depths = self._depth + np.cumsum(_STEPS[np.frombuffer(outside, "u1")])
        deepest = int(depths.max(initial=self._depth))
        self._depth = int(depths[-1]) if len(depths) else self._depth
        return deepest, is_long


def _has_long_number(seen: bytes) -> bool:
    """Return whether a piece of JSON without escapes has a number of too many digits outside of its texts."""
    outside, _, _ = _TEXT.sub(b" ", seen).partition(b'"')
    return _TOO_MANY_DIGITS in outside.translate(_DIGITS_AS_ZERO)
