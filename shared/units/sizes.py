"""Sizes of clothes and shoes, threads of screws, grades of oil. Pure."""

import re
from fractions import Fraction

from shared.units.quantity import BARE, Measure, Quantity, sides, units
from shared.units.reader import NameReader
from shared.units.rows import ReadQuantity

SHOE_SIZE_MAX = 60
THREAD_MAX = 100
_SYSTEMS = {"us": "US", "uk": "UK", "eu": "EU", "eur": "EU"}
_SYSTEMS_BESIDE_SIZE = {**_SYSTEMS, "it": "IT", "fr": "FR", "jp": "JP", "cn": "CN", "au": "AU"}
_SIZE = frozenset({"size", "sz"})
_LETTERS = re.compile(r"x{1,5}[sl]")
_WORDS = {"small": "S", "medium": "M", "large": "L", "s": "S", "m": "M", "l": "L"}
_CLOTHES = frozenset(
    "shirt tshirt tee dress jacket hoodie jeans pants trousers sweater sweatshirt jumper coat skirt shorts bra socks "
    "gloves underwear leggings blouse polo vest cardigan pyjamas pajamas briefs boxers bikini swimsuit".split()
)
_LEGS = frozenset("jeans pants trousers chinos slacks".split())
_SCALES_BEFORE_NUMBER = frozenset({"awg", "grit"})
# With these a size or a thread may begin that does not begin with digits or an x.
SIZE_BEGINNINGS = _SIZE | _SYSTEMS_BESIDE_SIZE.keys() | _WORDS.keys() | _SCALES_BEFORE_NUMBER | {"extra", "w", "m"}
# SAE J300: the viscosity of engine oils at low and at high temperature.
_COLD_GRADES = frozenset({0, 5, 10, 15, 20, 25})
_HOT_GRADES = frozenset({8, 12, 16, 20, 30, 40, 50, 60})
_WAIST_MIN, _WAIST_MAX = 20, 66


def read_size(reader: NameReader, position: int) -> ReadQuantity | None:
    """Return the size of clothes or shoes that begins at a position."""
    return (
        _legs(reader, position)
        or _letters(reader, position)
        or _after_size(reader, position)
        or _after_system(reader, position)
        or _before_system(reader, position)
    )


def read_thread(reader: NameReader, position: int) -> ReadQuantity | None:
    """Return a metric thread with what follows it, in millimetres: `M6 x 20`."""
    if reader.word(position) != "m" or not (reader.is_number(position + 1) and reader.glued(position + 1)):
        return None
    if position and reader.glued(position):
        return None
    diameter = reader.number(position + 1)
    if diameter is None or not 0 < diameter.value <= THREAD_MAX:
        return None
    measures, end = [Measure("thread", diameter.value)], diameter.end
    while reader.word(end) == "x":
        side = reader.atom(end + 1)
        if side is None or (side.unit and side.unit.dimension != "length"):
            break
        measures.append(side.measure or Measure("length", units()["mm"].in_base(side.value)))
        end = side.end
    return ReadQuantity(sides(measures), end)


def read_grade(reader: NameReader, position: int) -> ReadQuantity | None:
    """Return the grade of an engine oil (`5W-30`, `5W30`), or a number behind its scale: `AWG 18`, `grit 120`."""
    if reader.word(position) in _SCALES_BEFORE_NUMBER:
        unit, one = units()[reader.word(position)], reader.atom(position + 1)
        if one is None or one.unit is not None or not reader.is_number(position + 1):
            return None
        return ReadQuantity(Quantity((Measure(unit.dimension, unit.in_base(one.value)),)), one.end)
    cold = reader.number(position) if reader.is_number(position) else None
    if cold is None or cold.value not in _COLD_GRADES or reader.word(cold.end) != "w" or not reader.glued(cold.end):
        return None
    end = cold.end + 1 + (reader.word(cold.end + 1) == "-")
    hot = reader.atom(end) if reader.is_number(end) and reader.glued(end) else None
    if hot is None or hot.unit is not None or hot.value not in _HOT_GRADES:
        return None
    return ReadQuantity(Quantity((Measure(BARE, cold.value), Measure(BARE, hot.value)), "size", system="SAE"), hot.end)


def _size(system: str, value: Fraction | None = None) -> Quantity:
    return Quantity((Measure(BARE, value),) if value is not None else (), "size", system=system)


