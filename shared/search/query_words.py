"""The variants of each word of a query: exact, as a prefix, mistyped, joined or split."""

from itertools import pairwise

import msgspec

from shared.search import layout
from shared.search.index import SearchIndex
from shared.text import is_unspaced, query_words, stem
from shared.units.names import QuantityReading, read, term

# More words than any item's name has; bounded because each word costs time.
WORDS_MAX = 16
NEAR_WORDS_MAX = 8
# Of equally similar words the more frequent one is more likely meant, although BM25 prefers rare words.
FREQUENT_FIRST = 0.5
# A search for similar spellings costs a millisecond per word.
MISTYPED_WORDS_MAX = 4
ONE_EDIT_FROM_CHARACTERS = 4
TWO_EDITS_FROM_CHARACTERS = 8
# A word in so few items may be a typing error that they share with the query.
RARE_DOCUMENTS = 3
SPLIT_CHARACTERS_MIN = 2


class Weights(msgspec.Struct, frozen=True):
    """The weights tuned on judged queries; docs/decisions/0005-search.md shows the gain of each."""

    beginning: float = 0.2
    one_edit: float = 0.5
    description: float = 0.2
    quantity: float = 0.6
    word_met: float = 8.0


WEIGHTS = Weights()


class TermVariant(msgspec.Struct, frozen=True):
    """Terms that together stand for a word, their field, and their share of the word's weight.

    `described` is true if descriptions contain them too, in a number small enough to read them all.
    """

    terms: tuple[str, ...]
    field: str
    weight: float
    documents: int
    described: bool = False


class Word(msgspec.Struct, frozen=True):
    """A word of the query with its variants. `documents` is an upper bound of the items that contain it."""

    text: str
    variants: tuple[TermVariant, ...]

    @property
    def documents(self) -> int:
        return sum([variant.documents for variant in self.variants])

    @property
    def described(self) -> bool:
        """Whether descriptions that are read for it contain the word too."""
        return any(variant.described for variant in self.variants)

    def whole(self) -> "Word":
        """Return the word without its prefix variant."""
        return Word(self.text, tuple([variant for variant in self.variants if variant.field != layout.PREFIXES]))


class Question:
    """The words of a query as typed, its quantities first, looked up in an index once."""

    def __init__(self, index: SearchIndex, text: str, weights: Weights = WEIGHTS, *, verbatim: bool = False) -> None:
        """With `verbatim`, quantities are words like others."""
        self._index = index
        self._weights = weights
        reading = QuantityReading((), (), text, ends=False) if verbatim else read(text)
        self._quantities = _quantities(index, reading, weights)[:WORDS_MAX]
        texts = query_words(reading.rest)[: WORDS_MAX - len(self._quantities)]
        self._unfinished = bool(texts) and not reading.ends
        self._typed = [(text, _exact(index, text, 1.0)) for text in texts]
        # A space too many is one edit: "soda stream" is also "sodastream", for either of its two words.
        for (first, of_first), (second, of_second) in pairwise(self._typed):
            joined = _join(index, first, second)
            of_first.extend(joined)
            of_second.extend(joined)
        begun = _begun(index, texts[-1], weights) if self._unfinished else []
        # More items have a word that begins as the last one than have that word itself: else it finds no others.
        self.begins_others = bool(begun) and begun[0].documents > index.frequency(layout.PLAIN, texts[-1])
        if begun:
            self._typed[-1][1].extend(begun)

    def words(self, *, fuzzy: bool = False, similar: bool = True) -> list[Word]:
        """Return the words with similar spellings of those that no item has; `fuzzy`: also of merely rare ones.

        Without `similar` the words are taken as they are typed.
        """
        words = list(self._quantities)
        mistyped = 0
        for position, (text, typed) in enumerate(self._typed, 1):
            variants = typed
            if similar and sum([variant.documents for variant in typed]) <= (RARE_DOCUMENTS if fuzzy else 0):
                variants = typed + _split(self._index, text)
                if mistyped < MISTYPED_WORDS_MAX:
                    mistyped += 1
                    unfinished = self._unfinished and position == len(self._typed)
                    variants += _similar(self._index, text, self._weights.one_edit, unfinished=unfinished, fuzzy=fuzzy)
            words.append(Word(text, tuple(_best(variants))))
        return words


