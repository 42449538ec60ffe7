"""A name as tokens, of which numbers with their units are read. Pure."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from shared.units.ambiguous_units import resolve
from shared.units.quantity import COUNT, SPELLED_TOKENS_MAX, Measure, Unit, units
from shared.units.tokens import NUMBER, SIGN, WORD, Token, plain, tokens, unspaced, value_of

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


def binary_multiples_as_decimal(unit: Unit, value: Fraction) -> Fraction:
    """Return a value in base units; 1024 of a byte prefix are one of the next, as sellers mean the same by both."""
    while unit.dimension == "memory" and value >= 1024 and value % 1024 == 0:
        value /= 1024
        unit = replace(unit, size=unit.size * 1000)
    return unit.in_base(value)


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


class NameReader:
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
        grouped = self._grouped_number(position, value) or self._grouped_by_point(position, value)
        return self._mixed_number(position, value) or grouped or Number(value, position + 1)

    def _fraction(self, position: int) -> Number | None:
        if not (self.word(position + 1) == "/" and self.is_number(position + 2)):
            return None
        if not (self.tokens[position].text.isdecimal() and self.tokens[position + 2].text.isdecimal()):
            return None
        over, under = int(self.tokens[position].text), int(self.tokens[position + 2].text)
        if under not in _DENOMINATORS or over >= under or not over:
            return None
        return Number(Fraction(over, under), position + 3)

    def _mixed_number(self, position: int, whole: Fraction) -> Number | None:
        if whole.denominator != 1 or not whole:
            return None
        hyphen = self.word(position + 1) == "-" and self.glued(position + 1) and self.glued(position + 2)
        fraction = self._fraction(position + 2) if hyphen else self._fraction(position + 1)
        return Number(whole + fraction.value, fraction.end) if fraction else None

    def _grouped_number(self, position: int, value: Fraction) -> Number | None:
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
