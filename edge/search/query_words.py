"""How each word of a question may be meant: as it stands, still being typed, mistyped, joined or split wrongly."""

from dataclasses import dataclass

from edge.search.index import SearchIndex
from shared.search import layout
from shared.search.text import PREFIX_CHARACTERS_MAX, asked_words, is_cjk, stems

# More words than any item's name has; a bound, because each word costs.
WORDS_MAX = 16
NEAR_WORDS_MAX = 8
# Of words equally near, the one that more items have is more likely meant, although BM25 prefers the rare.
FREQUENT_FIRST = 0.5
# Looking for near spellings costs a millisecond a word.
MISTYPED_WORDS_MAX = 4
ONE_EDIT_FROM_CHARACTERS = 4
TWO_EDITS_FROM_CHARACTERS = 8
# A word that so few items have may be a typing error that they share with the question.
RARE_DOCUMENTS = 3
SPLIT_CHARACTERS_MIN = 2


@dataclass(frozen=True, slots=True)
class Weights:
    """The few numbers that were tuned on judged queries; deploy/decisions/0005-search.md tells what each gains."""

    beginning: float = 0.2
    one_edit: float = 0.5
    description: float = 0.2
    word_met: float = 8.0


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Reading:
    """Terms that together stand for a word, the field where they are looked for, and what they count of the word.

    `described` tells whether descriptions have them too, and not so many that reading them all would take long.
    """

    terms: tuple[str, ...]
    field: str
    weight: float
    documents: int
    described: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question and every way to read it. `documents` is how many can have it at most."""

    text: str
    readings: tuple[Reading, ...]

    @property
    def documents(self) -> int:
        return sum(reading.documents for reading in self.readings)

    def whole(self) -> "Word":
        """Return the word without the readings by which it is still being typed."""
        return Word(self.text, tuple(reading for reading in self.readings if reading.field == layout.WORDS))


def read_words(index: SearchIndex, question: str, weights: Weights = WEIGHTS, *, generous: bool = False) -> list[Word]:
    """Read every word of a question; `generous` also looks for near spellings of words that are merely rare."""
    texts = asked_words(question)[:WORDS_MAX]
    words: list[Word] = []
    mistyped = 0
    for place, text in enumerate(texts):
        unfinished = place == len(texts) - 1
        readings = _known(index, text, 1.0)
        if unfinished and not is_cjk(text):
            readings += _beginning(index, text, weights.beginning)
        readings += _joined(index, texts, place)
        if sum(reading.documents for reading in readings) <= (RARE_DOCUMENTS if generous else 0):
            readings += _split(index, text)
            if mistyped < MISTYPED_WORDS_MAX:
                mistyped += 1
                readings += _near(index, text, weights.one_edit, unfinished=unfinished, generous=generous)
        words.append(Word(text, tuple(_best(readings))))
    return words


def _joined(index: SearchIndex, texts: list[str], place: int) -> list[Reading]:
    # A space too many is one edit: "soda stream" is also "sodastream", for either of its two words.
    pairs = [texts[place - 1] + texts[place]] if place else []
    pairs += [texts[place] + texts[place + 1]] if place + 1 < len(texts) else []
    return [reading for pair in pairs if not is_cjk(pair) for reading in _known(index, pair, 1.0)]


def _split(index: SearchIndex, text: str) -> list[Reading]:
    # A space too few is one edit as well.
    if is_cjk(text):
        return []
    best: Reading | None = None
    for cut in range(SPLIT_CHARACTERS_MIN, len(text) - SPLIT_CHARACTERS_MIN + 1):
        terms = tuple(stems([text[:cut], text[cut:]]))
        documents = min(index.frequency(layout.WORDS, term) for term in terms)
        if documents > (best.documents if best else 0):
            best = Reading(terms, layout.WORDS, 1.0, documents, _described(index, terms))
    return [best] if best else []


def _near(index: SearchIndex, text: str, weight: float, *, unfinished: bool, generous: bool) -> list[Reading]:
    if len(text) < ONE_EDIT_FROM_CHARACTERS or is_cjk(text) or any(character.isdigit() for character in text):
        return []
    allowed = 2 if len(text) >= TWO_EDITS_FROM_CHARACTERS else 1
    readings: list[Reading] = []
    for edits in range(1, allowed + 1):
        if generous or not readings:
            near = enumerate(index.words_near(text, edits, NEAR_WORDS_MAX))
            readings += [r for place, word in near for r in _known(index, word, weight**edits * FREQUENT_FIRST**place)]
    if unfinished and not readings:
        begun = index.words_near(text, 1, NEAR_WORDS_MAX, beginning=True)
        readings = [reading for word in begun for reading in _known(index, word, weight)]
    return readings


def _known(index: SearchIndex, text: str, weight: float) -> list[Reading]:
    term = stems([text])[0]
    documents = index.frequency(layout.WORDS, term)
    described = _described(index, (term,))
    return [Reading((term,), layout.WORDS, weight, documents, described)] if documents or described else []


def _described(index: SearchIndex, terms: tuple[str, ...]) -> bool:
    most = layout.common_from(index.items)
    return all(0 < index.frequency(layout.DESCRIPTION, term) <= most for term in terms)


def _beginning(index: SearchIndex, text: str, weight: float) -> list[Reading]:
    term = text[:PREFIX_CHARACTERS_MAX]
    documents = index.frequency(layout.PREFIXES, term)
    return [Reading((term,), layout.PREFIXES, weight, documents)] if documents else []


def _best(readings: list[Reading]) -> list[Reading]:
    best: dict[tuple[str, tuple[str, ...]], Reading] = {}
    for reading in readings:
        key = (reading.field, reading.terms)
        if key not in best or best[key].weight < reading.weight:
            best[key] = reading
    return list(best.values())
