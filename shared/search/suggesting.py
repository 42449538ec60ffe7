"""Suggestions for what is being typed: brands and categories by their names, then items by their words."""

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property
from heapq import nlargest
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from shared.search import layout
from shared.search.index import SearchIndex
from shared.search.model import Item
from shared.search.planner import Planner
from shared.search.query_words import ONE_EDIT_FROM_CHARACTERS, WEIGHTS, Question, Word
from shared.search.rows import Numbers, Places, as_row, has, numbers_of, places
from shared.text import fold, is_unspaced

SUGGESTIONS_MAX = 20
# At least this share of the suggestions are items, where so many are found.
_ITEMS_SHARE = 2
# Items of one name and brand are suggested once, so more are read than are shown.
_READ_PER_SHOWN = 3
# So many items are looked at first where a word is common.
_POPULAR = 16_384
_WORD = re.compile(r"\w+")
_AFTER_ANY = "\U0010ffff"

# How well a name fits what was typed. What fits equally well is ordered by its number of items.
_EQUAL, _BEGINS, _LATER_WORD = 3, 2, 1

Kind = Literal["brand", "category", "item"]


class Suggestion(msgspec.Struct, frozen=True):
    """What a person may mean. `value`: a slug, a code or an IID; `context`: a category's parents, an item's brand."""

    kind: Kind
    value: str
    name: str
    context: str | None
    items: int | None


class _Named(NamedTuple):
    """A brand or category, and where a part of its folded name begins.

    `items`: its own and those of the names that begin with its own, as `Vitasoy` does of `Vitasoy San Sui`.
    """

    part: str
    whole: bool
    suggestion: Suggestion
    items: int


class Suggester:
    """Suggests of one index. Its lists are made by the first call of any method; all methods are thread-safe."""

    def __init__(self, index: SearchIndex) -> None:
        self.index = index

    def suggest(self, q: str, count: int) -> list[Suggestion]:
        """Return suggestions, best first: brands and categories whose name fits, then the most popular items.

        Where there are none, the last word is taken for the most frequent one that differs by a letter, or begins so.
        """
        suggestions = self._suggest(q, count)
        *before, last = _collapse_spaces(q).split(" ")
        if not suggestions and len(last) >= ONE_EDIT_FROM_CHARACTERS and not is_unspaced(last):
            for similar in self.index.similar_words(last, 1, 1, beginning=True):
                suggestions = self._suggest(" ".join([*before, similar]), count)
        return suggestions

    def _suggest(self, q: str, count: int) -> list[Suggestion]:
        typed = _collapse_spaces(q)
        if not typed:
            return []
        named = self._names_like(typed, count)
        items = self._items(q, count)
        return [*named[: max(count - len(items), -(-count // _ITEMS_SHARE))], *items][:count]

    def _names_like(self, typed: str, count: int) -> list[Suggestion]:
        parts, names = self._names
        first, end = bisect_left(parts, typed), bisect_left(parts, typed + _AFTER_ANY)

        def fit(named: _Named) -> tuple[int, int]:
            fits = _LATER_WORD if not named.whole else _EQUAL if named.part == typed else _BEGINS
            return fits, named.items

        best = nlargest(2 * count, names[first:end], key=fit)
        return list(dict.fromkeys(named.suggestion for named in best))[:count]

    def _items(self, q: str, count: int) -> list[Suggestion]:
        """Return the most popular items with all words, those with the last one as a whole word first."""
        words = Question(self.index, q).words(similar=False)
        found: dict[tuple[str, str | None], Suggestion] = {}
        for asked in ([*words[:-1], *(word.whole() for word in words[-1:])], words):
            for item in self._most_popular(asked, _READ_PER_SHOWN * count):
                brand = item.brand.name if item.brand else None
                found.setdefault((fold(item.name), brand), Suggestion("item", item.iid, item.name, brand, None))
            if len(found) >= count:
                break
        return list(found.values())[:count]

    def _most_popular(self, words: list[Word], count: int) -> Iterable[Item]:
        """Return the most popular items with all words. Where a word is common, popular items are looked at first."""
        matched = Planner(self.index, WEIGHTS, ()).matched(words)
        documents, at = self._popular
        row = as_row(matched)
        best = documents[:0] if row is None else documents[has(row, at).view(np.bool_)][:count]
        if len(best) < count:
            best = self._by_popularity(numbers_of(matched), count)
        return [self.index.read(number)[0] for number in best.tolist()]

    @cached_property
    def _popular(self) -> tuple[Numbers, Places]:
        bases = zip(self.index.segments, self.index.bases, strict=True)
        parts = [np.arange(base, base + segment.items, dtype=np.uint32) for segment, base in bases]
        first = self._by_popularity(np.concatenate([np.zeros(0, np.uint32), *parts]), _POPULAR)
        return first, places(first)

    def _by_popularity(self, documents: Numbers, count: int) -> Numbers:
        return self.index.best(documents, self.index.values(layout.POPULARITY, documents), count).documents

    @cached_property
    def _names(self) -> tuple[list[str], list[_Named]]:
        brands = {slug: name for segment in self.index.segments for slug, name in segment.names.brands.items()}
        paths = {code: path for segment in self.index.segments for code, path in segment.names.categories.items()}
        suggestions: list[Suggestion] = []
        for slug, name in brands.items():
            items = self.index.frequency(layout.BRAND, slug)
            suggestions += [Suggestion("brand", slug, name, None, items)] if items else []
        for code, path in paths.items():
            items = self.index.frequency(layout.CATEGORY, code)
            parents = " > ".join(path[:-1]) or None
            suggestions += [Suggestion("category", code, path[-1], parents, items)] if items else []
        named = _parts(suggestions)
        return [one.part for one in named], named


def _parts(suggestions: list[Suggestion]) -> list[_Named]:
    """Return names with each of their words as a beginning, sorted by these."""
    names = sorted((one.kind, _collapse_spaces(one.name), one.value, one) for one in suggestions)
    folded = [(kind, name) for kind, name, _, _ in names]
    named = []
    for at, (kind, name, _, suggestion) in enumerate(names):
        longer = range(bisect_left(folded, (kind, f"{name} ")), bisect_left(folded, (kind, f"{name} {_AFTER_ANY}")))
        items = sum(names[other][-1].items or 0 for other in (at, *longer))
        starts = [0, *(match.end() for match in re.finditer(" ", name))] if name else []
        named += [_Named(name[start:], not start, suggestion, items) for start in starts]
    return sorted(named, key=lambda one: (one.part, one.suggestion.kind, one.suggestion.value))


def _collapse_spaces(text: str) -> str:
    return " ".join(_WORD.findall(fold(text)))
