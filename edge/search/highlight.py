"""Which parts of a hit match the query. Pure."""

from collections.abc import Callable
from functools import cache

from edge.search.query_words import Word
from shared.search import layout
from shared.search.model import Item, MatchedOn
from shared.search.text import indexed_words, stem
from shared.units.terms import indexed_quantities

MatchedOnRule = Callable[[Item, list[str]], list[MatchedOn]]


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

    @cache  # hits of a page share brands, types and categories, and words of their names
    def alone(word: str) -> bool:
        return word.startswith(begun) or stem(word) in single

    @cache
    def met(text: str) -> bool:
        words = indexed_words(text)
        if any(map(alone, words)):
            return True
        if quantities and any(not quantities.isdisjoint(indexed_quantities(line)) for line in text.splitlines()):
            return True
        return bool(joint) and any(terms.issubset(map(stem, words)) for terms in joint)

    def matched_on(item: Item, alt_names: list[str]) -> list[MatchedOn]:
        parts: list[tuple[MatchedOn, str]] = [
            ("brand", item.brand.name if item.brand else ""),
            ("product_type", item.product_type or ""),
            ("category", " ".join(item.category.path) if item.category else ""),
            ("name", "\n".join([item.name, *alt_names]) if alt_names else item.name),
        ]
        return [name for name, text in parts if text and met(text)]

    return matched_on
