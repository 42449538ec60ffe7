"""Compressed GS1 Digital Links: one segment of a path holds identifiers and values as bits. Pure.

Digital Link Standard: Compression. Each character stands for six bits. They are a sequence of codes of eight or more
bits, each with its value or values; zeros fill the last character.
"""

import math
import re
from collections.abc import Iterator

from edge.digital_link.formats import FORMATS, KEY_LENGTHS, SEQUENCES, Part
from shared.errors import InvalidIdentifier

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_BITS = {character: f"{index:06b}" for index, character in enumerate(_ALPHABET)}
_SEGMENT = re.compile(r"[A-Za-z0-9_-]{1,1000}", re.ASCII)
# After the flag for a parameter that is none of GS1's: the bits that say how long its name and its value are.
_PARAMETER_FLAG = "F"
_LENGTH_BITS = 7
# Encoding of characters by its three bits: how many bits each character has, and what they stand for.
_DIGITS = 0
_CHARACTERS = {1: (4, "0123456789abcdef"), 2: (4, "0123456789ABCDEF"), 3: (6, _ALPHABET), 4: (7, None)}
# Fewer bits than any code and its value have: the rest of the last character, or of the last byte for some encoders.
_FILLING_MAX = 8


class _Bits:
    """The bits of a segment, read from left to right."""

    def __init__(self, segment: str) -> None:
        self._bits = "".join(_BITS[character] for character in segment)
        self._at = 0

    def are_filling(self) -> bool:
        """Return whether only zeros are left, too few for a code with a value."""
        left = self._bits[self._at :]
        return len(left) <= _FILLING_MAX and "1" not in left

    def number(self, count: int) -> int:
        """Read an unsigned number of so many bits. Raises InvalidIdentifier where fewer are left."""
        read = self._bits[self._at : self._at + count]
        if len(read) < count:
            raise InvalidIdentifier("ends within a value")
        self._at += count
        return int(read, 2) if read else 0

    def hexadecimal(self, count: int) -> str:
        """Read so many hexadecimal digits, in upper case."""
        return f"{self.number(4 * count):0{count}X}"

    def digits(self, count: int) -> str:
        """Read a decimal number of so many digits, with its leading zeros."""
        text = str(self.number(math.ceil(count * math.log2(10) + 0.01))).zfill(count)
        if len(text) > max(count, 1):
            raise InvalidIdentifier("has a number with more digits than it says")
        return text if count else ""

    def characters(self, encoding: int, count: int) -> str:
        """Read so many characters of one of the standard's encodings. Raises InvalidIdentifier for any other."""
        if encoding == _DIGITS:
            return self.digits(count)
        if encoding not in _CHARACTERS:
            raise InvalidIdentifier("has a value of an unknown encoding")
        width, alphabet = _CHARACTERS[encoding]
        codes = [self.number(width) for _ in range(count)]
        text = "".join(alphabet[code] if alphabet else chr(code) for code in codes)
        if not (text.isprintable() and text.isascii()):
            raise InvalidIdentifier("has a value with characters that cannot be shown")
        return text


def first_key(segment: str) -> str | None:
    """Return the application identifier with which a text begins if it is a compressed link; None where it is none."""
    if len(segment) < 2 or not _SEGMENT.fullmatch(segment):
        return None
    code = _Bits(segment).hexadecimal(2)
    return SEQUENCES[code][0] if code in SEQUENCES else code


def decompressed(segment: str) -> dict[str, str]:
    """Return the value of each application identifier and each other parameter of a segment, in its order.

    Raises InvalidIdentifier, which says why, where the text does not hold such a sequence.
    """
    if not _SEGMENT.fullmatch(segment):
        raise InvalidIdentifier("is no compressed Digital Link")
    bits = _Bits(segment)
    identifiers: dict[str, str] = {}
    while not bits.are_filling():
        for key, value in _coded(bits):
            if key in identifiers:
                raise InvalidIdentifier("names an application identifier or a parameter twice")
            identifiers[key] = value
    return identifiers


def _coded(bits: _Bits) -> Iterator[tuple[str, str]]:
    """Read one code, and yield each of its identifiers with its value."""
    first = bits.hexadecimal(1)
    if first == _PARAMETER_FLAG:
        name = bits.characters(3, bits.number(_LENGTH_BITS))
        encoding = bits.number(3)
        yield name, bits.characters(encoding, bits.number(_LENGTH_BITS))
        return
    code = first + bits.hexadecimal(1)
    for key in SEQUENCES.get(code) or (_key(code, bits),):
        yield key, "".join(_part(part, bits) for part in FORMATS[key])


def _key(code: str, bits: _Bits) -> str:
    more = KEY_LENGTHS.get(code, 2) - 2
    key = code + bits.hexadecimal(more) if more else code
    if key not in FORMATS:
        raise InvalidIdentifier("names an application identifier that the standard's compression does not know")
    return key


def _part(part: Part, bits: _Bits) -> str:
    """Read one part of a value."""
    encoding = _DIGITS if part.digits else bits.number(3)
    length = part.length if part.exact else bits.number(part.length.bit_length())
    if length > part.length:
        raise InvalidIdentifier("has a value that is longer than its application identifier allows")
    return bits.characters(encoding, length)