def _quantities(index: SearchIndex, reading: QuantityReading, weights: Weights) -> list[Word]:
    """Return a word for each quantity of a query: the same for all its spellings where an item has it.

    A quantity that no item has may be one that is still being typed, as `500 m` of 500 ml: then it is found as written.
    """
    words = []
    for quantity, spelled in zip(reading.quantities, reading.spelled, strict=True):
        text = term(quantity)
        documents = index.frequency(layout.QUANTITIES, text)
        described = _in_description(index, (text,), layout.QUANTITIES)
        variants = [TermVariant((text,), layout.QUANTITIES, weights.quantity, documents, described)]
        if not documents and not described:
            written = query_words("".join(spelled.split()))
            variants = [one for word in written for one in (*_exact(index, word, 1.0), *_begun(index, word, weights))]
        words.append(Word(text, tuple(variants)))
    return words


def _begun(index: SearchIndex, text: str, weights: Weights) -> list[TermVariant]:
    """Return the words that begin so, as a variant; none of a script without spaces."""
    documents = 0 if is_unspaced(text) else index.frequency(layout.PREFIXES, text)
    return [TermVariant((text,), layout.PREFIXES, weights.beginning, documents)] if documents else []


def _join(index: SearchIndex, first: str, second: str) -> list[TermVariant]:
    joined = first + second
    # "vitamine" has the stem of "vitamin", which would then count as the word "e" too.
    same = stem(joined) in (stem(first), stem(second))
    return [] if same or is_unspaced(joined) else _exact(index, joined, 1.0)


def _split(index: SearchIndex, text: str) -> list[TermVariant]:
    # A space too few is one edit as well.
    if is_unspaced(text):
        return []
    best: TermVariant | None = None
    # A single digit is a word of its own: "7up" is also "7 up".
    first = 1 if text[0].isdigit() and text[1:2].isalpha() else SPLIT_CHARACTERS_MIN
    for cut in range(first, len(text) - SPLIT_CHARACTERS_MIN + 1):
        terms = (stem(text[:cut]), stem(text[cut:]))
        # Most cuts leave a beginning that is no word: then the rest need not be looked up.
        documents = index.frequency(layout.WORDS, terms[0])
        documents = documents and min(documents, index.frequency(layout.WORDS, terms[1]))
        if documents > (best.documents if best else 0):
            best = TermVariant(terms, layout.WORDS, 1.0, documents, _in_description(index, terms))
    return [best] if best else []


def _similar(index: SearchIndex, text: str, weight: float, *, unfinished: bool, fuzzy: bool) -> list[TermVariant]:
    if len(text) < ONE_EDIT_FROM_CHARACTERS or is_unspaced(text) or any(character.isdigit() for character in text):
        return []
    allowed = 2 if len(text) >= TWO_EDITS_FROM_CHARACTERS else 1
    variants: list[TermVariant] = []
    for edits in range(1, allowed + 1):
        if fuzzy or not variants:
            near = enumerate(index.similar_words(text, edits, NEAR_WORDS_MAX))
            variants += [r for rank, word in near for r in _exact(index, word, weight**edits * FREQUENT_FIRST**rank)]
    if unfinished and not variants:
        begun = index.similar_words(text, 1, NEAR_WORDS_MAX, beginning=True)
        variants = [variant for word in begun for variant in _exact(index, word, weight)]
    return variants


def _exact(index: SearchIndex, text: str, weight: float) -> list[TermVariant]:
    term = stem(text)
    documents = index.frequency(layout.WORDS, term)
    described = _in_description(index, (term,))
    return [TermVariant((term,), layout.WORDS, weight, documents, described)] if documents or described else []


def description_field(field: str) -> str:
    """Return the field of descriptions that holds the same kind of terms as a field of names."""
    return layout.DESCRIBED_QUANTITIES if field == layout.QUANTITIES else layout.DESCRIPTION


def _in_description(index: SearchIndex, terms: tuple[str, ...], field: str = layout.WORDS) -> bool:
    described = description_field(field)
    return all(0 < index.frequency(described, term) <= index.common_from for term in terms)


def _best(variants: list[TermVariant]) -> list[TermVariant]:
    if len(variants) < 2:
        return variants
    best: dict[tuple[str, tuple[str, ...]], TermVariant] = {}
    for variant in variants:
        key = (variant.field, variant.terms)
        if key not in best or best[key].weight < variant.weight:
            best[key] = variant
    return list(best.values())
