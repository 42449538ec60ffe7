"""Reads the quantities in a text, token by token, and those of many texts at once."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from shared.units.quantity import BARE, COUNT, SPELLED_TOKENS_MAX, Measure, Quantity, Unit, sides, units

NUMBER, WORD, SIGN = "number", "word", "sign"
TEXT_CHARACTERS_MAX = 4_000
"""Longer texts are cut here: no name is as long, and reading must stay cheap."""

_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff"
_KANA = "\u3040-\u30ff"
_TOKEN = re.compile(
    r"(?P<number>"
    r"[1-9]\d{0,2}(?:[\u00a0\u2009\u202f']\d{3})+(?!\d)(?:[.,]\d{1,3}(?!\d))?"  # 10 000 (not for breaking), 1'000
    r"|[1-9]\d{0,2}(?:\.\d{3})+,\d{1,3}(?!\d)"  # 1.234,5
    r"|[1-9]\d{0,2}(?:,\d{3})+(?![\d,])(?:\.\d+)?"  # 1,234.5
    r"|[1-9]\d{0,2}(?:\.\d{3}){2,}(?![\d.])"  # 1.000.000
    r"|\d+[.,]\d+"
    r"|(?<![\w.])\.\d+"
    r"|\d+)"
    rf"|(?P<word>(?<=\d)(?:mm|cm|m|in|ft|g|kg|ml|cl|l|oz)(?=x\d)|[{_IDEOGRAPHS}]|[{_KANA}]+"
    rf"|[^\W\d_{_IDEOGRAPHS}{_KANA}]+)"
    r"|(?P<sign>[^\s\w]|_)",
    re.IGNORECASE,
)
_VULGAR = re.compile(r"([¼-¾⅐-⅞])(\d?)")
# Case alone tells 6 Gb/s of a bus from 6 GB/s.
_BITS_PER_SECOND = re.compile(r"(?<=[MG])b(?=/s)")
_SAME = str.maketrans(
    {
        **dict.fromkeys("×✕✖⨯х", "x"),
        **dict.fromkeys("’‘ʼ′´`＇", "'"),
        **dict.fromkeys("”“„″＂", '"'),
        **dict.fromkeys("‐‑‒–—−﹣－", "-"),
        **dict.fromkeys("⋅•∙・", "·"),
        **dict.fromkeys("µμ", "u"),
        **dict.fromkeys("ΩΩ", "ohm"),
        "⁄": "/",
        "º": "°",
        "˚": "°",
    }
)


_UNSPACED = re.compile(f"[{_IDEOGRAPHS}{_KANA}]")


class Token(NamedTuple):
    """A run of one kind with its position in the plain text; `spaced` where white space precedes it."""

    text: str
    start: int
    end: int
    kind: str
    spaced: bool


def unspaced(token: Token | None) -> bool:
    """Return whether a token is of Chinese or Japanese, whose names have no spaces beside a size."""
    return token is not None and _UNSPACED.match(token.text) is not None


def plain(text: str) -> str:
    """Return a text with one spelling for multiplication signs, quotes, dashes, fractions and full-width forms."""
    text = _BITS_PER_SECOND.sub("bit", text[:TEXT_CHARACTERS_MAX])
    if text.isascii():
        return text.replace("''", '"')
    text = _VULGAR.sub(lambda match: f" {unicodedata.normalize('NFKC', match[1])} {match[2]}".rstrip(), text)
    # Compatibility forms lose these spaces' meaning, which is to group thousands.
    kept = re.sub("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))", "\u0000", text.translate(_SAME))
    flat = unicodedata.normalize("NFKC", kept).translate(_SAME)
    return flat.replace("\u0000", "\u00a0").replace("''", '"')


def tokens(text: str) -> list[Token]:
    """Return the tokens of a plain text."""
    tokens: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or SIGN
        shown = match[0] if kind == NUMBER else match[0].lower()
        tokens.append(Token(shown, match.start(), match.end(), kind, match.start() > end or not tokens))
        end = match.end()
    return tokens


def value_of(number: str) -> Fraction:
    """Return the value of a number token: a comma before three digits groups thousands, else it is the decimal sign."""
    if number.isdecimal():
        return Fraction(int(number))
    digits = re.sub(r"[\u00a0\u2009\u202f']", "", number)
    if "," in digits and "." in digits:
        group, decimal = (",", ".") if digits.rindex(".") > digits.rindex(",") else (".", ",")
        digits = digits.replace(group, "").replace(decimal, ".")
    elif re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+", digits):
        digits = digits.replace(",", "")
    elif digits.count(".") > 1:
        digits = digits.replace(".", "")
    return Fraction(digits.replace(",", "."))


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
_Rule = Callable[[Fraction, frozenset[str], str], str]
COLOUR_TEMPERATURES_FROM = 1_000
TEETH_FROM = 16
DENIER_FROM = 5
# Larger numbers before these letters are models and years: `8103 S`.
SECONDS_MAX, DAYS_MAX, YEARS_MAX = 600, 366, 99
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


def _year(value: Fraction, context: frozenset[str], before: str) -> str:
    return "years" if value <= YEARS_MAX and value.denominator == 1 and before not in _MODELS else ""


def _metre(value: Fraction, context: frozenset[str], before: str) -> str:
    """Tell the ages of babies, `6-12m`, from metres."""
    return "months" if value in _AGES_IN_MONTHS and context & _CLOTHES_AND_CARE_OF_BABIES else "metre"


def _bar(value: Fraction, context: frozenset[str], before: str) -> str:
    """Tell the pressure of a pump, a bar of chocolate and a bar stool."""
    if context & _PRESSURE:
        return "bar of pressure"
    if context & _FURNITURE:
        return ""
    return "bar to eat" if context & (_BARS | _CONTENTS) else "bar of pressure"


def _bars(value: Fraction, context: frozenset[str], before: str) -> str:
    return "bar of pressure" if context & _PRESSURE else "bar to eat"


def _cup(value: Fraction, context: frozenset[str], before: str) -> str:
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


def binary_multiples_as_decimal(unit: Unit, value: Fraction) -> Fraction:
    """Return a value in base units; 1024 of a byte prefix are one of the next, as sellers mean the same by both."""
    while unit.dimension == "memory" and value >= 1024 and value % 1024 == 0:
        value /= 1024
        unit = replace(unit, size=unit.size * 1000)
    return unit.in_base(value)


NUMBER_WORDS = {
    word: Fraction(value)
    for value, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)
}
PACK_NUMBER_WORDS = {"single": 1, "twin": 2, "duo": 2, "double": 2, "triple": 3, "trio": 3}
_FRACTION_WORDS = {"half": Fraction(1, 2), "quarter": Fraction(1, 4)}
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 8, 10, 12, 16, 32, 64})
_COMPOUNDS = {("ft", "in"), ("lb", "oz"), ("h", "min")}
TEMPERATURE = "temperature"
# What amounts of articles are stated in, beside which a name may have another number.
_SOLD_BY = frozenset({COUNT, "mass", "volume"})
_BELOW_ZERO = frozenset({"-", "minus"})
_SIGNS = _BELOW_ZERO | {"+", "plus"}
# With these an atom may begin that does not begin with digits.
NUMBER_BEGINNINGS = NUMBER_WORDS.keys() | _FRACTION_WORDS.keys() | _SIGNS
# Lower case would make two characters of the first.
_TURKISH = str.maketrans("İı", "ii")
_SPELLED = re.compile(r"[\s.·\-]+")
# Of `2 a day` and `3 in 1` the unit-like word is none.
_NOT_AMPERE_BEFORE = frozenset("day week month year pack box piece".split())
# Of `5A级` and `6S手机` they are a grade and a model.
_NO_UNIT_BESIDE_UNSPACED = frozenset("acdfsy")
_NOT_INCH_BEFORE = frozenset("one a an the all".split())


SEVERAL = frozenset("packs packets cases sets boxes bundles cartons lots trays kits multipacks crates".split())
HOLDS = SEVERAL | frozenset("pack pk packet case set box bundle carton lot tray kit multipack crate".split())


class Number(NamedTuple):
    """A value and the position of the first token behind it."""

    value: Fraction
    end: int


class Atom(NamedTuple):
    """A number with its unit, if it has one, and the position of the first token behind both."""

    value: Fraction
    unit: Unit | None
    measure: Measure | None
    end: int


class Reader:
    """A name as tokens. All methods take the position of a token and return None where they read nothing."""

    def __init__(self, text: str) -> None:
        self.text = plain(text)
        self.tokens = tokens(self.text)
        self.words = frozenset(token.text for token in self.tokens if token.kind == WORD)
        self._word_at = {at: token.text for at, token in enumerate(self.tokens) if token.kind != NUMBER}
        # Each form of quantity that may begin at a position asks for the same number there, and a long row that means
        # nothing is read again from each of its parts.
        self._numbers: dict[int, Number | None] = {}
        self._atoms: dict[int, Atom | None] = {}

    def at(self, position: int) -> Token | None:
        return self.tokens[position] if 0 <= position < len(self.tokens) else None

    def word(self, position: int) -> str:
        """Return the word or sign at a position, or an empty text."""
        return self._word_at.get(position, "")

    def glued(self, position: int) -> bool:
        """Return whether a token follows the one before it without white space."""
        token = self.at(position)
        return token is not None and not token.spaced

    def is_number(self, position: int) -> bool:
        """Return whether the token at a position is a number in digits."""
        return 0 <= position < len(self.tokens) and position not in self._word_at

    def number(self, position: int) -> Number | None:
        """Return the number that begins at a position: digits, a fraction, a mixed number or a number word."""
        if position not in self._numbers:
            self._numbers[position] = self._read_number(position)
        return self._numbers[position]

    def _read_number(self, position: int) -> Number | None:
        word = self.word(position)
        if word in NUMBER_WORDS:
            return Number(NUMBER_WORDS[word], position + 1)
        if word in _FRACTION_WORDS:
            return Number(_FRACTION_WORDS[word], position + 1 + (self.word(position + 1) in {"a", "an"}))
        if not self.is_number(position):
            return None
        fraction = self._fraction(position)
        if fraction is not None:
            return fraction
        value = value_of(self.tokens[position].text)
        grouped = self._grouped(position, value) or self._grouped_by_point(position, value)
        return self._mixed(position, value) or grouped or Number(value, position + 1)

    def _fraction(self, position: int) -> Number | None:
        if not (self.word(position + 1) == "/" and self.is_number(position + 2)):
            return None
        if not (self.tokens[position].text.isdecimal() and self.tokens[position + 2].text.isdecimal()):
            return None
        over, under = int(self.tokens[position].text), int(self.tokens[position + 2].text)
        if under not in _DENOMINATORS or over >= under or not over:
            return None
        return Number(Fraction(over, under), position + 3)

    def _mixed(self, position: int, whole: Fraction) -> Number | None:
        if whole.denominator != 1 or not whole:
            return None
        hyphen = self.word(position + 1) == "-" and self.glued(position + 1) and self.glued(position + 2)
        fraction = self._fraction(position + 2) if hyphen else self._fraction(position + 1)
        return Number(whole + fraction.value, fraction.end) if fraction else None

    def _grouped(self, position: int, value: Fraction) -> Number | None:
        """Read `10 000 mAh`: groups of three digits that end in 00, before a unit that is not of data.

        `2 500 sheets` may be two of 500, and `Roast 8 200 g` is number 8; `1 000 sheets` is a thousand, as no amount
        begins with a zero.
        """
        if not self.tokens[position].text.isdecimal() or not 0 < value < 1000 or self.word(position - 1) in {"in", "-"}:
            return None
        end = position + 1
        while self.is_number(end) and re.fullmatch(r"\d{3}", self.tokens[end].text):
            value = value * 1000 + int(self.tokens[end].text)
            end += 1
        if end == position + 1 or value % 100:
            return None
        unit = self._unit(end, value, "")
        if unit is None or unit[0].dimension in {"memory", "data rate"}:
            return None
        apart = unit[0].dimension in _SOLD_BY and not self.tokens[position + 1].text.startswith("0")
        return None if apart else Number(value, end)

    def _grouped_by_point(self, position: int, value: Fraction) -> Number | None:
        """Read `1.000 g`: three digits that end in 0 behind a point are thousands where no name states thousandths."""
        if not re.fullmatch(r"[1-9]\d{0,2}\.\d\d0", self.tokens[position].text):
            return None
        unit = self._unit(position + 1, 1000 * value, "")
        return Number(1000 * value, position + 1) if unit and unit[0].whole else None

    def atom(self, position: int) -> Atom | None:
        """Return a number and its unit, if any; both parts of `6 ft 6 in`; a sign only of temperatures."""
        if position not in self._atoms:
            self._atoms[position] = self._read_atom(position)
        return self._atoms[position]

    def _read_atom(self, position: int) -> Atom | None:
        sign = self._sign(position)
        number = self.number(position + 1 if sign else position)
        if number is None:
            return None
        unit, end = self._unit(number.end, number.value, self.word(position - 1)) or (None, number.end)
        if unit is None:
            return None if sign else Atom(number.value, None, None, number.end)
        if sign and unit.dimension != TEMPERATURE:
            return None
        value = -number.value if sign in _BELOW_ZERO else number.value
        base = binary_multiples_as_decimal(unit, value)
        more = self._smaller_part(unit, end)
        if more is not None:
            base, end = base + more[0], more[1]
        return Atom(value, unit, Measure(unit.dimension, base, unit.noun), end)

    def below_zero(self, position: int) -> Atom | None:
        """Return a number with a minus and without a unit: the first of `-20 to 50 °C`."""
        number = self.number(position + 1) if self._sign(position) in _BELOW_ZERO else None
        return Atom(-number.value, None, None, number.end) if number else None

    def _sign(self, position: int) -> str:
        """Return the sign of a number, or an empty text; a hyphen between words is none."""
        sign = self.word(position)
        if sign in {"-", "+"} and not (self.tokens[position].spaced and self.glued(position + 1)):
            return ""
        return sign if sign in _SIGNS else ""

    def _smaller_part(self, unit: Unit, position: int) -> tuple[Fraction, int] | None:
        number = self.number(position) if self.is_number(position) else None
        rest = self._unit(number.end, number.value, "") if number else None
        if number is None or rest is None:
            return None
        smaller, end = rest
        fits = any((unit, smaller) == (units()[large], units()[small]) for large, small in _COMPOUNDS)
        if not fits or smaller.in_base(number.value) >= unit.size:
            return None
        return smaller.in_base(number.value), end

    def _unit(self, position: int, value: Fraction, before: str) -> tuple[Unit, int] | None:
        """Return the unit that begins at a position and the position behind it; the longest spelling wins."""
        if self.word(position) == "-" and self.glued(position) and self.glued(position + 1):
            position += 1
        first = self.at(position)
        if first is None or first.kind == NUMBER:
            return None
        for end in range(min(position + SPELLED_TOKENS_MAX, len(self.tokens)), position, -1):
            if self.tokens[end - 1].text in {"-", "·"}:
                continue
            written = self.text[first.start : self.tokens[end - 1].end].translate(_TURKISH).lower()
            spelling = _SPELLED.sub(" ", written).strip()
            unit = resolve(spelling, value, self.words, before)
            if unit is not None and self._ends(end) and not self._only_looks_so(spelling, position, end):
                return unit, end + (self.word(end) == "." and self.glued(end) and not self.glued(end + 1))
        return None

    def _ends(self, end: int) -> bool:
        """Return whether a unit may end before a position: no letter or digit follows it without a space."""
        following, last = self.at(end), self.tokens[end - 1]
        if following is None or following.spaced or following.kind == SIGN or last.kind == SIGN:
            return True
        return not last.text.isascii() or unspaced(following) or (following.text == "x" and self.is_number(end + 1))

    def _only_looks_so(self, spelling: str, position: int, end: int) -> bool:
        if self.word(end) == "of" and self.word(position) in HOLDS:
            held = self.atom(end + 1)  # of `size 3 pack of 144` the 3 counts nothing, of `6 pack of 330 ml` the 6 does
            if held is not None and (held.unit is None or held.unit.dimension == COUNT):
                return True
        beside_unspaced = self.glued(end) and unspaced(self.at(end))
        if beside_unspaced and (spelling in _NO_UNIT_BESIDE_UNSPACED or self._is_3m(position)):
            return True
        if spelling == "in":
            following = end + (self.word(end) == "-")
            one = self.is_number(following) and self.tokens[following].text == "1"
            return one or (not self.glued(position) and self.word(end) in _NOT_INCH_BEFORE)
        if spelling == "a":
            return not self.glued(position) and self.word(end) in _NOT_AMPERE_BEFORE
        if spelling in {"'", '"'}:
            return not self.glued(position) or (self.word(end) == "s" and self.glued(end))
        return position == 1 and self._is_3m(position)

    def _is_3m(self, position: int) -> bool:
        """Return whether a unit and the number before it spell the brand 3M."""
        return self.glued(position) and self.text[self.tokens[position].start - 1 : self.tokens[position].end] == "3M"


# Sawn timber is sold by its nominal inches and its length in feet: `2x4x8 ft` is 2 in x 4 in x 8 ft.
_TIMBER_THICKNESS = frozenset({1, 2, 4, 6})
_TIMBER_WIDTH = frozenset({2, 3, 4, 6, 8, 10, 12})
_TIMBER_FEET = frozenset({6, 8, 10, 12, 14, 16, 20, 24})
_TIMES = frozenset({"x", "*", "by"})
_TO = frozenset({"-", "to", "~", "or"})


class ReadQuantity(NamedTuple):
    """A quantity and the position of the first token behind it."""

    quantity: Quantity
    end: int


def read_range(reader: Reader, position: int) -> ReadQuantity | None:
    """Return the range that begins at a position: `18-24 V`, `5 to 8 kg`, `-20 to 50 °C`, `6 or 8 pack`."""
    low = reader.atom(position) or reader.below_zero(position)
    if low is None or reader.word(low.end) not in _TO:
        return None
    if reader.word(low.end) == "-" and reader.glued(low.end) != reader.glued(low.end + 1):
        return None
    high = reader.atom(low.end + 1)
    if high is None or high.unit is None or high.measure is None or low.unit not in {None, high.unit}:
        return None
    if low.value >= high.value or (low.value < 0 and high.unit.dimension != TEMPERATURE):
        return None
    measures = (Measure(high.unit.dimension, high.unit.in_base(low.value), high.unit.noun), high.measure)
    return ReadQuantity(Quantity(measures, "range"), high.end)


def read_row(reader: Reader, position: int) -> ReadQuantity | None:
    """Return the quantity that begins at a position: one number with its unit, or several with `x` between them."""
    first = reader.atom(position)
    if first is None:
        return None
    row = [first]
    while reader.word(row[-1].end) in _TIMES:
        following = reader.atom(row[-1].end + 1)
        if following is None:
            break
        row.append(following)
    if len(row) == 1:
        if first.measure is None or first.unit is None:
            return None
        return ReadQuantity(_single(first.unit, first.measure), first.end)
    quantity = _row(row)
    return ReadQuantity(quantity, row[-1].end) if quantity else None


def _single(unit: Unit, measure: Measure) -> Quantity:
    return Quantity((measure,), container=unit.pack)


def _row(row: Sequence[Atom]) -> Quantity | None:
    named = [number for number in row if number.unit is not None]
    if not named:
        return sides([Measure(BARE, number.value) for number in row])
    unit = named[-1].unit
    if unit is None:
        return None
    if unit.dimension != "length":
        return _pack(row, named)
    if _is_timber(row):
        inch, foot = units()["inch"], units()["foot"]
        return sides([Measure("length", (foot if number is row[-1] else inch).in_base(number.value)) for number in row])
    return sides([one.measure or _with_unit_of_neighbour(row, position) for position, one in enumerate(row)])


def _pack(row: Sequence[Atom], named: Sequence[Atom]) -> Quantity | None:
    """Read a row with one measure as so many of it; a row of several measures, as 5 V x 2 A, is none."""
    measured = named[0]
    if len(named) > 1:
        # In `24 x 330 ml x 2 pack` and `330 ml x 24 cans` the measure is what is not counted.
        others = [one for one in named if one.unit and one.unit.dimension != COUNT]
        if len(others) != 1:
            return sides([one.measure or Measure(BARE, one.value) for one in row]) if not others else None
        measured = others[0]
    packs = Fraction(1)
    for number in row:
        packs *= 1 if number is measured else number.value
    if measured.measure is None or packs.denominator != 1:
        return None
    return Quantity((measured.measure,), packs=packs)


def _is_timber(row: Sequence[Atom]) -> bool:
    if len(row) != 3 or row[0].unit or row[1].unit or row[2].unit != units()["foot"]:
        return False
    thickness, width, feet = (number.value for number in row)
    return (
        thickness in _TIMBER_THICKNESS
        and width in _TIMBER_WIDTH
        and feet in _TIMBER_FEET
        and thickness <= width
        and (feet > width or feet >= min(_TIMBER_FEET))
    )


def _with_unit_of_neighbour(row: Sequence[Atom], position: int) -> Measure:
    """Read a side without a unit in that of the next side that has one, else of the last."""
    unit = next((one.unit for one in (*row[position:], *reversed(row[:position])) if one.unit), None)
    value = row[position].value
    return Measure("length", unit.in_base(value)) if unit else Measure(BARE, value)
