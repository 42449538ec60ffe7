"""The indexed form of an item: the keys under which it is found, and the stored fields of a hit."""

from collections import Counter
from functools import lru_cache
from math import log2, nan
from typing import NamedTuple

import msgspec

from shared.search import layout
from shared.search.model import Document, Market
from shared.text import fold, indexed_words, stem
from shared.units.names import indexed_quantities

_ENCODER = msgspec.json.Encoder()


# An item that was last observed so many days before another one needs twice as many observations to be as popular.
_DAYS_PER_DOUBLING = 90
_STEPS_PER_DOUBLING = 128


class Entry(NamedTuple):
    """An item of the index: keys with frequencies, its columns, a hit's stored fields, hashes of identifiers.

    Keys are as `layout.key` makes them, before they are encoded.
    """

    iid: bytes
    times: dict[str, int]
    columns: dict[str, float]
    hit: bytes
    identifiers: list[int]


def analyze(document: Document) -> Entry:
    """Return the index's entry of a document."""
    item = document.item
    words = indexed_words("\n".join(_texts(document)))
    described = indexed_words(document.description) if document.description else []
    times = _times([layout.WORDS + stem(word) for word in words])
    if described:
        times |= _times([layout.DESCRIPTION + stem(word) for word in described])
    times |= dict.fromkeys([layout.PLAIN + word for word in words], 1)
    times |= dict.fromkeys(_filters(document) + _quantities(document), 1)
    return Entry(
        item.iid.encode(),
        times,
        {
            layout.LENGTHS: min(len(words), layout.LENGTH_MAX),
            layout.DESCRIPTION_LENGTHS: min(len(described), layout.LENGTH_MAX),
            layout.SEEN: document.market.seen,
            layout.POPULARITY: _popularity(document.market),
            layout.PRICE: _number(document.market.price),
            layout.UNIT_PRICE: _number(document.market.unit_price),
        },
        _ENCODER.encode((item, document.alt_names)),
        [layout.identifier_hash(*identifier) for identifier in document.identifiers],
    )


def _popularity(market: Market) -> int:
    """Return by what items are ordered that match equally well: observations, channels and the last day together."""
    doublings = log2(1 + market.observations) + log2(1 + len(market.channels)) + market.seen / _DAYS_PER_DOUBLING
    return min(round(doublings * _STEPS_PER_DOUBLING), layout.POPULARITY_MAX)


def _number(amount: float | None) -> float:
    return nan if amount is None else amount


def _times(keys: list[str]) -> dict[str, int]:
    times = dict.fromkeys(keys, 1)
    if len(times) < len(keys):  # few names have a word twice
        times = {key: min(count, layout.TIMES_MAX) for key, count in Counter(keys).items()}
    return times


def _texts(document: Document) -> list[str]:
    item = document.item
    texts = [item.name, *document.alt_names]
    texts += [item.brand.name] if item.brand else []
    texts += [item.product_type] if item.product_type else []
    texts += item.category.path if item.category else []
    return texts


def _quantities(document: Document) -> list[str]:
    texts = [(layout.QUANTITIES, text) for text in (document.item.name, *document.alt_names)]
    texts += [(layout.DESCRIBED_QUANTITIES, document.description)] if document.description else []
    return [field + term for field, text in texts for term in indexed_quantities(text)]


def _filters(document: Document) -> list[str]:
    item, market = document.item, document.market
    filters = [layout.CHANNEL + channel for channel in market.channels]
    filters += [layout.CURRENCY + market.currency] if market.currency else []
    filters += [layout.BRAND + item.brand.slug] if item.brand else []
    filters += [layout.PRODUCT_TYPE + fold(item.product_type)] if item.product_type else []
    return filters + _categories(item.category.code) if item.category else filters


@lru_cache(maxsize=4_096)
def _categories(code: str) -> list[str]:
    """Return the keys of a category and of every one above it, so that a category finds what is in those below it."""
    segments = code.split(".")
    return [layout.CATEGORY + ".".join(segments[:depth]) for depth in range(1, len(segments) + 1)]
