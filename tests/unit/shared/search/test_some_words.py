"""Items with some of the words: those that are chosen without scoring all are the best by the formula of BM25."""

import math
import random
from collections.abc import Sequence

import pytest

from shared.search import layout
from shared.search.index import SearchIndex
from shared.search.model import Document, Item
from shared.search.planner import Planner
from shared.search.query_words import WEIGHTS, TermVariant, Word
from shared.text import stems
from shared.units.names import indexed_quantities
from tests.support.search_catalogue import opened
from workers.search.entries import Entry, analyze

VOCABULARY = "oak pine fir elm ash yew larch beech birch alder hazel maple rowan cedar walnut olive".split()
ITEMS = 300
DESCRIBED = {layout.WORDS: layout.DESCRIPTION, layout.QUANTITIES: layout.DESCRIBED_QUANTITIES}


def _document(number: int, rng: random.Random) -> Document:
    def text(words: list[str], most: int) -> str:
        return " ".join(rng.choices(words, k=rng.randint(1, most)))

    name = text(VOCABULARY, 4) + rng.choice(["", "", " 2 kg"])
    description = text([*VOCABULARY, "moss", "moss", "moss"], 20) if rng.random() < 0.2 else None
    return Document(Item(f"IID-{rng.randrange(10**6):06}-{number}", name, None, None, None), [], description)


DOCUMENTS = sorted((_document(number, random.Random(number)) for number in range(ITEMS)), key=lambda one: one.item.iid)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    return opened(DOCUMENTS, tmp_path_factory.mktemp("some"))


class Formula:
    """Scores documents one by one, as the decision has it."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.entries = [analyze(document) for document in documents]
        self._mean = self._mean_of([len(entry.words) for entry in self.entries])
        self._described_mean = self._mean_of([len(entry.described) for entry in self.entries])

    def ranked(self, words: Sequence[Word]) -> list[tuple[float, str]]:
        """Return the scores and IIDs of all documents that have some of the words, best first."""
        found = [(self._score(entry, words), entry.iid.decode()) for entry in self.entries]
        return sorted(((round(score, 9), iid) for score, iid in found if score), key=lambda one: (-one[0], one[1]))

    def _score(self, entry: Entry, words: Sequence[Word]) -> float:
        total = 0.0
        for word in words:
            parts = [self._part(entry, variant.field, variant) for variant in word.variants]
            described = [variant for variant in word.variants if variant.described]
            more = [self._part(entry, DESCRIBED[variant.field], variant) for variant in described]
            total += sum(part or 0.0 for part in parts)
            total += WEIGHTS.description * sum(part or 0.0 for part in more)
            total += WEIGHTS.word_met * any(part is not None for part in parts + more)
        return total

    def _part(self, entry: Entry, field: str, variant: TermVariant) -> float | None:
        """Return what a variant scores in a document; None where the document lacks a term of it."""
        times = [self._times(entry, field, term) for term in variant.terms]
        if not all(times):
            return None
        return variant.weight * sum(
            self._bm25(entry, field, term, of) for term, of in zip(variant.terms, times, strict=True)
        )

    def _times(self, entry: Entry, field: str, term: str) -> int:
        if field == layout.PREFIXES:
            return any(word.startswith(term) for word in entry.words)
        if field in (layout.WORDS, layout.DESCRIPTION):
            return stems(entry.words if field == layout.WORDS else entry.described).count(term)
        return entry.terms.count(field + term)

    def _bm25(self, entry: Entry, field: str, term: str, times: int) -> float:
        having = sum(self._times(one, field, term) > 0 for one in self.entries)
        inverse = math.log(1 + (len(self.entries) - having + 0.5) / (having + 0.5))
        if field in (layout.QUANTITIES, layout.DESCRIBED_QUANTITIES):
            return inverse
        described = field == layout.DESCRIPTION
        length, mean = (len(entry.described), self._described_mean) if described else (len(entry.words), self._mean)
        return inverse * 2.2 * times / (times + 1.2 * (0.25 + 0.75 * length / mean))

    @staticmethod
    def _mean_of(lengths: list[int]) -> float:
        return sum(lengths) / len(lengths)


def _word(index: SearchIndex, *variants: tuple[str, str, float]) -> Word:
    made = []
    for terms, field, weight in variants:
        found = [index.frequency(field, term) for term in terms.split()]
        made.append(
            TermVariant(tuple(terms.split()), field, weight, min(found), described=field in DESCRIBED and weight == 1.0)
        )
    return Word("", tuple(made))


CASES = {
    "one word": [[("oak", layout.WORDS, 1.0)]],
    "one word in names": [[("oak", layout.WORDS, 0.9)]],
    "two words": [[("oak", layout.WORDS, 1.0)], [("yew", layout.WORDS, 1.0)]],
    "a weak variant": [[("oak", layout.WORDS, 1.0), ("fir", layout.WORDS, 0.25)], [("elm", layout.WORDS, 0.5)]],
    "a beginning": [[("yew", layout.WORDS, 1.0), ("y", layout.PREFIXES, 0.2)], [("ash", layout.WORDS, 1.0)]],
    "a split word": [[("elm ash", layout.WORDS, 1.0)], [("pine", layout.WORDS, 1.0)]],
    "a quantity": [[(indexed_quantities("2 kg")[0], layout.QUANTITIES, 1.0)], [("pine", layout.WORDS, 1.0)]],
    "a word of descriptions": [[("moss", layout.WORDS, 1.0)]],
    "all words": [[(word, layout.WORDS, 1.0)] for word in VOCABULARY],
}


@pytest.mark.parametrize("case", CASES)
def test_the_best_items_with_some_of_the_words_are_those_of_the_formula(index: SearchIndex, case: str) -> None:
    words = [_word(index, *variants) for variants in CASES[case]]
    expected = Formula(DOCUMENTS).ranked(words)
    assert len(expected) > 20
    for count in (1, 7, 40, 150, ITEMS):
        found = Planner(index, WEIGHTS, []).match_any(words, count)
        ranked = [(round(score, 9), index.iid(number)) for score, number in found.ranked]
        assert (found.total, ranked) == (len(expected), expected[:count])
