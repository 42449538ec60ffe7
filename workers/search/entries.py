"""The indexed form of an item: the keys under which it is found, and the stored fields of a hit."""

from functools import lru_cache
from math import log2, nan
from typing import NamedTuple

import msgspec

from shared.search import layout
from shared.search.model import Document, Market
from shared.text import fold, indexed_words
from shared.units.names import indexed_quantities

_ENCODER = msgspec.json.Encoder()


# An item that was last observed so many days before another one needs twice as many observations to be as popular.
_DAYS_PER_DOUBLING = 90
_STEPS_PER_DOUBLING = 128


class Entry(NamedTuple):
    """An item of the index: words of its name and description, other keys, columns, stored fields, identifiers' hashes.

    `terms` are keys as `layout.key` makes them, before they are encoded; `columns` are those of `layout.COLUMNS`.
    """

    iid: bytes
    words: list[str]
    described: list[str]
    terms: list[str]
    columns: tuple[int, int, int, int, float, float]
    hit: bytes
    identifiers: list[int]


def analyze(document: Document) -> Entry:
    """Return the index's entry of a document."""
    item, market = document.item, document.market
    words = indexed_words("\n".join(_texts(document)))
    described = indexed_words(document.description) if document.description else []
    lengths = min(len(words), layout.LENGTH_MAX), min(len(described), layout.LENGTH_MAX)
    return Entry(
        item.iid.encode(),
        words,
        described,
        _filters(document) + _quantities(document),
        (*lengths, market.seen, _popularity(market), _number(market.price), _number(market.unit_price)),
        _ENCODER.encode((item, document.alt_names)),
        [layout.identifier_hash(*identifier) for identifier in document.identifiers],
    )


def _popularity(market: Market) -> int:
    """Return by what items are ordered that match equally well: observations, channels and the last day together."""
    doublings = log2(1 + market.observations) + log2(1 + len(market.channels)) + market.seen / _DAYS_PER_DOUBLING
    return min(round(doublings * _STEPS_PER_DOUBLING), layout.POPULARITY_MAX)


def _number(amount: float | None) -> float:
    return nan if amount is None else amount


def _texts(document: Document) -> list[str]:
    item = document.item
    texts = [item.name, *document.alt_names]
    texts += [item.brand.name] if item.brand else []
    texts += [item.product_type] if item.product_type else []
    texts += item.category.path if item.category else []
    return texts


def _quantities(document: Document) -> list[str]:
    names = (document.item.name, *document.alt_names)
    described = indexed_quantities(document.description) if document.description else []
    terms = [layout.QUANTITIES + term for name in names for term in indexed_quantities(name)]
    return terms + [layout.DESCRIBED_QUANTITIES + term for term in described]


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
