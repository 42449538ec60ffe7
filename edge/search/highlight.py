"""Which parts of a hit match the query. Pure."""

from collections.abc import Callable
from functools import cache, lru_cache

from edge.search.query_words import Word
from shared.search import layout
from shared.search.model import Item, MatchedOn
from shared.search.text import indexed_words, stem
from shared.units.terms import indexed_quantities

# Brands, types and categories are of many hits; some thousand texts take a few megabytes.
_kept_words = lru_cache(4_096)(indexed_words)
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

    def met(text: str, words: list[str]) -> bool:
        # Both stop at the first word that matches.
        if not single.isdisjoint(map(stem, words)) or (begun and any(word.startswith(begun) for word in words)):
            return True
        if quantities and any(not quantities.isdisjoint(indexed_quantities(line)) for line in text.splitlines()):
            return True
        return bool(joint) and any(terms.issubset(map(stem, words)) for terms in joint)

    @cache
    def shared(text: str) -> bool:
        return met(text, _kept_words(text))

    def matched_on(item: Item, alt_names: list[str]) -> list[MatchedOn]:
        parts: list[tuple[MatchedOn, str]] = [
            ("brand", item.brand.name if item.brand else ""),
            ("product_type", item.product_type or ""),
            ("category", " ".join(item.category.path) if item.category else ""),
        ]
        named = "\n".join([item.name, *alt_names]) if alt_names else item.name
        matched = [part for part, text in parts if text and shared(text)]
        return [*matched, "name"] if met(named, indexed_words(named)) else matched

    return matched_on
