"""The indexed form of an item: the keys under which it is found, and the stored fields of a hit. Pure."""

from collections import Counter
from typing import NamedTuple

import msgspec

from shared.search import layout
from shared.search.model import Document, Item
from shared.search.text import fold, indexed_words, stems
from shared.units.terms import indexed_quantities

_ENCODER = msgspec.json.Encoder()


class Entry(NamedTuple):
    """An item of the index: keys with frequencies, lengths in words, a hit's stored fields, hashes of identifiers."""

    iid: bytes
    times: dict[bytes, int]
    length: int
    description_length: int
    hit: bytes
    identifiers: list[int]


def analyze(document: Document) -> Entry:
    """Return the index's entry of a document."""
    item = document.item
    words = indexed_words("\n".join(_texts(document)))
    described = indexed_words(document.description) if document.description else []
    times = _times(layout.WORDS, words) | _times(layout.DESCRIPTION, described)
    times |= {layout.key(layout.PLAIN, word): 1 for word in words}
    times |= {layout.key(field, term): 1 for field, term in _filters(item) + _quantities(document)}
    return Entry(
        item.iid.encode(),
        times,
        min(len(words), layout.LENGTH_MAX),
        min(len(described), layout.LENGTH_MAX),
        _ENCODER.encode((item, document.alt_names)),
        [layout.identifier_hash(*identifier) for identifier in document.identifiers],
    )


def _times(field: str, words: list[str]) -> dict[bytes, int]:
    return {layout.key(field, stem): min(count, layout.TIMES_MAX) for stem, count in Counter(stems(words)).items()}


def _texts(document: Document) -> list[str]:
    item = document.item
    texts = [item.name, *document.alt_names]
    texts += [item.brand.name] if item.brand else []
    texts += [item.product_type] if item.product_type else []
    texts += item.category.path if item.category else []
    return texts


def _quantities(document: Document) -> list[tuple[str, str]]:
    texts = [(layout.QUANTITIES, text) for text in (document.item.name, *document.alt_names)]
    texts += [(layout.DESCRIBED_QUANTITIES, document.description)] if document.description else []
    return [(field, term) for field, text in texts for term in indexed_quantities(text)]


def _filters(item: Item) -> list[tuple[str, str]]:
    filters = [(layout.BRAND, item.brand.slug)] if item.brand else []
    filters += [(layout.PRODUCT_TYPE, fold(item.product_type))] if item.product_type else []
    if item.category:
        # Every ancestor's code, so that a category finds what is in those below it.
        segments = item.category.code.split(".")
        filters += [(layout.CATEGORY, ".".join(segments[:depth])) for depth in range(1, len(segments) + 1)]
    return filters
