"""The index of the documentation's sections: a few hundred texts, in memory, found by words or their beginnings."""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise, takewhile
from typing import NamedTuple

from shared.text import indexed_words, query_words, stem

_WORDS_MAX = 12
# A word of a heading says what the section is about; one of the page's title what all of its sections are about.
_OF_TITLE, _OF_PAGE, _OF_TEXT = 8.0, 2.0, 1.0
_TEXT_COUNTED_MAX = 3
# A word that is only begun may become another one.
_BEGUN = 0.5
_EXCERPT_CHARACTERS = 200


class Section(NamedTuple):
    """A part of the documentation that has an address: its heading, the page that it is on, and its words.

    A query that is one of the `names` finds it before all others.
    """

    title: str
    page: str
    address: str
    text: str
    names: tuple[str, ...] = ()


class FoundSection(NamedTuple):
    """A section that was found, with the part of its text where it has most of the words."""

    section: Section
    excerpt: str


class SectionIndex:
    """Sections by the words in them; each word is stored as written and by its stem."""

    def __init__(self, sections: Iterable[Section]) -> None:
        self._sections = list(sections)
        self._named: dict[str, list[int]] = defaultdict(list)
        self._weights: dict[str, dict[int, float]] = defaultdict(dict)
        for number, section in enumerate(self._sections):
            for name in section.names:
                self._named[name.lower()].append(number)
            for word, weight in _weights(section).items():
                self._weights[word][number] = weight
        self._words = sorted(self._weights)

    def find(self, query: str, limit: int) -> list[FoundSection]:
        """Return the sections with most of the words, and among them the best ones first."""
        words = query_words(query)[:_WORDS_MAX]
        matched: Counter[int] = Counter()
        scores: dict[int, float] = defaultdict(float)
        for at, word in enumerate(words):
            found = self._of_word(word)
            # "back up" is written as one word, too.
            for pair in pairwise(words[max(at - 1, 0) : at + 2]):
                found |= {n: max(weight, found.get(n, 0.0)) for n, weight in self._of_word("".join(pair)).items()}
            rarity = math.log(1 + len(self._sections) / max(len(found), 1))
            for number, weight in found.items():
                matched[number] += 1
                scores[number] += weight * rarity
        most = max(matched.values(), default=0)
        named = self._named.get(query.strip().lower(), [])
        ranked = sorted((n for n in matched if matched[n] == most and n not in named), key=lambda n: (-scores[n], n))
        stems = {stem(word) for word in words}
        return [
            FoundSection(self._sections[n], _excerpt(self._sections[n].text, stems)) for n in [*named, *ranked][:limit]
        ]

    def _of_word(self, word: str) -> dict[int, float]:
        """Return the weight of a word in each section that has it, or another word that begins so."""
        found = dict(self._weights.get(stem(word), {}))
        if len(word) == 1:
            return found  # a letter begins a tenth of all words
        for longer in takewhile(lambda one: one.startswith(word), self._from(word)):
            for number, weight in self._weights[longer].items():
                found[number] = max(found.get(number, 0.0), weight * (1.0 if longer == word else _BEGUN))
        return found

    def _from(self, word: str) -> Iterator[str]:
        return iter(self._words[bisect_left(self._words, word) :])


def _weights(section: Section) -> dict[str, float]:
    weights: dict[str, float] = defaultdict(float)
    parts = ((section.title, _OF_TITLE, 1), (section.page, _OF_PAGE, 1), (section.text, _OF_TEXT, _TEXT_COUNTED_MAX))
    for text, weight, counted_max in parts:
        written = indexed_words(text)
        for word, count in Counter([*written, *map(stem, written)]).items():
            weights[word] += weight * min(count, counted_max)
    return weights


def _excerpt(text: str, stems: set[str]) -> str:
    """Return the first of the parts of a text, cut at words, that has most of the stems."""
    parts, part = [], ""
    for word in text.split():
        if part and len(part) + 1 + len(word) > _EXCERPT_CHARACTERS:
            parts.append(part)
            part = ""
        part = f"{part} {word}".lstrip()[:_EXCERPT_CHARACTERS]
    parts.append(part)
    best = max(parts, key=lambda one: len(stems.intersection(map(stem, indexed_words(one)))))
    return f"{'… ' if best is not parts[0] else ''}{best}{' …' if best is not parts[-1] else ''}"
