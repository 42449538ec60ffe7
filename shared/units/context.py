"""The meaning of an ambiguous unit among the words of a name: `16G` of memory, `500 G` of flour, a `5G` phone."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from shared.units.table import Unit, units

_MEMORY = frozenset(
    "ram memory ddr ssd hdd nvme emmc usb flash sd sdhc sdxc microsd micro drive storage phone smartphone iphone "
    "ipad tablet laptop galaxy pixel disk 机 機 存 憶 忆 盘 盤 卡".split()
)
_NETWORK = frozenset(
    "phone smartphone iphone galaxy mobile lte router modem wifi sim tablet network hotspot 机 機 网 網".split()
)
_LIGHT = frozenset("laser infrared ir led uv wavelength process chip light lamp filter".split())
_GEM = frozenset("diamond diamonds ring gemstone sapphire ruby emerald earrings moissanite".split())
_KARATS = frozenset({9, 10, 14, 18, 20, 21, 22, 24})
_PIXEL_CLASSES = frozenset({2, 4, 5, 6, 8, 12, 16})
_LINES = frozenset({144, 240, 360, 480, 576, 720, 1080, 1440, 2160, 4320})
_MODELS = frozenset("iphone type cat vitamin lumia usb galaxy redmi".split())
_POWERS_OF_TWO = frozenset(2**n for n in range(13))
COLOUR_TEMPERATURES_FROM = 1_000
TEETH_FROM = 16
DENIER_FROM = 5
# Larger numbers before these letters are models and years: `8103 S`.
SECONDS_MAX, DAYS_MAX = 600, 366
# Smaller numbers before `bag` or `tablet` are models.
COUNTED_ACCESSORIES_FROM = 20


def resolve(spelling: str, value: Fraction, context: frozenset[str], before: str) -> Unit | None:
    """Return the unit that a spelling means after a value, or None where it is no unit there.

    `context` holds the words of the whole name, `before` the word before the number.
    """
    rule = _RULES.get(spelling)
    if rule is None:
        return units().get(spelling)
    meant = rule(value, context, before)
    return units()[meant] if meant else None


def _gram(value: Fraction, context: frozenset[str], before: str) -> str:
    if value in _POWERS_OF_TWO and value >= TEETH_FROM // 2 and context & _MEMORY:
        return "gb"
    if value in {2, 4} and {"ddr", "ram", "memory", "usb"} & context:
        return "gb"
    return "" if value in {2, 3, 4, 5, 6} and context & _NETWORK else "g"


def _tonne(value: Fraction, context: frozenset[str], before: str) -> str:
    if value in _POWERS_OF_TWO and context & _MEMORY:
        return "tb"
    return "teeth" if value >= TEETH_FROM and value.denominator == 1 else "t"


def _kelvin(value: Fraction, context: frozenset[str], before: str) -> str:
    if value >= COLOUR_TEMPERATURES_FROM:
        return "kelvin"
    if value in _PIXEL_CLASSES:
        return "kpixels"
    return "karat" if value in _KARATS else ""


def _count(value: Fraction, context: frozenset[str], before: str) -> str:
    if "gold" in context and value in _KARATS:
        return "karat"
    return "carat" if value.denominator != 1 or context & _GEM else "ct"


def _lines(value: Fraction, context: frozenset[str], before: str) -> str:
    return "p" if value in _LINES else ""


def _torque(value: Fraction, context: frozenset[str], before: str) -> str:
    return "nanometer" if context & _LIGHT else "nm"


def _celsius(value: Fraction, context: frozenset[str], before: str) -> str:
    return "" if before in _MODELS else "°c"


def _fahrenheit(value: Fraction, context: frozenset[str], before: str) -> str:
    return "°f"


def _second(value: Fraction, context: frozenset[str], before: str) -> str:
    return "" if before in _MODELS or value > SECONDS_MAX else "s"


def _day(value: Fraction, context: frozenset[str], before: str) -> str:
    return "days" if value <= DAYS_MAX else ""


def _denier(value: Fraction, context: frozenset[str], before: str) -> str:
    return "denier" if value >= DENIER_FROM else ""


def _accessory(noun: str) -> Callable[[Fraction, frozenset[str], str], str]:
    """Return the rule of a noun that also names a device or its accessory: `iPhone 5 bag`, `Note 8 tablet`."""
    return lambda value, context, before: noun if value >= COUNTED_ACCESSORIES_FROM else ""


_RULES = {
    **{noun: _accessory(f"{noun}s") for noun in ("bag", "tablet", "key", "cell", "cap", "tab")},
    "box": _accessory("boxes"),
    "g": _gram,
    "t": _tonne,
    "k": _kelvin,
    "ct": _count,
    "p": _lines,
    "nm": _torque,
    "c": _celsius,
    "f": _fahrenheit,
    "s": _second,
    "day": _day,
    "d": _denier,
}


def binary_multiples_as_decimal(unit: Unit, value: Fraction) -> Fraction:
    """Return a value in base units; 1024 of a byte prefix are one of the next, as sellers mean the same by both."""
    while unit.dimension == "memory" and value >= 1024 and value % 1024 == 0:
        value /= 1024
        unit = replace(unit, size=unit.size * 1000)
    return unit.in_base(value)
