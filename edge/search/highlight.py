"""What of a hit met the question. Pure."""

from collections.abc import Callable

from edge.search.query_words import Word
from shared.search import layout
from shared.search.model import Item, MatchedOn
from shared.search.text import indexed_words, stems

Matched = Callable[[Item, list[str]], list[MatchedOn]]


def iid_only(item: Item, alt_names: list[str]) -> list[MatchedOn]:
    """Say that an item was found by its IID."""
    return ["iid_prefix"]


def matcher(words: list[Word]) -> Matched:
    """Return a function that names the parts of an item in which a word of the question is met."""
    readings = [reading for word in words for reading in word.readings]
    whole = {reading.terms for reading in readings if reading.field == layout.WORDS}
    begun = tuple(reading.terms[0] for reading in readings if reading.field == layout.PREFIXES)
    single = {terms[0] for terms in whole if len(terms) == 1}
    joint = [set(terms) for terms in whole if len(terms) > 1]

    def met(text: str) -> bool:
        found = indexed_words(text)
        if begun and any(word.startswith(begun) for word in found):
            return True
        stemmed = set(stems(found))
        return not single.isdisjoint(stemmed) or any(terms <= stemmed for terms in joint)

    def matched_on(item: Item, alt_names: list[str]) -> list[MatchedOn]:
        parts: list[tuple[MatchedOn, str]] = [
            ("brand", item.brand.name if item.brand else ""),
            ("product_type", item.product_type or ""),
            ("category", " ".join(item.category.path) if item.category else ""),
            ("name", "\n".join([item.name, *alt_names])),
        ]
        return [name for name, text in parts if text and met(text)]

    return matched_on
