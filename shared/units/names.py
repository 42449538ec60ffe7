"""Quantities in names: sizes, amounts, the content of an article, and whether two names state the same."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from shared.text import indexed_words, stems
from shared.units.quantity import BARE, COUNT, Measure, Quantity, sides, units
from shared.units.reader import (
    HOLDS,
    NUMBER,
    NUMBER_BEGINNINGS,
    PACK_NUMBER_WORDS,
    SEVERAL,
    TEXT_CHARACTERS_MAX,
    WORD,
    Atom,
    Reader,
    ReadQuantity,
    Token,
    plain,
    read_range,
    read_row,
    resolve,
    unspaced,
)

# Of `Ham-200g` a weight is read, of `WD-40 ml` and `SSD-512GB` nothing: they are models.
_WEIGHED = frozenset({"mass", "volume"})
_WORD_LETTERS_MIN = 3
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


def read_size(reader: Reader, position: int) -> ReadQuantity | None:
    """Return the size of clothes or shoes that begins at a position."""
    return (
        _legs(reader, position)
        or _letters(reader, position)
        or _after_size(reader, position)
        or _after_system(reader, position)
        or _before_system(reader, position)
    )


def read_thread(reader: Reader, position: int) -> ReadQuantity | None:
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


def read_grade(reader: Reader, position: int) -> ReadQuantity | None:
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


def _legs(reader: Reader, position: int) -> ReadQuantity | None:
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


def _letters(reader: Reader, position: int) -> ReadQuantity | None:
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


def _apostrophe(reader: Reader, position: int) -> bool:
    return reader.word(position - 1) == "'" and reader.glued(position)


def _after_size(reader: Reader, position: int) -> ReadQuantity | None:
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


def _after_system(reader: Reader, position: int) -> ReadQuantity | None:
    size_follows = reader.word(position + 1) in _SIZE
    system = (_SYSTEMS_BESIDE_SIZE if size_follows else _SYSTEMS).get(reader.word(position))
    number = _plain_number(reader, position + 1 + size_follows) if system else None
    return ReadQuantity(_size(system, number[0]), number[1]) if system and number else None


def _before_system(reader: Reader, position: int) -> ReadQuantity | None:
    number = _plain_number(reader, position)
    system = _SYSTEMS.get(reader.word(number[1])) if number else None
    return ReadQuantity(_size(system, number[0]), number[1] + 1) if system and number else None


def _plain_number(reader: Reader, position: int) -> tuple[Fraction, int] | None:
    """Return a number that could be a size: no unit follows it."""
    if not reader.is_number(position):
        return None
    atom = reader.atom(position)
    if atom is None or atom.unit is not None or not 0 < atom.value <= SHOE_SIZE_MAX or reader.word(atom.end) == "x":
        return None
    return atom.value, atom.end


PACKABLE = frozenset({"mass", "volume", "memory"})
# Every word and sign with which `_read_at` finds something, besides those that begin with an x.
_BEGINNINGS = HOLDS | PACK_NUMBER_WORDS.keys() | NUMBER_BEGINNINGS | SIZE_BEGINNINGS | {"dozen"}
# `8.4 oz (250 ml)` states one content twice; labels round.
RESTATED_WITHIN = Fraction(3, 200)


class Span(NamedTuple):
    """A quantity with the tokens that spell it, the last one excluded."""

    quantity: Quantity
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The quantities of a name in their order, how each is spelled, and the name's other text.

    `ends` is true where the name ends with one.
    """

    quantities: tuple[Quantity, ...]
    spelled: tuple[str, ...]
    rest: str
    ends: bool


_KEPT_CHARACTERS_MAX = 500


@lru_cache(maxsize=65_536)
def read(text: str) -> Reading:
    """Return the quantities of a name, and what remains without them."""
    if _states_none(text):
        return Reading((), (), text, ends=False)
    reader = Reader(text)
    spans = list(_spans(reader))
    rest, end = "", 0
    for span in spans:
        rest += reader.text[end : reader.tokens[span.start].start] + " "
        end = reader.tokens[span.end - 1].end
    kept = _packed(_without_restated(reader, spans))
    spelled = tuple(reader.text[reader.tokens[one.start].start : reader.tokens[one.end - 1].end] for one in kept)
    ends = bool(spans) and spans[-1].end == len(reader.tokens)
    return Reading(tuple(one.quantity for one in kept), spelled, rest + reader.text[end:], ends)


