"""Which unit a spelling means, by the value before it and the other words of the name. Pure."""

from collections.abc import Callable
from fractions import Fraction

from shared.units.quantity import Unit, units

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
_PRESSURE = frozenset(
    "pressure pump pumps tyre tire inflator compressor espresso cappuccino barista washer boiler regulator manometer "
    "valve hose pneumatic hydraulic sensor transmitter diver diving waterproof psi kpa mpa max l/min rpm".split()
)
_BARS = frozenset(
    "chocolate choc soap candy protein granola cereal snack nut nuts nougat muesli energy wafer caramel oat fruit "
    "shampoo ice".split()
)
_FURNITURE = frozenset("stool stools chair chairs towel table cart counter".split())
_GIFTS = frozenset("gift card voucher".split())
_GAMES = frozenset("card code game xbox playstation nintendo fifa microsoft".split())
_VESSELS = frozenset("paper plastic disposable set saucer saucers mug mugs lid lids noodle noodles pot pots".split())
_CONTENTS = frozenset("g gm kg mg oz ml cl l".split())
_CLOTHES_AND_CARE_OF_BABIES = frozenset(
    "romper bodysuit bodysuits sleepsuit sleepsuits babygrow onesie teether soother soothers pacifier pacifiers age "
    "ages".split()
)
_AGES_IN_MONTHS = frozenset({0, 3, 6, 9, 12, 18, 24, 36})
_MODELS = frozenset("iphone type cat vitamin lumia usb galaxy redmi".split())
_POWERS_OF_TWO = frozenset(2**n for n in range(13))
# Takes a value, the words of the name and the word before the number; returns a spelling of the unit, or nothing.
_Rule = Callable[[Fraction | int, frozenset[str], str], str]
COLOUR_TEMPERATURES_FROM = 1_000
TEETH_FROM = 16
DENIER_FROM = 5
# Larger numbers before these letters are models and years: `8103 S`.
SECONDS_MAX, DAYS_MAX, YEARS_MAX = 600, 366, 99
# Smaller numbers before `bag` or `tablet` are models.
COUNTED_ACCESSORIES_FROM = 20


def resolve(spelling: str, value: Fraction | int, context: frozenset[str], before: str) -> Unit | None:
    """Return the unit that a spelling means after a value, or None where it is no unit there.

    `context` holds the words of the whole name, `before` the word before the number.
    """
    rule = _RULES.get(spelling)
    if rule is None:
        return units().get(spelling)
    meant = rule(value, context, before)
    return units()[meant] if meant else None


def _gram(value: Fraction | int, context: frozenset[str], before: str) -> str:
    if value in _POWERS_OF_TWO and value >= TEETH_FROM // 2 and context & _MEMORY:
        return "gb"
    if value in {2, 4} and {"ddr", "ram", "memory", "usb"} & context:
        return "gb"
    return "" if value in {2, 3, 4, 5, 6} and context & _NETWORK else "g"


def _tonne(value: Fraction | int, context: frozenset[str], before: str) -> str:
    if value in _POWERS_OF_TWO and context & _MEMORY:
        return "tb"
    return "teeth" if value >= TEETH_FROM and value.denominator == 1 else "t"


def _kelvin(value: Fraction | int, context: frozenset[str], before: str) -> str:
    if value >= COLOUR_TEMPERATURES_FROM:
        return "kelvin"
    if value in _PIXEL_CLASSES:
        return "kpixels"
    return "karat" if value in _KARATS else ""


def _count(value: Fraction | int, context: frozenset[str], before: str) -> str:
    if "gold" in context and value in _KARATS:
        return "karat"
    return "carat" if value.denominator != 1 or context & _GEM else "ct"


def _lines(value: Fraction | int, context: frozenset[str], before: str) -> str:
    return "p" if value in _LINES else ""


def _torque(value: Fraction | int, context: frozenset[str], before: str) -> str:
    return "nanometer" if context & _LIGHT else "nm"


def _celsius(value: Fraction | int, context: frozenset[str], before: str) -> str:
    return "" if before in _MODELS else "°c"


def _fahrenheit(value: Fraction | int, context: frozenset[str], before: str) -> str:
    return "°f"


def _second(value: Fraction | int, context: frozenset[str], before: str) -> str:
    return "" if before in _MODELS or value > SECONDS_MAX else "s"


def _day(value: Fraction | int, context: frozenset[str], before: str) -> str:
    return "days" if value <= DAYS_MAX else ""


def _denier(value: Fraction | int, context: frozenset[str], before: str) -> str:
    return "denier" if value >= DENIER_FROM else ""


def _year(value: Fraction | int, context: frozenset[str], before: str) -> str:
    return "years" if value <= YEARS_MAX and value.denominator == 1 and before not in _MODELS else ""


def _metre(value: Fraction | int, context: frozenset[str], before: str) -> str:
    """Tell the ages of babies, `6-12m`, from metres."""
    return "months" if value in _AGES_IN_MONTHS and context & _CLOTHES_AND_CARE_OF_BABIES else "metre"


def _bar(value: Fraction | int, context: frozenset[str], before: str) -> str:
    """Tell the pressure of a pump, a bar of chocolate and a bar stool."""
    if context & _PRESSURE:
        return "bar of pressure"
    if context & _FURNITURE:
        return ""
    return "bar to eat" if context & (_BARS | _CONTENTS) else "bar of pressure"


def _bars(value: Fraction | int, context: frozenset[str], before: str) -> str:
    return "bar of pressure" if context & _PRESSURE else "bar to eat"


def _cup(value: Fraction | int, context: frozenset[str], before: str) -> str:
    """Tell so many vessels, of which the name says what each holds or what they are made of, from a measure."""
    return "cup to drink from" if value.denominator == 1 and context & (_VESSELS | _CONTENTS) else "cup of volume"


def _unless(words: frozenset[str], unit: str) -> _Rule:
    """Return the rule of a unit that means something else beside some words: `3 stone ring`, `10 pounds gift card`."""
    return lambda value, context, before: "" if context & words else unit


def _accessory(noun: str) -> _Rule:
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
    "y": _year,
    "m": _metre,
    "bar": _bar,
    "bars": _bars,
    "cup": _cup,
    "cups": _cup,
    "stone": _unless(_GEM | {"bracelet", "necklace", "pendant"}, "stone of mass"),
    "pound": _unless(_GIFTS, "lb"),
    "pounds": _unless(_GIFTS, "lb"),
    "pts": _unless(_GAMES, "pints"),
}
