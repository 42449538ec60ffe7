"""Compressed GS1 Digital Links: one segment of a path holds identifiers and values as bits (Digital Link Standard:
Compression).

Each character stands for six bits. They are a sequence of codes of eight or more bits, each with its value or values;
zeros fill the last character. A value is a sequence of parts: `N6` six digits, `N..15` up to fifteen, `X2` two
characters, `X..20` up to twenty.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from shared.errors import InvalidIdentifier

# The standard's table F. `n` is the digit that says where the decimal point is, 0 to 5.
_VALUES = """
N1    4321 4322 4323
N2    20
N3    422 424 426
N4    3940 3941 3942 3943 8111
N6    11 12 13 15 16 17 4326 7006 8005
N6    310n 311n 312n 313n 314n 315n 316n 320n 321n 322n 323n 324n 325n 326n 327n 328n 329n
N6    330n 331n 332n 333n 334n 335n 336n 337n 340n 341n 342n 343n 344n 345n 346n 347n 348n 349n
N6    350n 351n 352n 353n 354n 355n 356n 357n 360n 361n 362n 363n 364n 365n 366n 367n 368n 369n
N6    3950 3951 3952 3953 3954 3955 3956 3957 3958 3959
N10   4324 4325 7003
N13   410 411 412 413 414 415 416 417 7001
N14   01 02 8001
N17   402
N18   00 8006 8017 8018 8026
N20   4309
N..4  7004
N..6  242
N..8  30 37
N..10 8019
N..12 8011
N..15 3900 3901 3902 3903 3904 3905 3906 3907 3908 3909 3920 3921 3922 3923 3924 3925 3926 3927 3928 3929
X2    4307 4317
X..2  7010
X..3  427 7008
X..10 7009
X..12 7005
X..20 10 21 22 243 254 420 4318 7020 7021 7022 710 711 712 713 714 7240 8002 8012
X..24 8007
X..25 8020
X..28 235
X..30 240 241 250 251 400 401 403 4308 4319 7002 7023 8004 8010 8013 90
X..30 7230 7231 7232 7233 7234 7235 7236 7237 7238 7239
X..35 4300 4301 4310 4311 4320
X..50 8009
X..70 4302 4303 4304 4305 4306 4312 4313 4314 4315 4316 8110 8112 8200
X..90 91 92 93 94 95 96 97 98 99
N1+X3     7040
N3+N..12  423 425
N3+N..15  3910 3911 3912 3913 3914 3915 3916 3917 3918 3919 3930 3931 3932 3933 3934 3935 3936 3937 3938 3939
N3+X..9   421
N3+X..27  7030 7031 7032 7033 7034 7035 7036 7037 7038 7039
N6+N..6   7007
N8+N..4   8008
N13+N..12 255
N13+X..17 253
N14+X..16 8003
"""
# The standard's table of sequences that one code of two hexadecimal digits abbreviates.
SEQUENCES = {
    **{f"0{code}": ("01", key) for code, key in zip("ABCDEF", ("22", "10", "21", "17", "7003", "30"), strict=True)},
    "1A": ("01", "10", "21", "17"),
    **{f"1{code}": ("01", key) for code, key in zip("BCDE", ("15", "11", "16", "91"), strict=True)},
    "1F": ("01", "10", "15"),
    **{f"2{code}": ("01", f"310{digit}") for digit, code in enumerate("ABCDEF")},
    **{f"3{code}": ("01", f"320{digit}") for digit, code in enumerate("ABCDEF")},
    "9A": ("8010", "8011"),
    "9B": ("8017", "8019"),
    "9C": ("8018", "8019"),
    "9D": ("414", "254"),
    **{f"A{digit}": ("01", f"392{digit}") for digit in range(10)},
    **{f"C{digit}": ("255", f"390{digit}") for digit in range(10)},
    **{f"C{code}": ("255", f"394{digit}") for digit, code in enumerate("ABCD")},
}
_PART = re.compile(r"([NX])(\.\.)?([0-9]+)", re.ASCII)

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


@dataclass(frozen=True, slots=True)
class ValuePart:
    """A part of a value: digits only or characters, exactly or at most `length` of them."""

    digits: bool
    length: int
    exact: bool


def _parts(text: str) -> tuple[ValuePart, ...]:
    return tuple(ValuePart(kind == "N", int(length), not dots) for kind, dots, length in _PART.findall(text))


def _keys(pattern: str) -> list[str]:
    return [pattern.replace("n", digit) for digit in "012345"] if "n" in pattern else [pattern]


FORMATS = {
    key: _parts(line.split()[0])
    for line in _VALUES.strip().splitlines()
    for pattern in line.split()[1:]
    for key in _keys(pattern)
}
# The first two digits of an identifier say how many digits it has.
KEY_LENGTHS = {key[:2]: len(key) for key in FORMATS}


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
        """Read an unsigned number of `count` bits. Raises InvalidIdentifier where fewer are left."""
        read = self._bits[self._at : self._at + count]
        if len(read) < count:
            raise InvalidIdentifier("ends within a value")
        self._at += count
        return int(read, 2) if read else 0

    def hexadecimal(self, count: int) -> str:
        """Read `count` hexadecimal digits, in upper case."""
        return f"{self.number(4 * count):0{count}X}"

    def digits(self, count: int) -> str:
        """Read a decimal number of `count` digits, with its leading zeros."""
        text = str(self.number(math.ceil(count * math.log2(10) + 0.01))).zfill(count)
        if len(text) > max(count, 1):
            raise InvalidIdentifier("has a number with more digits than it says")
        return text if count else ""

    def characters(self, encoding: int, count: int) -> str:
        """Read `count` characters in one of the standard's encodings. Raises InvalidIdentifier for any other."""
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


def decompress(segment: str) -> dict[str, str]:
    """Return the value of each application identifier and each other parameter of a segment, in its order.

    Raises InvalidIdentifier, which says why, where the text does not hold such a sequence.
    """
    if not _SEGMENT.fullmatch(segment):
        raise InvalidIdentifier("is not a compressed Digital Link")
    bits = _Bits(segment)
    identifiers: dict[str, str] = {}
    while not bits.are_filling():
        for key, value in _read_code(bits):
            if key in identifiers:
                raise InvalidIdentifier("repeats an application identifier or a parameter")
            identifiers[key] = value
    return identifiers


def _read_code(bits: _Bits) -> Iterator[tuple[str, str]]:
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


def _part(part: ValuePart, bits: _Bits) -> str:
    """Read one part of a value."""
    encoding = _DIGITS if part.digits else bits.number(3)
    length = part.length if part.exact else bits.number(part.length.bit_length())
    if length > part.length:
        raise InvalidIdentifier("has a value that is longer than its application identifier allows")
    return bits.characters(encoding, length)
