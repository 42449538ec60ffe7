"""The parts of an item that contain a word of the query, as hits name them."""

from collections.abc import Callable
from functools import lru_cache

from shared.search import layout
from shared.search.model import Item, MatchedOn
from shared.search.query_words import Word
from shared.text import indexed_words, stem
from shared.units.names import indexed_quantities

# Brands, types and categories are of many hits; some thousand texts take a few megabytes.
_kept_words = lru_cache(4_096)(indexed_words)
MatchedOnRule = Callable[[Item, list[str]], list[MatchedOn]]


class _Asked(dict[str, bool]):
    """Which words of texts a query asks for, each found out once: hits share most of their words."""

    def __init__(self, stems: set[str], beginnings: tuple[str, ...]) -> None:
        self._stems, self._beginnings = stems, beginnings
        # A stem has the first letter of its word: most words of texts need not be stemmed.
        self._letters = tuple({text[:1] for text in (*stems, *beginnings)})

    def __missing__(self, word: str) -> bool:
        asked = self[word] = word.startswith(self._letters) and (
            stem(word) in self._stems or word.startswith(self._beginnings)
        )
        return asked


def iid_only(item: Item, alt_names: list[str]) -> list[MatchedOn]:
    """Report a match by IID."""
    return ["iid_prefix"]


def matcher(words: list[Word]) -> MatchedOnRule:
    """Return a function that names the parts of an item that contain a word of the query."""
    variants = [variant for word in words for variant in word.variants]
    whole = {variant.terms for variant in variants if variant.field == layout.WORDS}
    begun = tuple(variant.terms[0] for variant in variants if variant.field == layout.PREFIXES)
    single = {terms[0] for terms in whole if len(terms) == 1}
    quantities = {variant.terms[0] for variant in variants if variant.field == layout.QUANTITIES}
    joint = [set(terms) for terms in whole if len(terms) > 1]

    asked = _Asked(single, begun).__getitem__

    def met(text: str, words: list[str]) -> bool:
        if any(map(asked, words)):
            return True
        if quantities and any(not quantities.isdisjoint(indexed_quantities(line)) for line in text.splitlines()):
            return True
        return bool(joint) and any(terms.issubset(map(stem, words)) for terms in joint)

    known: dict[str, bool] = {}

    def shared(text: str) -> bool:
        found = known.get(text)
        if found is None:
            found = known[text] = met(text, _kept_words(text))
        return found

    def matched_on(item: Item, alt_names: list[str]) -> list[MatchedOn]:
        brand, kind, category = item.brand, item.product_type, item.category
        matched: list[MatchedOn] = []
        if brand is not None and shared(brand.name):
            matched.append("brand")
        if kind and shared(kind):
            matched.append("product_type")
        if category is not None and shared(" ".join(category.path)):
            matched.append("category")
        named = "\n".join([item.name, *alt_names]) if alt_names else item.name
        if met(named, indexed_words(named)):
            matched.append("name")
        return matched

    return matched_on
