"""Quantities in names: sizes, amounts, the content of an article, and whether two names state the same."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from shared.text import indexed_words, stems
from shared.units.ambiguous_units import resolve
from shared.units.quantity import BARE, COUNT, Measure, Quantity, units
from shared.units.reader import HOLDS, NUMBER_BEGINNINGS, PACK_NUMBER_WORDS, SEVERAL, Atom, NameReader
from shared.units.rows import ReadQuantity, read_range, read_row
from shared.units.sizes import SIZE_BEGINNINGS, read_grade, read_size, read_thread
from shared.units.tokens import NUMBER, TEXT_CHARACTERS_MAX, WORD, Token, plain, unspaced

# Of `Ham-200g` a weight is read, of `WD-40 ml` and `SSD-512GB` nothing: they are models.
_WEIGHED = frozenset({"mass", "volume"})
_WORD_LETTERS_MIN = 3
# Of a number behind a letter, as in `ab12`, nothing is read.
_NUMBER_BEGINS, _ASCII_WORD = re.compile("(?<![A-Za-z0-9])[0-9]"), re.compile("[a-z]+")
_WORD_WITH_X = re.compile(r"(?<![a-z])x", re.IGNORECASE)
_MILLION = 10**6


PACKABLE = frozenset({"mass", "volume", "memory"})
# Every word and sign with which `_read_at` finds something, besides those that begin with an x.
_BEGINNINGS = HOLDS | PACK_NUMBER_WORDS.keys() | NUMBER_BEGINNINGS | SIZE_BEGINNINGS | {"dozen"}
# `8.4 oz (250 ml)` states one content twice; labels round.
RESTATED_WITHIN = Fraction(3, 200)

_KEPT_CHARACTERS_MAX = 500
CONTENTS_RULE = 1
"""Version of what `contents` says of a name. Raise it with every change of an answer: kept ones are read anew then."""
PER = {
    "mass": ("kg", Fraction(1000)),
    "volume": ("l", Fraction(1000)),
    COUNT: ("piece", Fraction(1)),
    "length": ("m", Fraction(1000)),
}
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
# Cable, film and cloth are sold by the metre, foot or yard; of a pan, pads or a screen inches and centimetres say how
# large one is.
_SOLD_BY_LENGTH_MM_MIN = 304
_LAST_WORD = re.compile(r"(?:[^\W\d_]+|')\Z")
# Of a `4 port` switch or a `3 ply` tissue nothing is sold by the port or the ply.
SOLD_BY_THE_PIECE = frozenset(
    {
        *("", "can", "bottle", "sachet", "box", "roll", "sheet", "tablet", "capsule", "softgel", "pill", "strip"),
        *("pod", "bar", "cup", "wipe", "slice", "serving", "nappy", "pair", "wash"),
    }
)
# Words, and one amount at the end: most names of food. Loads read the sizes of millions.
_PLAIN = re.compile(
    r"(?P<words>[a-z]+(?:(?: & | - |[ '-])[a-z]+)*) (?P<number>[1-9][0-9]{0,4}) ?(?P<unit>kg|g|ml|l|pack)",
    re.IGNORECASE | re.ASCII,
)
_FILLERS = frozenset({"of", "pack", "per"})
_LETTER_BESIDE_DIGIT = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")


class Span(NamedTuple):
    """A quantity with the tokens that spell it, the last one excluded."""

    quantity: Quantity
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class QuantityReading:
    """The quantities of a name in their order, how each is spelled, and the name's other text.

    `ends` is true where the name ends with one.
    """

    quantities: tuple[Quantity, ...]
    spelled: tuple[str, ...]
    rest: str
    ends: bool


@lru_cache(maxsize=65_536)
def read(text: str) -> QuantityReading:
    """Return the quantities of a name, and what remains without them."""
    if not _may_state_some(text):
        return QuantityReading((), (), plain(text), ends=False)
    reader = NameReader(text)
    spans = list(_spans(reader))
    rest, end = "", 0
    for span in spans:
        rest += reader.text[end : reader.tokens[span.start].start] + " "
        end = reader.tokens[span.end - 1].end
    kept = _pack(_without_restated(reader, spans))
    spelled = tuple(reader.text[reader.tokens[one.start].start : reader.tokens[one.end - 1].end] for one in kept)
    ends = bool(spans) and spans[-1].end == len(reader.tokens)
    return QuantityReading(tuple(one.quantity for one in kept), spelled, rest + reader.text[end:], ends)


def same_quantities(mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> bool:
    """Return whether two names say the same amounts, in any order."""
    left = list(theirs)
    for quantity in mine:
        equal = next((other for other in left if quantity.same_as(other)), None)
        if equal is None:
            return False
        left.remove(equal)
    return not left


def _may_state_some(text: str) -> bool:
    """Return False only of a text without a number and without a word with which a quantity begins."""
    if not text.isascii() or _NUMBER_BEGINS.search(text):
        return True
    words = _ASCII_WORD.findall(text.lower())
    return not _BEGINNINGS.isdisjoint(words) or _WORD_WITH_X.search(text) is not None


def _spans(reader: NameReader) -> Iterator[Span]:
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


def _read_at(reader: NameReader, position: int) -> ReadQuantity | None:
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


def _inside_model_number(reader: NameReader, position: int) -> bool:
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


def _pack_of(reader: NameReader, position: int) -> ReadQuantity | None:
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


def _most(reader: NameReader, position: int) -> Atom | None:
    """Return the second number of a pack `of 3 to 5`, `of 6 or 8`; None where it has a unit."""
    atom = reader.atom(position + 1) if reader.word(position) in {"to", "or"} else None
    return atom if atom and atom.unit is None else None


def _times(reader: NameReader, position: int) -> ReadQuantity | None:
    """Read the count behind a name: `x4`, `Teabag x 100`, `装x6盒`; not the X of a model."""
    number = reader.number(position + 1) if reader.is_number(position + 1) else None
    begins = position < len(reader.tokens) and (reader.tokens[position].spaced or unspaced(reader.at(position - 1)))
    if reader.word(position) != "x" or number is None or not begins:
        return None
    following = reader.at(number.end)
    last = following is None or unspaced(following) or (following.kind != WORD and reader.glued(position + 1))
    lower_case = reader.text[reader.tokens[position].start] == "x"
    return ReadQuantity(_count(number.value), number.end) if last and lower_case else None


def _number_word_pack(reader: NameReader, position: int) -> ReadQuantity | None:
    """Read `twin pack`, `triple-pack`."""
    if reader.word(position) not in PACK_NUMBER_WORDS:
        return None
    end = position + 1 + (reader.word(position + 1) == "-")
    unit = units().get(reader.word(end))
    if unit is None or not unit.pack or unit.noun:
        return None
    return ReadQuantity(_count(Fraction(PACK_NUMBER_WORDS[reader.word(position)])), end + 1)


def _dozen(reader: NameReader, position: int) -> ReadQuantity | None:
    if reader.word(position) != "dozen":
        return None
    return ReadQuantity(_count(Fraction(12), container=False), position + 1)


def _count(value: Fraction, noun: str = "", *, container: bool = True) -> Quantity:
    return Quantity((Measure(COUNT, value, noun),), container=container)


def _without_restated(reader: NameReader, spans: Sequence[Span]) -> list[Span]:
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


def _pack(spans: list[Span]) -> list[Span]:
    """Make of `500 ml` and `24-pack`, wherever they are in a name, 24 x 500 ml."""
    single = [span for span in spans if span.quantity.form == "single"]
    contents = [span for span in single if span.quantity.dimension in PACKABLE]
    packs = [span for span in single if span.quantity.container]
    if len(contents) != 1 or len(packs) != 1 or contents[0].quantity.packs != 1:
        return spans
    count = packs[0].quantity.measures[0].value * packs[0].quantity.packs
    merged = contents[0]._replace(quantity=replace(contents[0].quantity, packs=count))
    return [merged if span is contents[0] else span for span in spans if span is not packs[0]]


class Content(NamedTuple):
    """An amount of kilograms, litres, pieces or metres (`per`), and where it was read: `name` or an attribute."""

    per: str
    amount: Fraction
    read_in: str

    def unit_price(self, price: str) -> str:
        """Return the price of one kilogram, litre, piece or metre, of a price in decimal text: with six decimals."""
        digits, _, decimals = price.partition(".")
        millionths = unit_price_millionths(int(digits + decimals), len(decimals), self.amount)
        return f"{millionths // _MILLION}.{millionths % _MILLION:06}"


def unit_price_millionths(price: int, decimals: int, amount: Fraction) -> int:
    """Return in millionths what one unit of an amount costs, of a price without its decimal point.

    Integers are exact, so the result is rounded once, half to even.
    """
    divisor: int = 10**decimals * amount.numerator
    whole, rest = divmod(price * amount.denominator * _MILLION, divisor)
    doubled = 2 * rest - divisor
    return whole + (doubled > 0 or (doubled == 0 and whole % 2 == 1))


def contents(name: str, attributes: Mapping[str, Any]) -> list[Content]:
    """Return what one article holds, at most once for each unit of PER; nothing where a name is ambiguous."""
    plain_content = _plain_content(name)
    if plain_content is not None:
        return [plain_content]
    sources = [("name", name)]
    sources += [(f"attributes.{key}", str(attributes[key])) for key in ATTRIBUTES if attributes.get(key)]
    for read_in, text in sources:
        amounts = _of(read(text))
        if amounts:
            return [Content(per, amount, read_in) for per, amount in amounts.items()]
    return []


def _plain_content(name: str) -> Content | None:
    """Return what a plain name holds, as reading it by the whole grammar would say; None where a name is not plain."""
    match = _PLAIN.fullmatch(name)
    if match is None or len(name) > TEXT_CHARACTERS_MAX:
        return None
    words, number, spelling = _ASCII_WORD.findall(match["words"].lower()), int(match["number"]), match["unit"].lower()
    if not _BEGINNINGS.isdisjoint(words) or any(word.startswith("x") for word in words):
        return None
    meant = resolve(spelling, number, frozenset(words), words[-1])
    return _content(number, spelling) if meant is units()[spelling] else None


@lru_cache(maxsize=4_096)
def _content(number: int, spelling: str) -> Content:
    """Return what so many of a unit are; few amounts are on most packs."""
    unit = units()[spelling]
    per, size = PER[unit.dimension]
    return Content(per, unit.in_base(Fraction(number)) / size, "name")


def _of(reading: QuantityReading) -> dict[str, Fraction]:
    amounts: dict[str, set[Fraction]] = {}
    for quantity, spelled in zip(reading.quantities, reading.spelled, strict=True):
        if quantity.form != "single" or quantity.dimension not in PER:
            continue
        if quantity.dimension == COUNT and quantity.nouns[0] not in SOLD_BY_THE_PIECE:
            continue
        if quantity.dimension == "length" and not _is_sold_by_length(spelled):
            continue
        per, size = PER[quantity.dimension]
        amounts.setdefault(per, set()).add(quantity.measures[0].value * quantity.packs / size)
        if quantity.dimension != COUNT and quantity.packs > 1:
            amounts.setdefault("piece", set()).add(quantity.packs)
    return {per: contents.pop() for per, contents in amounts.items() if len(contents) == 1 and min(contents) > 0}


def _is_sold_by_length(spelled: str) -> bool:
    word = _LAST_WORD.search(spelled.lower())
    unit = units().get(word.group()) if word else None
    return unit is not None and unit.size >= _SOLD_BY_LENGTH_MM_MIN


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
    if not _may_state_some(text):
        return []
    terms: dict[str, None] = {}
    # Descriptions are read once: 65,536 of them would take hundreds of megabytes of the process that builds an index.
    reading = read(text) if len(text) <= _KEPT_CHARACTERS_MAX else read.__wrapped__(text)
    for quantity in reading.quantities:
        terms[term(quantity)] = None
        for measure in quantity.measures:
            if measure.dimension != BARE:
                terms[term(Quantity((measure,)))] = None
    return list(terms)