def same_quantities(mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> bool:
    """Return whether two names say the same amounts, in any order."""
    left = list(theirs)
    for quantity in mine:
        equal = next((other for other in left if quantity.same_as(other)), None)
        if equal is None:
            return False
        left.remove(equal)
    return not left


def _states_none(text: str) -> bool:
    """Return whether a text is plainly words alone with which no quantity begins, as most queries are."""
    if not (text.isascii() and text.replace(" ", "").isalpha() and len(text) <= TEXT_CHARACTERS_MAX):
        return False
    words = text.lower().split()
    return _BEGINNINGS.isdisjoint(words) and not any(word.startswith("x") for word in words)


def _spans(reader: Reader) -> Iterator[Span]:
    position = 0
    while position < len(reader.tokens):
        reading = _read_at(reader, position) if _may_begin(reader.tokens[position]) else None
        if reading is None:
            position += 1
        else:
            yield Span(reading.quantity, position, reading.end)
            position = reading.end


def _may_begin(token: Token) -> bool:
    """Return whether a quantity can begin with a token: few words of a name do, and a look at each costs much."""
    return token.kind == NUMBER or token.text in _BEGINNINGS or token.text.startswith("x")


def _read_at(reader: Reader, position: int) -> ReadQuantity | None:
    if _inside_model_number(reader, position):
        return None
    return (
        _pack_of(reader, position)
        or read_thread(reader, position)
        or read_grade(reader, position)
        or read_size(reader, position)
        or _number_word_pack(reader, position)
        or read_range(reader, position)
        or read_row(reader, position)
        or _dozen(reader, position)
    )


def _inside_model_number(reader: Reader, position: int) -> bool:
    """Return whether a number continues a word, as in DDR4 and WD-40, or a number, as in 1.000.5: it counts nothing.

    A weight or a volume behind a hyphen is none: `Ham-200g`.
    """
    if not reader.glued(position) or not reader.is_number(position):
        return False
    before = reader.tokens[position - 1]
    if before.text in {".", ","} and reader.glued(position - 1) and reader.is_number(position - 2):
        return True
    if before.text == "-" and reader.glued(position - 1):
        before, atom = reader.tokens[position - 2], reader.atom(position)
        if atom is not None and atom.unit is not None and atom.unit.dimension in _WEIGHED and before.kind == WORD:
            return len(before.text) < _WORD_LETTERS_MIN
    return before.kind == WORD and before.text.isascii()


def _pack_of(reader: Reader, position: int) -> ReadQuantity | None:
    """Read `pack of 6`, `2 packs of 6`, `6 per pack`, `x4` behind a name."""
    if reader.word(position) in HOLDS and reader.word(position + 1) == "of":
        number = reader.number(position + 2)
        atom = reader.atom(position + 2)
        if number and atom and (atom.unit is None or atom.unit.dimension == COUNT):
            noun = atom.unit.noun if atom.unit else ""
            up_to = _most(reader, number.end)
            if up_to and up_to.value > number.value:
                counts = (Measure(COUNT, number.value), Measure(COUNT, up_to.value))
                return ReadQuantity(Quantity(counts, "range"), up_to.end)
            return ReadQuantity(_count(number.value * (atom.unit.size if atom.unit else 1), noun), atom.end)
    packs = reader.number(position)
    if packs and reader.word(packs.end) in SEVERAL and reader.word(packs.end + 1) == "of":
        inner = _pack_of(reader, packs.end)
        if inner:
            return ReadQuantity(_count(packs.value * inner.quantity.measures[0].value), inner.end)
    if reader.is_number(position) and reader.word(position + 1) in {"per", "/"} and reader.word(position + 2) in HOLDS:
        number = reader.number(position)
        return ReadQuantity(_count(number.value), position + 3) if number else None
    return _times(reader, position)


def _most(reader: Reader, position: int) -> Atom | None:
    """Return the second number of a pack `of 3 to 5`, `of 6 or 8`; None where it has a unit."""
    atom = reader.atom(position + 1) if reader.word(position) in {"to", "or"} else None
    return atom if atom and atom.unit is None else None


def _times(reader: Reader, position: int) -> ReadQuantity | None:
    """Read the count behind a name: `x4`, `Teabag x 100`, `装x6盒`; not the X of a model."""
    number = reader.number(position + 1) if reader.is_number(position + 1) else None
    begins = position < len(reader.tokens) and (reader.tokens[position].spaced or unspaced(reader.at(position - 1)))
    if reader.word(position) != "x" or number is None or not begins:
        return None
    following = reader.at(number.end)
    last = following is None or unspaced(following) or (following.kind != WORD and reader.glued(position + 1))
    lower_case = reader.text[reader.tokens[position].start] == "x"
    return ReadQuantity(_count(number.value), number.end) if last and lower_case else None


def _number_word_pack(reader: Reader, position: int) -> ReadQuantity | None:
    """Read `twin pack`, `triple-pack`."""
    if reader.word(position) not in PACK_NUMBER_WORDS:
        return None
    end = position + 1 + (reader.word(position + 1) == "-")
    unit = units().get(reader.word(end))
    if unit is None or not unit.pack or unit.noun:
        return None
    return ReadQuantity(_count(Fraction(PACK_NUMBER_WORDS[reader.word(position)])), end + 1)


def _dozen(reader: Reader, position: int) -> ReadQuantity | None:
    if reader.word(position) != "dozen":
        return None
    return ReadQuantity(_count(Fraction(12), container=False), position + 1)


def _count(value: Fraction, noun: str = "", *, container: bool = True) -> Quantity:
    return Quantity((Measure(COUNT, value, noun),), container=container)


def _without_restated(reader: Reader, spans: Sequence[Span]) -> list[Span]:
    """Drop the total of `16GB (2x8GB)` and the second of `8.4 oz (250 ml)`, `8oz 227g`: they state one content twice.

    Side by side, without a sign of it, only what is rounded: two equal amounts may be two.
    """
    kept: list[Span] = []
    for span in spans:
        before = kept[-1] if kept else None
        between = "".join(reader.word(position) for position in range(before.end, span.start)) if before else ""
        sign = between in {"(", "[", "/", "="}
        beside = between in {"", ")"} and before and span.quantity != before.quantity
        if before and (sign or beside) and _restates(before.quantity, span.quantity):
            if span.quantity.packs > 1:
                kept[-1] = span
            continue
        kept.append(span)
    return kept


def _restates(first: Quantity, second: Quantity) -> bool:
    if (first.form, second.form) != ("single", "single") or first.dimension != second.dimension:
        return False
    if first.dimension == COUNT:
        return False
    mine, theirs = (quantity.measures[0].value * quantity.packs for quantity in (first, second))
    return abs(mine - theirs) <= RESTATED_WITHIN * abs(mine)


def _packed(spans: list[Span]) -> list[Span]:
    """Make of `500 ml` and `24-pack`, wherever they are in a name, 24 x 500 ml."""
    single = [span for span in spans if span.quantity.form == "single"]
    contents = [span for span in single if span.quantity.dimension in PACKABLE]
    packs = [span for span in single if span.quantity.container]
    if len(contents) != 1 or len(packs) != 1 or contents[0].quantity.packs != 1:
        return spans
    count = packs[0].quantity.measures[0].value * packs[0].quantity.packs
    merged = contents[0]._replace(quantity=replace(contents[0].quantity, packs=count))
    return [merged if span is contents[0] else span for span in spans if span is not packs[0]]


PER = {"mass": ("kg", Fraction(1000)), "volume": ("l", Fraction(1000)), COUNT: ("piece", Fraction(1))}
"""For each dimension the unit that prices are given for, and how many base units that is."""
ATTRIBUTES = (
    "net_content",
    "contents",
    "content",
    "quantity",
    "size",
    "pack_size",
    "unit_size",
    "volume",
    "net_weight",
)
"""Attributes that state a content, the first that does wins."""
# Of a `4 port` switch or a `3 ply` tissue nothing is sold by the port or the ply.
SOLD_BY_THE_PIECE = frozenset(
    {
        *("", "can", "bottle", "sachet", "box", "roll", "sheet", "tablet", "capsule", "softgel", "pill", "strip"),
        *("pod", "bar", "cup", "wipe", "slice", "serving", "nappy", "pair", "wash"),
    }
)


class Content(NamedTuple):
    """An amount of kilograms, litres or pieces (`per`), and where it was read: `name` or an attribute."""

    per: str
    amount: Fraction
    read_in: str


def contents(name: str, attributes: Mapping[str, Any]) -> list[Content]:
    """Return what one article holds, at most once for each of kg, l and piece; nothing where a name is ambiguous."""
    plain_content = _plain_content(name)
    if plain_content is not None:
        return [plain_content]
    sources = [("name", name)]
    sources += [(f"attributes.{key}", str(attributes[key])) for key in ATTRIBUTES if attributes.get(key)]
    for read_in, text in sources:
        amounts = _of(read(text).quantities)
        if amounts:
            return [Content(per, amount, read_in) for per, amount in amounts.items()]
    return []


# Words, and one amount at the end: most names of food. Loads read the sizes of millions.
_ASCII_WORD = re.compile("[a-z]+")
_PLAIN = re.compile(
    r"(?P<words>[a-z]+(?:(?: & | - |[ '-])[a-z]+)*) (?P<number>[1-9][0-9]{0,4}) ?(?P<unit>kg|g|ml|l)",
    re.IGNORECASE | re.ASCII,
)


def _plain_content(name: str) -> Content | None:
    """Return what a plain name holds, as reading it by the whole grammar would say; None where a name is not plain."""
    match = _PLAIN.fullmatch(name)
    if match is None or len(name) > TEXT_CHARACTERS_MAX:
        return None
    words, value = _ASCII_WORD.findall(match["words"].lower()), Fraction(match["number"])
    if not _BEGINNINGS.isdisjoint(words) or any(word.startswith("x") for word in words):
        return None
    unit = resolve(match["unit"].lower(), value, frozenset(words), words[-1])
    if unit is None or unit.dimension not in PER:
        return None
    per, size = PER[unit.dimension]
    return Content(per, unit.in_base(value) / size, "name")


def _of(quantities: Sequence[Quantity]) -> dict[str, Fraction]:
    amounts: dict[str, set[Fraction]] = {}
    for quantity in quantities:
        if quantity.form != "single" or quantity.dimension not in PER:
            continue
        if quantity.dimension == COUNT and quantity.nouns[0] not in SOLD_BY_THE_PIECE:
            continue
        per, size = PER[quantity.dimension]
        amounts.setdefault(per, set()).add(quantity.measures[0].value * quantity.packs / size)
        if quantity.dimension != COUNT and quantity.packs > 1:
            amounts.setdefault("piece", set()).add(quantity.packs)
    return {per: contents.pop() for per, contents in amounts.items() if len(contents) == 1 and min(contents) > 0}


_FILLERS = frozenset({"of", "pack", "per"})
_LETTER_BESIDE_DIGIT = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")


class Comparison(NamedTuple):
    """The common parts of two names: amounts, other words."""

    quantities: bool
    words: bool

    @property
    def equal(self) -> bool:
        """Whether the names are equal but for spelling."""
        return self.quantities and self.words


def compare(first: str, second: str) -> Comparison:
    mine, theirs = read(first), read(second)
    return Comparison(same_quantities(mine.quantities, theirs.quantities), _words(mine.rest) == _words(theirs.rest))


def _words(rest: str) -> list[str]:
    words = stems(indexed_words(_LETTER_BESIDE_DIGIT.sub(" ", plain(rest))))
    return sorted(word for word in words if word not in _FILLERS)


def term(quantity: Quantity) -> str:
    """Return the term of a quantity. It has no spaces, and its last character keeps stemming away from it."""
    return quantity.generic.text.replace(" ", "_") + "_"


def indexed_quantities(text: str) -> list[str]:
    """Return every term under which a text is found: its quantities, and of packs and sides each measure alone."""
    terms: dict[str, None] = {}
    # Descriptions are read once: 65,536 of them would take hundreds of megabytes of the process that builds an index.
    reading = read(text) if len(text) <= _KEPT_CHARACTERS_MAX else read.__wrapped__(text)
    for quantity in reading.quantities:
        terms[term(quantity)] = None
        for measure in quantity.measures:
            if measure.dimension != BARE:
                terms[term(Quantity((measure,)))] = None
    return list(terms)
