"""The input of the index and the results of a search, as values."""

from typing import Literal
from zlib import crc32

import msgspec

Sort = Literal["relevance", "price", "unit_price", "-seen"]
Facet = Literal["brand", "category", "channel"]
MatchedOn = Literal["brand", "product_type", "category", "name", "iid_prefix", "identifier"]


UNIT_PRICED = ("kg", "l")
"""The units of content whose prices are compared."""


class Brand(msgspec.Struct, frozen=True):
    """A brand as a hit shows it."""

    id: int
    name: str
    slug: str


class Category(msgspec.Struct, frozen=True):
    """A category as a hit shows it; the code is the path's slugs joined by dots."""

    code: str
    path: list[str]


class Item(msgspec.Struct, frozen=True):
    """The fields of an item that a hit shows; stored in the index as it is, so that a search reads nothing else."""

    iid: str
    name: str
    brand: Brand | None
    product_type: str | None
    category: Category | None


class Market(msgspec.Struct, frozen=True):
    """What was observed of an item: how often, in which channels, and when last, in days since 1970-01-01.

    `price` is the median of the record's price band in minor units of `currency`; `unit_price` is that for a kilogram
    or litre.
    """

    observations: int = 0
    channels: list[str] = []
    seen: int = 0
    currency: str | None = None
    price: float | None = None
    unit_price: float | None = None


class Document(msgspec.Struct, frozen=True):
    """An item with what it is found by but which a hit does not show."""

    item: Item
    alt_names: list[str] = []
    description: str | None = None
    identifiers: list[tuple[str, str]] = []
    """Schemes and values, in the form in which they are compared: its own, and those of items merged into it."""
    market: Market = Market()


class Position(msgspec.Struct, frozen=True, array_like=True):
    """Where a page ended: the order's key of its last hit, and how many hits that were of which data_version.

    `identified` is a checksum of the items of identifiers that came first; pages continue only behind the same ones.
    """

    score: float
    iid: str
    rank: int
    data_version: int
    identified: int = 0


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A question of a caller. `brand` is a slug, `category` a code that matches those below it too.

    Prices are in minor units of `currency`, which they and an order by price need; `seen_since`: days since 1970-01-01.
    `first` are the IIDs of items that an identifier in `q` leads to, in order; they come before all others.
    """

    q: str
    limit: int = 20
    brand: str | None = None
    category: str | None = None
    product_type: str | None = None
    channel: str | None = None
    currency: str | None = None
    price_min: float | None = None
    price_max: float | None = None
    seen_since: int | None = None
    sort: Sort = "relevance"
    facets: tuple[Facet, ...] = ()
    after: Position | None = None
    first: tuple[str, ...] = ()
    verbatim: bool = False
    """Whether quantities are words like others."""

    @property
    def identified(self) -> int:
        """The checksum of `first`."""
        return crc32(",".join(self.first).encode())


class Hit(msgspec.Struct, frozen=True):
    """An item that was found. `score` is 0–1; the order is score, then IID, so those with all words come first."""

    item: Item
    score: float
    matched_on: list[MatchedOn]
    all_words: bool


class FacetCount(msgspec.Struct, frozen=True):
    """How many hits have a value, which is what a filter takes."""

    value: str
    name: str
    count: int


class Page(msgspec.Struct, frozen=True):
    """A page of hits. `exact` says whether there are `total` hits or at least so many.

    `all_words` of them have every word of the question, the last one perhaps only begun. A page that is not `whole`
    was made while a store was unavailable that might have known more hits. `facets` count hits with all words.
    `unpriced`: of how many items with all words no price in the currency is known, where one was asked for.
    """

    hits: list[Hit]
    total: int
    all_words: int
    exact: bool
    next: Position | None
    data_version: int
    whole: bool = True
    facets: dict[Facet, list[FacetCount]] = {}
    unpriced: int | None = None