def _legs(reader: NameReader, position: int) -> ReadQuantity | None:
    """Read waist and leg: W32 L34, 32W 34L, and of trousers 32/34."""
    numbers: list[Fraction] = []
    end = position
    for letter in ("w", "l"):
        end += reader.word(end) == letter
        number = reader.number(end)
        if number is None:
            return None
        numbers.append(number.value)
        end = number.end
        end += reader.word(end) == letter and reader.glued(end)
        end += letter == "w" and reader.word(end) in {"/", "x", "-"}
    lettered = {reader.word(place) for place in range(position, end)} >= {"w", "l"}
    slash = "/" in {reader.word(place) for place in range(position, end)}
    before = reader.word(position) == "w" or bool(_LEGS & reader.words)
    if not (lettered or slash) or not before or not all(_WAIST_MIN <= one <= _WAIST_MAX for one in numbers):
        return None
    return ReadQuantity(sides([Measure(BARE, one) for one in numbers]), end)


def _letters(reader: NameReader, position: int) -> ReadQuantity | None:
    """Read XL, 2XL, XX-large, extra large; S, M and L only beside the name of a garment or the word size."""
    times, end = 1, position
    if reader.is_number(position) and reader.tokens[position].text.isdecimal() and reader.glued(position + 1):
        times, end = int(reader.tokens[position].text), position + 1 + (reader.word(position + 1) == "-")
    word = reader.word(end)
    if times > 9 or (end > position and word[:1] != "x"):
        return None
    if _LETTERS.fullmatch(word):
        count = len(word) - 1 if end == position else times
        return ReadQuantity(_size("X" * count + word[-1].upper()), end + 1)
    end_of_word = end + 1 + (reader.word(end + 1) == "-")
    extra = times if word == "x" else len(word) if re.fullmatch("x{2,5}", word) else 1 if word == "extra" else 0
    if extra and reader.word(end_of_word) in {"small", "large"}:
        return ReadQuantity(_size("X" * extra + _WORDS[reader.word(end_of_word)]), end_of_word + 1)
    if end == position and word in _WORDS and _CLOTHES & reader.words and not _apostrophe(reader, position):
        return ReadQuantity(_size(_WORDS[word]), position + 1)
    return None


def _apostrophe(reader: NameReader, position: int) -> bool:
    return reader.word(position - 1) == "'" and reader.glued(position)


def _after_size(reader: NameReader, position: int) -> ReadQuantity | None:
    if reader.word(position) not in _SIZE:
        return None
    end = position + 1 + (reader.word(position + 1) in {":", "."})
    system = _SYSTEMS_BESIDE_SIZE.get(reader.word(end), "")
    end += bool(system)
    if not system and reader.word(end) in _WORDS:
        return ReadQuantity(_size(_WORDS[reader.word(end)]), end + 1)
    inner = _letters(reader, end)
    if inner is not None:
        return inner
    number = _plain_number(reader, end)
    if number is None:
        return None
    value, end = number
    if not system and reader.word(end) in _SYSTEMS_BESIDE_SIZE:
        system, end = _SYSTEMS_BESIDE_SIZE[reader.word(end)], end + 1
    return ReadQuantity(_size(system or "as named", value), end)


def _after_system(reader: NameReader, position: int) -> ReadQuantity | None:
    size_follows = reader.word(position + 1) in _SIZE
    system = (_SYSTEMS_BESIDE_SIZE if size_follows else _SYSTEMS).get(reader.word(position))
    number = _plain_number(reader, position + 1 + size_follows) if system else None
    return ReadQuantity(_size(system, number[0]), number[1]) if system and number else None


def _before_system(reader: NameReader, position: int) -> ReadQuantity | None:
    number = _plain_number(reader, position)
    system = _SYSTEMS.get(reader.word(number[1])) if number else None
    return ReadQuantity(_size(system, number[0]), number[1] + 1) if system and number else None


def _plain_number(reader: NameReader, position: int) -> tuple[Fraction, int] | None:
    """Return a number that could be a size: no unit follows it."""
    if not reader.is_number(position):
        return None
    atom = reader.atom(position)
    if atom is None or atom.unit is not None or not 0 < atom.value <= SHOE_SIZE_MAX or reader.word(atom.end) == "x":
        return None
    return atom.value, atom.end
